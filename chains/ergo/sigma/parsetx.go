package sigma

import "fmt"

// ParseTx parses a transaction that [Encoder.AppendTx] wrote with proofs. A tree does not state its length, and scripts
// are not parsed here: treeSize returns the length of the tree of the output at an index, which begins rest, or -1 if it
// is unknown. The transaction then has no outputs, as if the length of a register is unknown.
func ParseTx(b []byte, treeSize func(index int, rest []byte) int) (*Tx, error) {
	r := reader{b: b}
	t := &Tx{}
	for n := r.length(uint64(len(b)), "number of inputs"); n > 0 && r.err == nil; n-- {
		var in Input
		r.copy(in.Box[:], "box id")
		in.Proof = r.take(r.length(uint64(len(b)), "length of a proof"), "proof")
		for range r.byte("number of variables") {
			v := Variable{ID: r.byte("number of a variable")}
			v.Value = r.constant()
			in.Extension = append(in.Extension, v)
		}
		t.Inputs = append(t.Inputs, in)
	}
	t.DataInputs = r.ids("data input")
	tokens := r.ids("token")
	outputs := r.length(maxOutputs, "number of outputs")
	for i := 0; i < outputs && r.err == nil; i++ {
		box := Box{Value: r.uint("value of a box")}
		size := treeSize(i, r.b[r.at:])
		if size < 0 {
			t.Outputs, r.at = nil, len(b)
			break
		}
		box.Tree = r.take(size, "ErgoTree")
		if r.rest(&box, tokens); r.unsupported {
			t.Outputs = nil
			return t, nil
		}
		t.Outputs = append(t.Outputs, box)
	}
	if r.err == nil && r.at < len(b) {
		r.fail("%d bytes follow the transaction", len(b)-r.at)
	}
	if r.err != nil {
		return nil, fmt.Errorf("transaction: %w", r.err)
	}
	return t, nil
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

// constant reads a serialized constant.
func (r *reader) constant() []byte {
	start := r.at
	if r.skipConstant(); r.err != nil {
		return nil
	}
	return r.b[start:r.at:r.at]
}

// rest reads a box after its tree.
func (r *reader) rest(b *Box, tokens []ID) {
	height := r.uint("creation height")
	if height > 1<<32-1 {
		r.fail("creation height %d", height)
	}
	b.Height = uint32(height)
	for n := r.byte("number of tokens"); n > 0 && r.err == nil; n-- {
		i := r.uint("position of a token")
		if i >= uint64(len(tokens)) {
			r.fail("token %d of %d", i, len(tokens))
			return
		}
		b.Tokens = append(b.Tokens, Token{tokens[i], r.uint("amount of a token")})
	}
	n := r.byte("number of registers")
	if n > maxRegisters {
		r.fail("%d registers", n)
	}
	for ; n > 0 && r.err == nil; n-- {
		b.Registers = append(b.Registers, r.constant())
	}
}
