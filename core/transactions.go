package core

import (
	"context"
	"fmt"
	"iter"

	"birthmark/model"
	"birthmark/storage"
)

// txMovement is what a transaction spends and makes, as the rows say.
type txMovement struct {
	pk            model.TxPk
	spends, makes []output
}

// output is an output with what its rows say.
type output struct {
	pk model.UtxoPk
	utxoRow
	assets []assetEntry
}

// movementBatch is how many outputs and inputs are looked up together.
const movementBatch = 8192

// transactions yields the transactions from one pointer to before another, nil is the end of the chain, in order and many at a
// time. They are the reader's until the next batch. lenient: rows that are broken or missing are passed over.
func (c *catalogue) transactions(ctx context.Context, r storage.Reader, from, to []byte, lenient bool) iter.Seq2[[]txMovement, error] {
	return func(yield func([]txMovement, error) bool) {
		inputs, stop := iter.Pull2(r.Scan(familySpentUtxo, from, to, false))
		defer stop()
		outputs, stop := iter.Pull2(r.Scan(familyUtxo, from, to, false))
		defer stop()
		m := movementReader{
			c: c, r: r, lenient: lenient,
			inputs: pulled{next: inputs, lenient: lenient}, outputs: pulled{next: outputs, lenient: lenient},
		}
		m.inputs.pull()
		m.outputs.pull()
		for {
			batch, err := m.batch()
			if err == nil {
				err = ctx.Err()
			}
			if err != nil {
				yield(nil, err)
				return
			}
			if len(batch) == 0 || !yield(batch, nil) {
				return
			}
		}
	}
}

// pulled is a scan of an ordered family with the row it stands at.
type pulled struct {
	next func() (storage.KV, error, bool)
	kv   storage.KV
	err  error
	more bool

	lenient bool // keys that are no pointers are passed over
}

func (p *pulled) pull() {
	for {
		if p.kv, p.err, p.more = p.next(); !p.lenient || !p.more || p.err != nil {
			return
		}
		if _, err := model.ParseUtxoPk(p.kv.Key); err == nil {
			return
		}
	}
}

// tx is the transaction the scan stands at.
func (p *pulled) tx() (model.TxPk, error) {
	if p.err != nil {
		return 0, p.err
	}
	pk, err := model.ParseUtxoPk(p.kv.Key) // an InputPk has the same form
	return pk.Tx(), err
}

type movementReader struct {
	c               *catalogue
	r               storage.Reader
	lenient         bool
	inputs, outputs pulled
}

// batch reads whole transactions; none at the end.
func (m *movementReader) batch() ([]txMovement, error) {
	var txs []txMovement
	for rows := 0; rows < movementBatch && (m.inputs.more || m.outputs.more); {
		pk, err := m.first()
		if err != nil {
			return nil, err
		}
		t := txMovement{pk: pk}
		for m.inputs.more {
			if at, err := m.inputs.tx(); err != nil {
				return nil, err
			} else if at != pk {
				break
			}
			utxo, err := model.ParseUtxoPk(m.inputs.kv.Value)
			if err != nil && !m.lenient {
				return nil, err
			}
			if err == nil {
				t.spends = append(t.spends, output{pk: utxo})
			}
			m.inputs.pull()
		}
		for m.outputs.more {
			if at, err := m.outputs.tx(); err != nil {
				return nil, err
			} else if at != pk {
				break
			}
			utxo, err := model.ParseUtxoPk(m.outputs.kv.Key)
			if err != nil {
				return nil, err
			}
			row, err := m.c.parseUtxoRow(utxo, m.outputs.kv.Value)
			if err != nil && !m.lenient {
				return nil, fmt.Errorf("output %v: %w", utxo, err)
			}
			t.makes = append(t.makes, output{pk: utxo, utxoRow: row})
			m.outputs.pull()
		}
		rows += 1 + len(t.spends) + len(t.makes)
		txs = append(txs, t)
	}
	return txs, m.fill(txs)
}

// first is the transaction that the scans come to next.
func (m *movementReader) first() (model.TxPk, error) {
	if !m.inputs.more {
		return m.outputs.tx()
	}
	in, err := m.inputs.tx()
	if err != nil || !m.outputs.more {
		return in, err
	}
	out, err := m.outputs.tx()
	return min(in, out), err
}

// fill reads the rows of what is spent, and the assets of all.
func (m *movementReader) fill(txs []txMovement) error {
	var spent, all []*output
	for i := range txs {
		for j := range txs[i].spends {
			spent = append(spent, &txs[i].spends[j])
		}
		for j := range txs[i].makes {
			all = append(all, &txs[i].makes[j])
		}
	}
	all = append(all, spent...)
	rows, err := m.r.GetMany(familyUtxo, keysOfOutputs(spent))
	if err != nil {
		return err
	}
	for i, o := range spent {
		if o.utxoRow, err = m.c.parseUtxoRow(o.pk, rows[i]); err != nil && !m.lenient {
			return fmt.Errorf("output %v, which is spent: %w", o.pk, err)
		}
	}
	if rows, err = m.r.GetMany(familyAssets, keysOfOutputs(all)); err != nil {
		return err
	}
	for i, o := range all {
		if o.assets, err = parseAssetsRow(o.pk, rows[i]); err != nil && !m.lenient {
			return fmt.Errorf("assets of output %v: %w", o.pk, err)
		}
	}
	return nil
}

func keysOfOutputs(os []*output) [][]byte {
	keys := make([][]byte, len(os))
	for i, o := range os {
		keys[i] = o.pk.AppendTo(nil)
	}
	return keys
}
