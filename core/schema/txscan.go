package schema

import (
	"cmp"
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

// BlockRange returns the range of the keys of the transactions of the block at h. That of the first block of the chain
// includes genesis transactions, which have height 0.
func (l *Layout) BlockRange(r storage.Reader, h model.HeightPk) (from, to []byte, err error) {
	first := h
	if h == 1 {
		zero, err := find(r, FamilyBlock, model.HeightPk(0).AppendTo(nil))
		if err != nil {
			return nil, nil, err
		}
		if zero == nil {
			first = 0
		}
	}
	return l.FirstPk(first).AppendTo(nil), l.FirstPk(h + 1).AppendTo(nil), nil
}

// txBatch is the approximate number of transactions, inputs and outputs per batch.
const txBatch = 8192

// ScanTxs yields batches of transactions with from <= pointer < to, in chain order; a nil to means the end of the
// chain. A batch is valid until the next one. If lenient is true, malformed and missing rows are skipped.
func (l *Layout) ScanTxs(ctx context.Context, r storage.Reader, from, to []byte, lenient bool) iter.Seq2[[]TxIO, error] {
	return func(yield func([]TxIO, error) bool) {
		inputs, stop := iter.Pull2(r.Scan(FamilySpentUtxo, from, to, false))
		defer stop()
		outputs, stop := iter.Pull2(r.Scan(FamilyUtxo, from, to, false))
		defer stop()
		m := txReader{l, r, lenient, pulled{next: inputs, lenient: lenient}, pulled{next: outputs, lenient: lenient}}
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

// pulled is a scan of a family in chain order and its current row.
type pulled struct {
	next    func() (storage.KV, error, bool)
	lenient bool // skip keys that are not pointers

	kv   storage.KV
	pk   model.UtxoPk // decoded from the key; an InputPk has the same form
	more bool
	err  error
}

func (p *pulled) pull() {
	for {
		if p.kv, p.err, p.more = p.next(); p.err == nil && p.more {
			if p.pk, p.err = model.ParseUtxoPk(p.kv.Key); p.err != nil && p.lenient {
				continue
			}
		}
		return
	}
}

// in reports whether the current row belongs to a transaction.
func (p *pulled) in(tx model.TxPk) bool { return p.more && p.err == nil && p.pk.Tx() == tx }

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
		t := TxIO{Pk: m.first()}
		for ; m.inputs.in(t.Pk); m.inputs.pull() {
			utxo, err := model.ParseUtxoPk(m.inputs.kv.Value)
			if err == nil {
				t.Spent = append(t.Spent, Output{Pk: utxo})
			} else if !m.lenient {
				return nil, err
			}
		}
		for ; m.outputs.in(t.Pk); m.outputs.pull() {
			row, err := m.c.ParseUtxoRow(m.outputs.pk, m.outputs.kv.Value)
			if err != nil && !m.lenient {
				return nil, fmt.Errorf("output %v: %w", m.outputs.pk, err)
			}
			t.Created = append(t.Created, Output{Pk: m.outputs.pk, UtxoRow: row})
		}
		if err := cmp.Or(m.inputs.err, m.outputs.err); err != nil {
			return nil, err
		}
		rows += 1 + len(t.Spent) + len(t.Created)
		txs = append(txs, t)
	}
	return txs, m.fill(txs)
}

// first returns the lower transaction of the current input and output rows.
func (m *txReader) first() model.TxPk {
	switch {
	case !m.inputs.more:
		return m.outputs.pk.Tx()
	case !m.outputs.more:
		return m.inputs.pk.Tx()
	}
	return min(m.inputs.pk, m.outputs.pk).Tx()
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
		entries, err := ParseAssetsRow(o.Pk, rows[i])
		if err != nil && !m.lenient {
			return fmt.Errorf("assets of output %v: %w", o.Pk, err)
		}
		o.Assets = Holdings(entries)
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
