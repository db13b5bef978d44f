package runes

import (
	"bytes"

	"birthmark/chains/bitcoin/block"
)

// Message is what [Rules] need from a transaction with a message.
type Message struct {
	Runestone
	Returns []uint32 // positions of the outputs that are OP_RETURN, ascending: they hold no runes
	Commits []uint32 // positions of the inputs whose tapscript contains the commitment to the name of the etching
}

// Reader reads messages of serialized transactions. It is a [block.TokenReader].
type Reader struct{ returns []uint32 }

// ReadTx returns the message of a transaction, a *Message or nil, and the position of its first output that is not
// OP_RETURN; the number of outputs if all are. raw is well-formed.
func (r *Reader) ReadTx(raw []byte, s block.Span) (message any, output uint32) {
	outputs, at := block.Count(raw, s.Outputs)
	r.returns, output = r.returns[:0], uint32(outputs)
	var found []byte
	for i := range outputs {
		size, begin := block.Count(raw, at+8)
		at = begin + size
		switch script := raw[begin:at]; {
		case !isReturn(script):
			output = min(output, uint32(i))
		default:
			r.returns = append(r.returns, uint32(i))
			if found == nil && hasMessage(script) {
				found = script
			}
		}
	}
	if found == nil {
		return nil, output
	}
	m := &Message{Returns: append([]uint32(nil), r.returns...)}
	m.decode(found, outputs)
	if e := m.Etching; e != nil && e.Name.OK && s.Witness {
		inputs, _ := block.Count(raw, s.Body)
		commitment := e.Name.Value.Commitment()
		block.EachWitness(raw, at, inputs, func(input int, items block.WitnessItems) {
			if commits(block.LeafScript(items), commitment) {
				m.Commits = append(m.Commits, uint32(input))
			}
		})
	}
	return m, output
}

// commits reports whether a script pushes a commitment before its first invalid operation.
func commits(script, commitment []byte) bool {
	for len(script) > 0 {
		_, data, rest, ok := block.NextOp(script)
		if !ok {
			return false
		}
		if data != nil && bytes.Equal(data, commitment) {
			return true
		}
		script = rest
	}
	return false
}
