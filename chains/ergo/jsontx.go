package ergo

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"birthmark/chains/adapter"
	"birthmark/chains/ergo/sigma"
)

// transaction is a transaction from JSON with recomputed ids.
type transaction struct {
	sigma.Tx
	claims  []claim // of Outputs
	id      sigma.ID
	witness [31]byte
}

// claim has the fields of an output in JSON other than the box itself.
type claim struct {
	id    sigma.ID
	tx    sigma.ID
	index int // -1 if absent
	hasTx bool
}

const (
	maxAmount    = 1<<63 - 1
	maxIndex     = 1<<16 - 1
	maxTokens    = 255
	maxVariables = 255
)

func (d *decoder) readTx() {
	s := &d.s
	at := s.at
	var t transaction
	members := txMembers
	if d.signed {
		members = txMembers[1:]
	}
	for o := s.object("a transaction", members); o.next(); {
		switch string(o.name) {
		case "id":
			s.hex(t.id[:], "transaction id")
		case "inputs":
			t.Inputs = d.readInputs()
		case "dataInputs":
			t.DataInputs = d.readDataInputs()
		case "outputs":
			t.Outputs, t.claims = d.readOutputs()
		default:
			s.skip()
		}
	}
	if s.err != nil {
		return
	}
	d.complete(&t)
	err := d.verify(&t)
	if err == nil && len(t.Inputs) == 0 {
		err = errors.New("it has no inputs")
	}
	if err != nil {
		s.failAt(at, fmt.Errorf("transaction %d %x: %w", len(d.txs), t.id, err))
		return
	}
	d.txs = append(d.txs, t)
}

// complete sets the ids that a signed transaction need not have.
func (d *decoder) complete(t *transaction) {
	if !d.signed {
		return
	}
	if t.id == (sigma.ID{}) {
		t.id = d.e.TxID(&t.Tx)
	}
	for i := range t.claims {
		if c := &t.claims[i]; c.id == (sigma.ID{}) {
			c.id = d.e.BoxID(&t.Outputs[i], &t.id, i)
		}
	}
}

// verify recomputes the ids of a transaction and its boxes.
func (d *decoder) verify(t *transaction) error {
	id := d.e.TxID(&t.Tx)
	if id != t.id && sortVariables(t.Inputs) {
		// A JSON object has no order, so programs other than the node may have changed the order of the variables.
		if sorted := d.e.TxID(&t.Tx); sorted == t.id {
			id = sorted
		}
	}
	if id != t.id {
		return fmt.Errorf("its bytes have the id %x", id)
	}
	for i := range t.claims {
		if err := d.verifyBox(&t.Outputs[i], &t.claims[i], &id, i); err != nil {
			return fmt.Errorf("output %d: %w", i, err)
		}
	}
	t.witness = d.e.WitnessID(&t.Tx)
	return nil
}

func (d *decoder) verifyBox(b *sigma.Box, c *claim, tx *sigma.ID, index int) error {
	if c.hasTx && c.tx != *tx {
		return fmt.Errorf("its transactionId is %x", c.tx)
	}
	if c.index >= 0 && c.index != index {
		return fmt.Errorf("its index is %d", c.index)
	}
	if id := d.e.BoxID(b, tx, index); id != c.id {
		return fmt.Errorf("its boxId is %x, its bytes have %x", c.id, id)
	}
	return nil
}

// sortVariables sorts the context extensions by number and reports whether there were several variables in one.
func sortVariables(inputs []sigma.Input) (several bool) {
	for i := range inputs {
		if v := inputs[i].Extension; len(v) > 1 {
			several = true
			slices.SortStableFunc(v, func(a, b sigma.Variable) int { return cmp.Compare(a.ID, b.ID) })
		}
	}
	return several
}

func (d *decoder) readInputs() []sigma.Input {
	s := &d.s
	first := len(d.inputs)
	for l := s.list("inputs"); l.next(); {
		var in sigma.Input
		if d.readInput(&in); s.err != nil {
			return nil
		}
		d.inputs = append(d.inputs, in)
	}
	return d.inputs[first:len(d.inputs):len(d.inputs)]
}

func (d *decoder) readInput(in *sigma.Input) {
	s := &d.s
	for o := s.object("an input", boxRefMembers); o.next(); {
		switch string(o.name) {
		case "boxId":
			s.hex(in.Box[:], "box id")
		case "spendingProof":
			d.readProof(in)
		default:
			s.skip()
		}
	}
}

// readProof reads a proof and the context extension that belongs to it.
func (d *decoder) readProof(in *sigma.Input) {
	s := &d.s
	for o := s.object("spendingProof", nil); o.next(); {
		switch string(o.name) {
		case "proofBytes":
			if !s.null() {
				in.Proof = d.hex("proofBytes")
			}
		case "extension":
			in.Extension = d.readVariables()
		default:
			s.skip()
		}
	}
}

func (d *decoder) readVariables() []sigma.Variable {
	s := &d.s
	first := len(d.vars)
	for o := s.object("extension", nil); o.next(); {
		id, err := strconv.Atoi(string(o.name))
		if err != nil || id < -128 || id > 255 {
			s.fail("variable %q: expected a number of one byte", adapter.Truncate(string(o.name)))
			break
		}
		d.vars = append(d.vars, sigma.Variable{ID: byte(id), Value: d.constant("value of a variable")})
	}
	if len(d.vars)-first > maxVariables {
		s.fail("%d variables, the maximum is %d", len(d.vars)-first, maxVariables)
	}
	return d.vars[first:len(d.vars):len(d.vars)]
}

// constant returns a serialized constant: a hex string, or an object with it and its decoded value.
func (d *decoder) constant(what string) (raw []byte) {
	s := &d.s
	if s.next() == '{' {
		for o := s.object(what, nil); o.next(); {
			if string(o.name) == "serializedValue" {
				raw = d.hex(what)
			} else {
				s.skip()
			}
		}
	} else {
		raw = d.hex(what)
	}
	if s.err == nil && len(raw) == 0 {
		s.fail("%s has no bytes", what)
	}
	return raw
}

func (d *decoder) readDataInputs() []sigma.ID {
	s := &d.s
	first := len(d.data)
	for l := s.list("dataInputs"); l.next(); {
		var id sigma.ID
		for o := s.object("a data input", boxRefMembers); o.next(); {
			if string(o.name) == "boxId" {
				s.hex(id[:], "box id")
			} else {
				s.skip()
			}
		}
		d.data = append(d.data, id)
	}
	return d.data[first:len(d.data):len(d.data)]
}
