package sigma

import (
	"errors"
	"fmt"

	"golang.org/x/crypto/blake2b"
)

// Known gives access to the outputs of a transaction in a database.
type Known struct {
	// TreeSize returns the length of the tree of an output, which begins rest, or -1 if it is unknown: a tree does not
	// state its length.
	TreeSize func(index int, rest []byte) int
	// BoxID returns the id of an output; ok is false if it is unknown. It is called for outputs with registers of an
	// unknown form.
	BoxID func(index int) (id ID, ok bool)
}

// ErrUnreadable is returned for a transaction whose unreadable variables are too many to find their ends.
var ErrUnreadable = errors.New("the ends of its variables were not found")

// ParseTx parses a transaction that [Encoder.AppendTx] wrote with proofs. If the length of a tree is unknown, the
// transaction has no outputs.
//
// If registers cannot be read, their end is found by the id of their box: the first unreadable one has the bytes of all
// that follow, and those are empty. So it is with the variables of an input, whose end is where the rest of the
// transaction can be read and has outputs with their ids. If an id is unknown, the transaction has no outputs.
func ParseTx(b []byte, known Known) (*Tx, error) {
	p := txParser{known: known, attempts: maxAttempts}
	r := reader{b: b}
	t := &Tx{}
	n := r.length(uint64(len(b)), "number of inputs")
	if p.parse(&r, t, n); r.err != nil {
		if p.attempts == 0 {
			return nil, fmt.Errorf("transaction: %w, after %d attempts: %w", ErrUnreadable, maxAttempts, r.err)
		}
		return nil, fmt.Errorf("transaction: %w", r.err)
	}
	return t, nil
}

// maxAttempts bounds the ends of variables that are tried in a transaction.
const maxAttempts = 1 << 13

type txParser struct {
	known    Known
	attempts int
	verify   bool // the ids of outputs must be known: variables were not read
}

// parse reads a transaction after its first inputs, which t has, of n.
func (p *txParser) parse(r *reader, t *Tx, n int) {
	for len(t.Inputs) < n && r.err == nil {
		var in Input
		r.copy(in.Box[:], "box id")
		in.Proof = r.take(r.length(uint64(len(r.b)), "length of a proof"), "proof")
		for left := int(r.byte("number of variables")); left > 0 && r.err == nil; left-- {
			v := Variable{ID: r.byte("number of a variable")}
			start := *r
			if v.Value = r.value(); r.err != nil && start.err == nil {
				p.skipVariables(r, start, t, n, in, v, left)
				return
			}
			in.Extension = append(in.Extension, v)
		}
		t.Inputs = append(t.Inputs, in)
	}
	inputs := r.at
	t.DataInputs = r.ids("data input")
	tokens := r.ids("token")
	again := *r
	id := func() ID { return blake2b.Sum256(append(t.appendInputs(nil, false), r.b[inputs:]...)) }
	if !p.verify {
		if r.outputs(t, tokens, p.known, nil); r.err == nil || again.err != nil {
			return
		}
	} else if r.err != nil {
		return
	}
	failed, tx := r.err, id()
	if *r = again; !r.outputs(t, tokens, p.known, &tx) {
		if p.verify {
			r.fail("unknown ids of outputs")
		}
		return
	}
	if r.err != nil && failed != nil {
		r.err = failed
	}
}

// skipVariables tries each end of the last left variables of an input, which begin with v and bytes that cannot be
// read.
func (p *txParser) skipVariables(r *reader, start reader, t *Tx, n int, in Input, v Variable, left int) {
	verify := p.verify
	defer func() { p.verify = verify }()
	p.verify = true
	read := t.Inputs
	for end := start.at + 1; end <= len(r.b) && p.attempts > 0; end++ {
		p.attempts--
		v.Value = r.b[start.at:end:end]
		whole := in
		whole.Extension = append(append(in.Extension[:len(in.Extension):len(in.Extension)], v), make([]Variable, left-1)...)
		rest := start
		rest.at = end
		next := &Tx{Inputs: append(read[:len(read):len(read)], whole)}
		if p.parse(&rest, next, n); rest.err == nil && len(next.Outputs) > 0 {
			*t, *r = *next, rest
			return
		}
	}
}

