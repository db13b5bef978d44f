package sigma

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/ergo/sigma/sigmatest"
	"birthmark/internal/testseed"
)

// aTransaction returns a transaction with a value in a register between two others, and as a variable.
func aTransaction(t testing.TB, value []byte) *Tx {
	return &Tx{
		Inputs: []Input{
			{Box: ID{1}, Proof: []byte{9, 9}, Extension: []Variable{{3, []byte{4, 2}}, {7, value}}},
			{Box: ID{2}, Extension: []Variable{{0, value}}},
		},
		DataInputs: []ID{{5}},
		Outputs: []Box{
			{Value: 1e6, Tree: unhex(t, "0008cd"+aKey), Height: 1, Registers: [][]byte{{4, 2}, value, {1, 1}}},
			{Value: 2, Tree: unhex(t, "0008cd"+aKey), Height: 2, Tokens: []Token{{ID{4}, 7}}},
		},
	}
}

// knownOf returns the stored parts of a transaction.
func knownOf(t *Tx) Known {
	var e Encoder
	id := e.TxID(t)
	return Known{
		TreeSize: func(i int, rest []byte) int {
			if i < len(t.Outputs) && bytes.HasPrefix(rest, t.Outputs[i].Tree) {
				return len(t.Outputs[i].Tree)
			}
			return -1
		},
		BoxID:     func(i int) (ID, bool) { return t.Outputs[i].ID(&id, i), true },
		InputID:   func(i int) (ID, bool) { return t.Inputs[i].Box, true },
		BoxExists: func(id ID) bool { return slices.Contains(t.DataInputs, id) },
	}
}

