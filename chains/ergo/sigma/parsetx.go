package sigma

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/crypto/blake2b"
)

// Known gives access to the parts of a transaction that are in a database.
type Known struct {
	// TreeSize returns the length of the tree of an output, which begins rest, or -1 if it is unknown: a tree does not
	// state its length.
	TreeSize func(index int, rest []byte) int
	// BoxID returns the id of an output; ok is false if it is unknown. It is called for outputs with registers of an
	// unknown form.
	BoxID func(index int) (id ID, ok bool)
	// InputID returns the id of the box that an input spends; ok is false if it is unknown. It is called for inputs after
	// one with variables of an unknown form.
	InputID func(index int) (id ID, ok bool)
	// BoxExists reports whether a box with the id has been created. It is called for data inputs after variables of an
	// unknown form, whose bytes can look like data inputs. It is optional.
	BoxExists func(id ID) bool
}

// ErrUnreadable is returned with the part of a transaction that can be read if the ends of variables were not found.
var ErrUnreadable = errors.New("the ends of its variables were not found")

// ParseTx parses a transaction that [Encoder.AppendTx] wrote with proofs. If the length of a tree is unknown, the
// transaction has no outputs.
//
// If registers cannot be read, their end is found by the id of their box: the first unreadable one has the bytes of all
// that follow, and those are empty. If that id is unknown, the transaction has no outputs.
//
// So it is with the variables of an input. They end where the next input has the id of its box. After those of the last
// input the rest of the transaction can be read, and has outputs with their ids. If the id of the next input is unknown,
// the transaction has the inputs up to this one, and their last variable has the bytes of the other inputs.
// With [ErrUnreadable] it has no outputs, and the variable has all bytes up to the end.
func ParseTx(b []byte, known Known) (*Tx, error) {
	p := txParser{reader: reader{b: b}, known: known}
	return p.tx()
}

type txParser struct {
	reader
	known  Known
	verify bool  // variables could not be read: the outputs must have their ids
	tried  []int // by input: all positions from here on were tried as its beginning
}

func (p *txParser) tx() (*Tx, error) {
	t := &Tx{}
	n := p.length(uint64(len(p.b)), "number of inputs")
	if p.inputs(t, n); p.err == nil {
		return t, nil
	}
	err := fmt.Errorf("transaction: %w", p.err)
	if errors.Is(err, ErrUnreadable) {
		return t, err
	}
	return nil, err
}

// inputs reads the next inputs of n, in addition to those of t, and what follows them.
func (p *txParser) inputs(t *Tx, n int) {
	for len(t.Inputs) < n && p.err == nil {
		var in Input
		p.copy(in.Box[:], "box id")
		in.Proof = p.take(p.length(uint64(len(p.b)), "length of a proof"), "proof")
		for left := int(p.byte("number of variables")); left > 0 && p.err == nil; left-- {
			v := Variable{ID: p.byte("number of a variable")}
			start, before := p.at, p.err
			if v.Value = p.value(); p.err != nil && before == nil {
				in.Extension = append(append(in.Extension, v), make([]Variable, left-1)...)
				t.Inputs = append(t.Inputs, in)
				p.skipVariables(t, n, &in.Extension[len(in.Extension)-left].Value, start)
				return
			}
			in.Extension = append(in.Extension, v)
		}
		t.Inputs = append(t.Inputs, in)
	}
	if p.err == nil {
		p.rest(t)
	}
}

// rest reads a transaction after its inputs.
func (p *txParser) rest(t *Tx) {
	inputs := p.at
	t.DataInputs = p.ids("data input")
	tokens := p.ids("token")
	if p.err != nil {
		return
	}
	at := p.at
	var failed error
	if !p.verify {
		if p.outputs(t, tokens, nil); p.err == nil {
			return
		}
		failed = p.err
		p.moveTo(at)
	}
	tx := p.unsigned(t, inputs)
	if known := p.outputs(t, tokens, &tx); !known && p.verify {
		p.fail("unknown ids of outputs")
	}
	if p.err != nil && failed != nil {
		p.err = failed
	}
}

// unsigned returns the id of a transaction whose inputs end at a position.
func (p *txParser) unsigned(t *Tx, end int) ID {
	p.spend(len(p.b))
	return blake2b.Sum256(append(t.appendInputs(nil, false), p.b[end:]...))
}

// moveTo continues at a position, also after a failure.
func (p *txParser) moveTo(at int) { p.at, p.err, p.level = at, nil, 0 }

// spend counts the hash of a number of bytes as steps.
func (p *txParser) spend(hashed int) { p.steps += 1 + hashed/len(ID{}) }

// skipVariables finds the end of the last variables of the last input of t. Their bytes begin at start and cannot be
// read; value is the value of the first one.
func (p *txParser) skipVariables(t *Tx, n int, value *[]byte, start int) {
	first := !p.verify
	p.verify = true
	next := len(t.Inputs)
	found := false
	if id, known := p.inputID(next, n); known {
		found = p.skipToInput(t, n, value, start, id)
	} else {
		found = p.skipToRest(t, n, value, start)
	}
	if !found && first {
		t.Inputs, *value = t.Inputs[:next], p.b[start:]
		t.DataInputs, t.Outputs = nil, nil
		p.err = ErrUnreadable
	}
}

// exist reports whether all boxes exist.
func (p *txParser) exist(boxes []ID) bool {
	return p.known.BoxExists == nil ||
		!slices.ContainsFunc(boxes, func(id ID) bool { p.spend(0); return !p.known.BoxExists(id) })
}

// lists reports whether tokens is the list of a transaction: the distinct tokens of its outputs by their first use.
func (t *Tx) lists(tokens []ID) bool {
	var e Encoder
	e.list(t.Outputs)
	return slices.Equal(e.tokens, tokens)
}

