package schema

import (
	"context"
	"fmt"
	"iter"

	"birthmark/model"
	"birthmark/storage"
)

// TxIO is a transaction with the outputs that it spends and creates, as the rows record them.
type TxIO struct {
	Pk             model.TxPk
	Spent, Created []Output
}

// Output is an output and its decoded rows.
type Output struct {
	Pk model.UtxoPk
	UtxoRow
	Assets []AssetEntry
}

// txBatch is the approximate number of transactions, inputs and outputs per batch.
const txBatch = 8192

// ScanTxs yields batches of transactions with from <= pointer < to, in chain order; a nil to means the end of the
// chain. A batch is valid until the next one. If lenient is true, malformed and missing rows are skipped.
func (c *Layout) ScanTxs(ctx context.Context, r storage.Reader, from, to []byte, lenient bool) iter.Seq2[[]TxIO, error] {
	return func(yield func([]TxIO, error) bool) {
		inputs, stop := iter.Pull2(r.Scan(FamilySpentUtxo, from, to, false))
		defer stop()
		outputs, stop := iter.Pull2(r.Scan(FamilyUtxo, from, to, false))
		defer stop()
		m := txReader{
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

// pulled is a scan of an ordered family and its current row.
type pulled struct {
	next func() (storage.KV, error, bool)
	kv   storage.KV
	err  error
	more bool

	lenient bool // skip keys that are not pointers
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

// tx returns the transaction of the current row.
func (p *pulled) tx() (model.TxPk, error) {
	if p.err != nil {
		return 0, p.err
	}
	pk, err := model.ParseUtxoPk(p.kv.Key) // an InputPk has the same form
	return pk.Tx(), err
}

type txReader struct {
	c               *Layout
	r               storage.Reader
	lenient         bool
	inputs, outputs pulled
}

// batch reads whole transactions; none at the end of the scan.
func (m *txReader) batch() ([]TxIO, error) {
	var txs []TxIO
	for rows := 0; rows < txBatch && (m.inputs.more || m.outputs.more); {
		pk, err := m.first()
		if err != nil {
			return nil, err
		}
		t := TxIO{Pk: pk}
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
				t.Spent = append(t.Spent, Output{Pk: utxo})
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
			row, err := m.c.ParseUtxoRow(utxo, m.outputs.kv.Value)
			if err != nil && !m.lenient {
				return nil, fmt.Errorf("output %v: %w", utxo, err)
			}
			t.Created = append(t.Created, Output{Pk: utxo, UtxoRow: row})
			m.outputs.pull()
		}
		rows += 1 + len(t.Spent) + len(t.Created)
		txs = append(txs, t)
	}
	return txs, m.fill(txs)
}

// first returns the lower transaction of the current input and output rows.
func (m *txReader) first() (model.TxPk, error) {
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

// fill reads the rows of spent outputs, and the assets of all outputs.
func (m *txReader) fill(txs []TxIO) error {
	var spent, all []*Output
	for i := range txs {
		for j := range txs[i].Spent {
			spent = append(spent, &txs[i].Spent[j])
		}
		for j := range txs[i].Created {
			all = append(all, &txs[i].Created[j])
		}
	}
	all = append(all, spent...)
	rows, err := m.r.GetMany(FamilyUtxo, keysOfOutputs(spent))
	if err != nil {
		return err
	}
	for i, o := range spent {
		if o.UtxoRow, err = m.c.ParseUtxoRow(o.Pk, rows[i]); err != nil && !m.lenient {
			return fmt.Errorf("output %v, which is spent: %w", o.Pk, err)
		}
	}
	if rows, err = m.r.GetMany(FamilyAssets, keysOfOutputs(all)); err != nil {
		return err
	}
	for i, o := range all {
		if o.Assets, err = ParseAssetsRow(o.Pk, rows[i]); err != nil && !m.lenient {
			return fmt.Errorf("assets of output %v: %w", o.Pk, err)
		}
	}
	return nil
}

func keysOfOutputs(os []*Output) [][]byte {
	keys := make([][]byte, len(os))
	for i, o := range os {
		keys[i] = o.Pk.AppendTo(nil)
	}
	return keys
}