func TestWhatANodeAcceptsInRegistersIsReadAgain(t *testing.T) {
	var e Encoder
	for name, value := range sigmatest.Values() {
		if n, err := ValueSize(append(value[:len(value):len(value)], 0xff, 0x04)); err != nil || n != len(value) {
			t.Errorf("%s %x has %d bytes, expected %d: %v", name, value[:min(len(value), 80)], n, len(value), err)
			continue
		}
		tx := aTransaction(t, value)
		raw := e.AppendTx(nil, tx, true)
		got, err := ParseTx(raw, knownOf(tx))
		if err != nil || !bytes.Equal(e.AppendTx(nil, got, true), raw) || len(got.Outputs) != 2 || len(got.Outputs[0].Registers) != 3 {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !bytes.Equal(got.Outputs[0].Registers[1], value) || !bytes.Equal(got.Inputs[0].Extension[1].Value, value) {
			t.Errorf("%s was read as %x", name, got.Outputs[0].Registers[1])
		}
		if id, err := SignedTxID(raw); err != nil || id != e.TxID(tx) {
			t.Errorf("%s: the transaction has the id %x: %v", name, id, err)
		}
	}
}

// A tree ends where its script ends, also without its size.
func TestScriptsAreSkipped(t *testing.T) {
	for _, digits := range []string{emissionTree, "0008cd" + aKey, "00" + pays, "1001600501010101010001000100d1" + "7300"} {
		tree := unhex(t, digits)
		r := reader{b: append(tree[:len(tree):len(tree)], 0xff, 0xff)}
		if r.skipTree(); r.err != nil || r.at != len(tree) {
			t.Errorf("%s ends at %d of %d: %v", digits, r.at, len(tree), r.err)
		}
	}
}

// Registers that nobody can read are found by the id of their box.
func TestUnreadableRegistersKeepTheirBytes(t *testing.T) {
	var e Encoder
	for _, digits := range []string{"ff", "81", "a3", "6e", "0b00", "0e05aa", "86ff", "04" + strings.Repeat("ff", 12), "63ff"} {
		tx := aTransaction(t, []byte{4, 2})
		tx.Outputs[0].Registers[1] = unhex(t, digits)
		raw := e.AppendTx(nil, tx, true)
		got, err := ParseTx(raw, knownOf(tx))
		if err != nil || !bytes.Equal(e.AppendTx(nil, got, true), raw) {
			t.Errorf("%s: %v", digits, err)
			continue
		}
		registers := got.Outputs[0].Registers
		if len(registers) != 3 || !bytes.Equal(registers[1], unhex(t, digits+"0101")) || len(registers[2]) > 0 {
			t.Errorf("%s: the registers are %x", digits, registers)
		}
		unknown := knownOf(tx)
		unknown.BoxID = func(int) (ID, bool) { return ID{}, false }
		if got, err := ParseTx(raw, unknown); err != nil || got.Outputs != nil {
			t.Errorf("%s: without the id of the box there are %d outputs: %v", digits, len(got.Outputs), err)
		}
	}
}

// So are variables: their end is where the next input begins, or the rest of the transaction.
func TestUnreadableVariablesKeepTheirBytes(t *testing.T) {
	var e Encoder
	for _, digits := range []string{"ff", "81", "a3", "6e", "0b00", "86ff", "04" + strings.Repeat("ff", 12), "ff80"} {
		for _, several := range []bool{false, true} {
			tx := aTransaction(t, []byte{4, 2})
			if several {
				tx.DataInputs = nil // 80 and their number is a number, too
			}
			tx.Inputs[0].Extension[0].Value = unhex(t, digits)
			if several {
				tx.Inputs[1].Extension[0].Value = unhex(t, digits)
				tx.Outputs[0].Registers[0] = unhex(t, "ff")
			}
			raw := e.AppendTx(nil, tx, true)
			got, err := ParseTx(raw, knownOf(tx))
			if err != nil || !bytes.Equal(e.AppendTx(nil, got, true), raw) || e.TxID(got) != e.TxID(tx) || len(got.Outputs) != 2 {
				t.Errorf("%s: %v", digits, err)
				continue
			}
			if x := got.Inputs[0].Extension; len(x) != 2 || x[0].ID != 3 || !bytes.Equal(x[0].Value, unhex(t, digits+"070402")) || x[1].Value != nil {
				t.Errorf("%s: the variables are %x", digits, x)
			}
			if several && !bytes.Equal(got.Inputs[1].Extension[0].Value, tx.Inputs[1].Extension[0].Value) {
				t.Errorf("%s: the last variables are %x", digits, got.Inputs[1].Extension)
			}
			if several {
				continue // without the ids of inputs there is no id for the registers
			}
			unknown := knownOf(tx)
			unknown.InputID = nil
			part, err := ParseTx(raw, unknown)
			if err != nil || len(part.Inputs) != 1 || !reflect.DeepEqual(part.Outputs, got.Outputs) ||
				!reflect.DeepEqual(part.DataInputs, got.DataInputs) || !bytes.HasPrefix(part.Inputs[0].Extension[0].Value, unhex(t, digits)) {
				t.Errorf("%s: without the ids of inputs the transaction is %+v: %v", digits, part, err)
			}
		}
	}
}

// Bytes of variables that look like the lists of ids before the outputs are no part of these: their data inputs do not
// exist, or their tokens are not those of the outputs. The lists of the real end can look like other ones, too.
func TestUnreadableVariablesThatLookLikeDataInputs(t *testing.T) {
	var e Encoder
	zeros := func(first byte) (id ID) { id[0] = first; return id } // its last bytes are empty lists
	// Lists of ids whose last bytes are the first ones of the real lists: their numbers, if these are empty.
	lists := func(inputs, tokens, real int) []byte {
		b := []byte{byte(inputs)}
		b = append(b, make([]byte, inputs*len(ID{}))...)
		b = append(b, byte(tokens))
		return append(b, make([]byte, tokens*len(ID{})-real)...)
	}
	read := func(what string, tx *Tx, known Known) {
		t.Helper()
		raw := e.AppendTx(nil, tx, true)
		got, err := ParseTx(raw, known)
		if err != nil || !bytes.Equal(e.AppendTx(nil, got, true), raw) || !slices.Equal(got.DataInputs, tx.DataInputs) {
			t.Errorf("%s: %v, %d data inputs %.80x", what, err, len(got.DataInputs), got.DataInputs)
		}
	}
	for inputs := range 3 {
		for tokens := range 3 {
			for _, data := range [][]ID{nil, {zeros(0xaa)}, {zeros(0xaa), zeros(0xaa)}} {
				for real := range 2 {
					tx := aTransaction(t, []byte{4, 2})
					last := &tx.Inputs[len(tx.Inputs)-1]
					last.Extension = []Variable{{1, append([]byte{0xff}, lists(inputs, tokens+1, real+1)...)}}
					tx.DataInputs = data
					for i := range tx.Outputs {
						tx.Outputs[i].Tokens = nil
					}
					what := fmt.Sprintf("%d data inputs after bytes like %d and %d tokens, %d of the real bytes", len(data), inputs, tokens+1, real+1)
					known := knownOf(tx)
					read(what, tx, known)
					if known.BoxExists = nil; data == nil && real == 0 {
						read(what+", if no box is known", tx, known)
					}
				}
			}
		}
	}
}

// unreadable returns a transaction with as many inputs and outputs with variables and registers that cannot be read, and
// its stored parts. The bytes are those of value, which gets the id of the next input.
func unreadable(t testing.TB, n int, value func(next ID) []byte) (*Tx, Known) {
	id := func(i int) ID { return blake2b.Sum256(binary.AppendUvarint(nil, uint64(i))) }
	tx := aTransaction(t, []byte{4, 2})
	for i := range n {
		tx.Inputs = append(tx.Inputs, Input{Box: id(i), Extension: []Variable{{1, value(id(i + 1))}, {2, []byte{4, 2}}}})
		tx.Outputs = append(tx.Outputs, Box{
			Value: 1e6, Tree: unhex(t, "0008cd"+aKey), Height: 1, Registers: [][]byte{bytes.Repeat([]byte{0xff}, 300)},
		})
	}
	return tx, knownOf(tx)
}

// The steps for unreadable variables grow with the bytes of a transaction alone.
func TestManyUnreadableVariablesAreReadInLinearSteps(t *testing.T) {
	var e Encoder
	steps := func(n int, value func(ID) []byte) (perByte float64, err error) {
		tx, known := unreadable(t, n, value)
		raw := e.AppendTx(nil, tx, true)
		p := txParser{reader: reader{b: raw}, known: known}
		got, err := p.tx()
		if most := maxSteps + 4*len(raw); p.steps > most+len(raw) {
			t.Errorf("%d inputs: %d steps for %d bytes, expected at most %d", n, p.steps, len(raw), most)
		}
		switch {
		case err == nil && (!bytes.Equal(e.AppendTx(nil, got, true), raw) || e.TxID(got) != e.TxID(tx)):
			t.Errorf("%d inputs: the transaction has other bytes", n)
		case err != nil && !errors.Is(err, ErrUnreadable):
			t.Errorf("%d inputs: %v", n, err)
		case err != nil && (len(got.Inputs) != 3 || got.Outputs != nil || !bytes.HasSuffix(raw, got.Inputs[2].Extension[0].Value)):
			t.Errorf("%d inputs: the readable part is %d inputs and %d outputs", n, len(got.Inputs), len(got.Outputs))
		}
		return float64(p.steps) / float64(len(raw)), err
	}
	plain := func(ID) []byte { return bytes.Repeat([]byte{0xff}, 20) }
	for _, n := range []int{1, 10, 100, 1000} {
		if per, err := steps(n, plain); err != nil || per > 1 {
			t.Errorf("%d inputs: %.2f steps per byte, %v", n, per, err)
		}
	}
	// Values that contain the beginning of the next input and that of the rest take more, within the limit.
	for _, n := range []int{1, 10, 100, 300} {
		hostile := func(next ID) (value []byte) {
			for range 10 {
				value = append(append(append(value, 0xff), next[:]...), 0, 1, 1, 0xff)
				value = append(append(value, 0, 0, byte(n), 1), unhex(t, "0008cd"+aKey+"010001ff")...)
			}
			return value
		}
		per, err := steps(n, hostile)
		t.Logf("%d inputs with hostile variables: %.2f steps per byte, %v", n, per, err)
	}
}

// A transaction with wrong ids has a readable part.
func TestUnreadableVariablesWithoutAnEndAreAnError(t *testing.T) {
	var e Encoder
	tx, known := unreadable(t, 300, func(ID) []byte { return bytes.Repeat([]byte{0xff}, 20) })
	raw := e.AppendTx(nil, tx, true)
	raw[len(raw)-1]++ // no id is right
	got, err := ParseTx(raw, known)
	if !errors.Is(err, ErrUnreadable) || len(got.Inputs) != 3 || got.Outputs != nil ||
		!bytes.HasSuffix(raw, got.Inputs[2].Extension[0].Value) {
		t.Errorf("the transaction is %v, its error %v", got, err)
	}
}

// Hostile scripts in box constants do not take time beyond the bytes.
func TestNestedScriptsAreReadInBoundedSteps(t *testing.T) {
	// Each box has a tree whose size is one byte and whose script is a collection of the rest.
	box := unhex(t, "63"+"01"+"0901"+"83ffff0363")
	raw := bytes.Repeat(box, 6000)
	r := reader{b: raw}
	r.skipEvaluated()
	if r.steps > maxSteps+4*len(raw)+maxLevel {
		t.Errorf("%d steps for %d bytes", r.steps, len(raw))
	}
}

func TestRandomValuesAreReadAgain(t *testing.T) {
	rng := testseed.Rand(t)
	var e Encoder
	for range 5000 {
		value := sigmatest.Random(rng, 5)
		if n, err := ValueSize(append(value[:len(value):len(value)], 0xff)); err != nil || n != len(value) {
			t.Fatalf("%x has %d bytes, expected %d: %v", value, n, len(value), err)
		}
		tx := aTransaction(t, value)
		raw := e.AppendTx(nil, tx, true)
		unknown := knownOf(tx)
		unknown.BoxID = func(int) (ID, bool) { return ID{}, false }
		got, err := ParseTx(raw, unknown)
		if err != nil || !bytes.Equal(e.AppendTx(nil, got, true), raw) {
			t.Fatalf("%x: %v", value, err)
		}
		if v, ok := Value(value); ok && v == nil && value[0] != typeUnit {
			t.Errorf("%x has no value", value)
		}
	}
}