func (p *txParser) inputID(i, n int) (id ID, known bool) {
	if i >= n || p.known.InputID == nil {
		return ID{}, false
	}
	return p.known.InputID(i)
}

// skipToInput tries the positions of the next input, whose box has the id.
func (p *txParser) skipToInput(t *Tx, n int, value *[]byte, start int, id ID) bool {
	next := len(t.Inputs)
	for len(p.tried) <= next {
		p.tried = append(p.tried, len(p.b))
	}
	from, end := start+1, p.tried[next]
	p.tried[next] = min(end, from)
	for at := from; at < end && p.within(); at++ {
		i := bytes.Index(p.b[at:], id[:])
		if i < 0 {
			break
		}
		at += i
		*value = p.b[start:at:at]
		p.spend(0)
		p.moveTo(at)
		if p.inputs(t, n); p.err == nil {
			return true
		}
		t.Inputs = t.Inputs[:next]
	}
	p.fail("unknown end of variables")
	return false
}

// skipToRest tries the positions at which the rest of the transaction can begin. Bytes of variables before it can look
// like data inputs, and data inputs like none: the first position with existing boxes is right. If these are unknown, it
// takes the last position. If t lacks inputs, their bytes are skipped too, and the id of the transaction is unknown.
func (p *txParser) skipToRest(t *Tx, n int, value *[]byte, start int) bool {
	var tx *ID
	if len(t.Inputs) == n {
		*value = p.b[start:]
		id := p.unsigned(t, len(p.b))
		tx = &id
	}
	for i := 1; start+i < len(p.b) && p.within(); i++ {
		at := start + i
		if p.known.BoxExists == nil {
			at = len(p.b) - i
		}
		if !p.startsRest(p.b[at:]) {
			continue
		}
		p.spend(0)
		p.moveTo(at)
		t.DataInputs = p.ids("data input")
		tokens := p.ids("token")
		if p.outputs(t, tokens, tx); p.err == nil && len(t.Outputs) > 0 && t.lists(tokens) && p.exist(t.DataInputs) {
			*value = p.b[start:at:at]
			return true
		}
	}
	p.fail("unknown end of variables")
	return false
}

// within reports whether more attempts are allowed: see [maxSteps].
func (p *txParser) within() bool { return p.steps <= maxSteps+4*len(p.b) }

// startsRest reports whether lists of ids begin b, and an output with its tree follows.
func (p *txParser) startsRest(b []byte) bool {
	for range 2 {
		n, size := binary.Uvarint(b)
		if size <= 0 || size > 1 && b[size-1] == 0 || // a longer form than [Encoder.AppendTx] writes
			n > uint64(len(b)-size)/uint64(len(ID{})) {
			return false
		}
		b = b[size+int(n)*len(ID{}):]
	}
	_, size := binary.Uvarint(b)
	return size > 0 && p.startsOutput(0, b[size:])
}

// startsOutput reports whether an output with its tree begins b.
func (p *txParser) startsOutput(index int, b []byte) bool {
	_, size := binary.Uvarint(b)
	return size > 0 && p.known.TreeSize(index, b[size:]) >= 0
}

// outputs reads the outputs up to the end. With the id of the transaction it finds the end of registers by the ids of
// their boxes, and returns false if one of these is unknown.
func (p *txParser) outputs(t *Tx, tokens []ID, tx *ID) bool {
	t.Outputs = nil
	count := p.length(maxOutputs, "number of outputs")
	for i := range count {
		p.steps++
		box := Box{Value: p.uint("value of a box")}
		if p.err != nil {
			break
		}
		size := p.known.TreeSize(i, p.b[p.at:])
		if size < 0 && tx == nil {
			p.fail("unknown tree of output %d", i)
			break
		}
		if size < 0 {
			t.Outputs, p.at = nil, len(p.b)
			return true
		}
		box.Tree = p.take(size, "ErgoTree")
		n := p.box(&box, tokens)
		if tx == nil {
			for ; n > 0 && p.err == nil; n-- {
				box.Registers = append(box.Registers, p.value())
			}
		} else if id, ok := p.known.BoxID(i); ok {
			p.registers(&box, n, tx, i, id, i == count-1)
		} else {
			t.Outputs = nil
			return false
		}
		if p.err != nil {
			break
		}
		t.Outputs = append(t.Outputs, box)
	}
	if p.err == nil && p.at < len(p.b) {
		p.fail("%d bytes follow the transaction", len(p.b)-p.at)
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

// box reads a box after its tree, up to the number of its registers.
func (r *reader) box(b *Box, tokens []ID) (registers int) {
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

// registers reads n registers of the box with an id at an index of a transaction. They end where the next output begins,
// or with the transaction after its last output.
func (p *txParser) registers(b *Box, n int, tx *ID, index int, id ID, last bool) {
	if p.err != nil {
		return
	}
	size, most := n, min(maxUnread, len(p.b)-p.at)
	switch {
	case n == 0:
		most = 0
	case last:
		size = len(p.b) - p.at
	}
	if n > 0 {
		b.Registers = make([][]byte, n)
	}
	for ; ; size++ {
		if size > most || !p.within() {
			p.fail("no registers with which box %d has the id %x", index, id)
			return
		}
		if n > 0 {
			if b.Registers[0] = p.b[p.at : p.at+size]; !last && !p.startsOutput(index+1, p.b[p.at+size:]) {
				continue
			}
		}
		bytes := b.AppendTo(nil, tx, index)
		p.spend(len(bytes))
		if blake2b.Sum256(bytes) == id {
			break
		}
	}
	values := reader{b: p.take(size, "registers")}
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