// outputs reads the outputs up to the end. With the id of the transaction it finds the end of registers by the ids of
// their boxes, and returns false if one of these is unknown.
func (r *reader) outputs(t *Tx, tokens []ID, known Known, tx *ID) bool {
	t.Outputs = nil
	for i := range r.length(maxOutputs, "number of outputs") {
		box := Box{Value: r.uint("value of a box")}
		if r.err != nil {
			break
		}
		size := known.TreeSize(i, r.b[r.at:])
		if size < 0 {
			t.Outputs, r.at = nil, len(r.b)
			return true
		}
		box.Tree = r.take(size, "ErgoTree")
		n := r.rest(&box, tokens)
		if tx == nil {
			for ; n > 0 && r.err == nil; n-- {
				box.Registers = append(box.Registers, r.value())
			}
		} else if id, ok := known.BoxID(i); ok {
			r.registersOf(&box, n, tx, i, id)
		} else {
			t.Outputs = nil
			return false
		}
		t.Outputs = append(t.Outputs, box)
	}
	if r.err == nil && r.at < len(r.b) {
		r.fail("%d bytes follow the transaction", len(r.b)-r.at)
	}
	return true
}

const (
	maxOutputs   = 1 << 15
	maxRegisters = 6
)

// ids reads a list of ids.
func (r *reader) ids(what string) (all []ID) {
	for n := r.length(uint64(len(r.b)), "number of "+what+"s"); n > 0 && r.err == nil; n-- {
		var id ID
		r.copy(id[:], what)
		all = append(all, id)
	}
	return all
}

// value reads the serialized value of a register or a variable.
func (r *reader) value() []byte {
	start := r.at
	if r.skipEvaluated(); r.err != nil {
		return nil
	}
	return r.b[start:r.at:r.at]
}

// rest reads a box after its tree, up to the number of its registers.
func (r *reader) rest(b *Box, tokens []ID) (registers int) {
	height := r.uint("creation height")
	if height > 1<<32-1 {
		r.fail("creation height %d", height)
	}
	b.Height = uint32(height)
	for n := r.byte("number of tokens"); n > 0 && r.err == nil; n-- {
		i := r.uint("position of a token")
		if i >= uint64(len(tokens)) {
			r.fail("token %d of %d", i, len(tokens))
			return 0
		}
		b.Tokens = append(b.Tokens, Token{tokens[i], r.uint("amount of a token")})
	}
	n := r.byte("number of registers")
	if n > maxRegisters {
		r.fail("%d registers", n)
		return 0
	}
	return int(n)
}

// maxUnread bounds the bytes of registers that cannot be read. A box has at most 4,096.
const maxUnread = 1 << 13

// registersOf reads n registers of the box with an id at an index of a transaction. It finds their end by the id.
func (r *reader) registersOf(b *Box, n int, tx *ID, index int, id ID) {
	if n == 0 {
		if r.err == nil && b.ID(tx, index) != id {
			r.fail("box %d does not have the id %x", index, id)
		}
		return
	}
	b.Registers = make([][]byte, n)
	size := n
	for ; ; size++ {
		if size > min(maxUnread, len(r.b)-r.at) {
			r.fail("no registers with which box %d has the id %x", index, id)
			return
		}
		if b.Registers[0] = r.b[r.at : r.at+size]; b.ID(tx, index) == id {
			break
		}
	}
	values := reader{b: r.take(size, "registers")}
	for i := range n {
		start := values.at
		if i < n-1 {
			if value := values.value(); values.err == nil {
				b.Registers[i] = value
				continue
			}
		}
		b.Registers[i] = values.b[start:]
		return
	}
}
