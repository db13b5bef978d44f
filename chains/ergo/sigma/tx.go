package sigma

import (
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/blake2b"
)

// Variable is one entry of a context extension: a number and a serialized value. One without a value is part of the value
// of an entry before it: see [ParseTx].
type Variable struct {
	ID    byte
	Value []byte
}

// Input spends a box.
type Input struct {
	Box       ID
	Proof     []byte
	Extension []Variable // in serialization order
}

// Tx is a transaction.
type Tx struct {
	Inputs     []Input
	DataInputs []ID // boxes that are read and not spent
	Outputs    []Box
}

// Encoder computes ids and reuses its memory. The zero Encoder is ready; use it from one goroutine at a time.
type Encoder struct {
	buf    []byte
	tokens []ID          // distinct tokens of the current transaction in the order of their first use
	places map[ID]uint32 // their positions in tokens, if there are many
}

// fewTokens is the number of tokens up to which a linear search is faster.
const fewTokens = 16

// TxID returns the id of a transaction: the hash of its bytes without proofs.
func (e *Encoder) TxID(t *Tx) ID {
	e.buf = e.AppendTx(e.buf[:0], t, false)
	return blake2b.Sum256(e.buf)
}

// BoxID returns [Box.ID].
func (e *Encoder) BoxID(b *Box, tx *ID, index int) ID {
	e.buf = b.AppendTo(e.buf[:0], tx, index)
	return blake2b.Sum256(e.buf)
}

// WitnessID commits to a transaction's proofs: 31 bytes, which distinguishes it from transaction ids.
func (e *Encoder) WitnessID(t *Tx) (id [31]byte) {
	e.buf = e.buf[:0]
	for i := range t.Inputs {
		e.buf = append(e.buf, t.Inputs[i].Proof...)
	}
	sum := blake2b.Sum256(e.buf)
	copy(id[:], sum[1:])
	return id
}

// AppendTx appends a transaction: with proofs as in blocks, or without them as signed and hashed. Outputs refer to
// tokens by their position in a list before the outputs.
func (e *Encoder) AppendTx(dst []byte, t *Tx, proofs bool) []byte {
	dst = t.appendInputs(dst, proofs)
	dst = binary.AppendUvarint(dst, uint64(len(t.DataInputs)))
	for i := range t.DataInputs {
		dst = append(dst, t.DataInputs[i][:]...)
	}
	e.list(t.Outputs)
	dst = binary.AppendUvarint(dst, uint64(len(e.tokens)))
	for i := range e.tokens {
		dst = append(dst, e.tokens[i][:]...)
	}
	dst = binary.AppendUvarint(dst, uint64(len(t.Outputs)))
	for i := range t.Outputs {
		b := &t.Outputs[i]
		dst = b.appendGuard(dst)
		for j := range b.Tokens {
			dst = binary.AppendUvarint(dst, uint64(e.place(&b.Tokens[j].ID)))
			dst = binary.AppendUvarint(dst, b.Tokens[j].Amount)
		}
		dst = b.appendRegisters(dst)
	}
	return dst
}

// appendInputs appends the number of inputs and the inputs.
func (t *Tx) appendInputs(dst []byte, proofs bool) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(t.Inputs)))
	for i := range t.Inputs {
		in := &t.Inputs[i]
		dst = append(dst, in.Box[:]...)
		if proofs {
			dst = binary.AppendUvarint(dst, uint64(len(in.Proof)))
			dst = append(dst, in.Proof...)
		} else {
			dst = append(dst, 0)
		}
		dst = append(dst, byte(len(in.Extension)))
		for _, v := range in.Extension {
			if v.Value != nil {
				dst = append(append(dst, v.ID), v.Value...)
			}
		}
	}
	return dst
}

// SignedTxID returns the id of a transaction that is serialized with proofs: the hash without them. It returns an error
// if a variable cannot be read.
func SignedTxID(b []byte) (ID, error) {
	r := reader{b: b}
	inputs := r.length(uint64(len(b)), "number of inputs")
	unsigned := append(make([]byte, 0, len(b)), b[:r.at]...)
	for i := 0; i < inputs && r.err == nil; i++ {
		unsigned = append(unsigned, r.take(len(ID{}), "box id")...)
		r.take(r.length(uint64(len(b)), "length of a proof"), "proof")
		unsigned = append(unsigned, 0)
		extension := r.at
		for range r.byte("number of variables") {
			r.byte("number of a variable")
			r.skipEvaluated()
		}
		unsigned = append(unsigned, r.b[extension:r.at]...)
	}
	if r.err != nil {
		return ID{}, fmt.Errorf("transaction: %w", r.err)
	}
	return blake2b.Sum256(append(unsigned, b[r.at:]...)), nil
}

// list makes the list of distinct tokens.
func (e *Encoder) list(outputs []Box) {
	e.tokens = e.tokens[:0]
	clear(e.places)
	for i := range outputs {
		for j := range outputs[i].Tokens {
			id := &outputs[i].Tokens[j].ID
			if e.place(id) >= 0 {
				continue
			}
			e.tokens = append(e.tokens, *id)
			switch n := len(e.tokens); {
			case n == fewTokens+1:
				if e.places == nil {
					e.places = make(map[ID]uint32)
				}
				for k := range e.tokens {
					e.places[e.tokens[k]] = uint32(k)
				}
			case n > fewTokens:
				e.places[*id] = uint32(n - 1)
			}
		}
	}
}

// place returns the position of a token in the list, or -1.
func (e *Encoder) place(id *ID) int {
	if len(e.tokens) > fewTokens {
		if i, ok := e.places[*id]; ok {
			return int(i)
		}
		return -1
	}
	for i := range e.tokens {
		if e.tokens[i] == *id {
			return i
		}
	}
	return -1
}
