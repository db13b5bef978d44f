package pointers

import (
	"context"

	"birthmark/core/schema"
	"birthmark/internal/guard"
	"birthmark/model"
)

// RawAccess is where raw transactions are read that the database does not store. It is safe for concurrent use.
type RawAccess struct {
	Files  model.RawFileReader // nil: the chain's nodes have no such files
	Folder string              // replaces the folder of the files; empty: the stored paths are right
	Node   model.RawReader     // nil: none
	// Ask: every transaction is requested from the node, even if its place in a file is known. Otherwise only
	// transactions of blocks whose place is unknown are requested, such as new blocks of another source.
	Ask bool
}

// rawReads is the number of transactions that a query reads concurrently from a node.
const rawReads = 8

// ErrNoRaw is returned if the database neither stores raw transactions nor can read them.
var ErrNoRaw = model.Errorf(model.Usage, "no_raw", "the database has no raw transactions: set raw: node in the settings, or run "+
	"birthmark index add raw")

// HasRaw reports whether raw transactions are stored or can be read.
func (q *Reader) HasRaw() bool { return q.Layout.Raw || q.Layout.RawFiles || q.asksNode() }

// asksNode reports whether every raw transaction is requested from a node.
func (q *Reader) asksNode() bool { return q.Raws != nil && q.Raws.Node != nil && q.Raws.Ask }

// RawTxs returns the serialized bytes of transactions of blocks, in the order of pks. Bytes that the database does not
// store are checked: they hash to the transaction's hash. Errors are of kind NotFound, code no_raw, and name the file
// or the node, if it does not have a transaction.
func (q *Reader) RawTxs(pks []model.TxPk) ([][]byte, error) {
	switch {
	case len(pks) == 0:
		return nil, nil
	case !q.HasRaw():
		return nil, ErrNoRaw
	case q.Layout.Raw:
		return q.Many(schema.FamilyRaw, schema.Keys(pks))
	}
	hashes, err := q.TxIDs(pks)
	if err != nil {
		return nil, err
	}
	if q.asksNode() {
		return q.nodeRaws(pks, hashes)
	}
	return q.fileRaws(pks, hashes)
}

// RawTxs adds the serialized bytes of transactions of blocks, in the order of pks. For the errors see [Reader.RawTxs].
func (l *Load) RawTxs(pks []model.TxPk) [][]byte {
	raws := make([][]byte, len(pks))
	if l.q.Layout.Raw {
		l.Rows(schema.FamilyRaw, schema.Keys(pks), func(rows [][]byte) error {
			copy(raws, rows)
			return nil
		})
		return raws
	}
	l.after = append(l.after, func() error {
		found, err := l.q.RawTxs(pks)
		copy(raws, found)
		return err
	})
	return raws
}

// nodeRaws requests transactions from the node.
func (q *Reader) nodeRaws(pks []model.TxPk, hashes []model.Hash) ([][]byte, error) {
	blocks, err := q.BlocksOf(pks)
	if err != nil {
		return nil, err
	}
	if err := q.R.meter.Reads(len(pks)); err != nil {
		return nil, err
	}
	ctx, stop := context.WithCancelCause(q.Ctx)
	defer stop(nil)
	raws, done := make([][]byte, len(pks)), make(chan struct{}, len(pks))
	slots := make(chan struct{}, rawReads)
	for i, pk := range pks {
		block := blocks[pk.Height()]
		slots <- struct{}{}
		go func() {
			err := guard.Call(func() (err error) { // the bytes come from a node
				point := model.Point{Height: pk.Height(), Hash: block.Hash, Slot: block.Slot}
				if raws[i], err = q.Raws.Node.RawTx(ctx, point, q.TxIndex(pk), hashes[i]); err != nil {
					return err
				}
				if err := q.R.meter.Bytes(len(raws[i])); err != nil {
					return err
				}
				return q.checkRaw(hashes[i], raws[i])
			})
			if err != nil {
				stop(err)
			}
			<-slots
			done <- struct{}{}
		}()
	}
	for range pks {
		<-done
	}
	return raws, context.Cause(ctx)
}

// checkRaw returns an error if bytes from outside the database do not hash to a transaction's hash.
func (q *Reader) checkRaw(hash model.Hash, raw []byte) error {
	hasher, ok := q.Chain.(model.TxHasher)
	if !ok {
		return model.Errorf(model.NotFound, "no_raw", "%s cannot check the bytes of transactions", q.Chain.Name())
	}
	got, err := hasher.HashTx(raw)
	if err == nil && got != hash {
		err = model.Errorf(model.BadSource, "bad_answer", "found the bytes of %s", q.Chain.FormatHash(got))
	}
	return err
}

// Unavailable reports whether err is about bytes outside the database: the file or the node does not have them, or the node
// does not answer.
func Unavailable(err error) bool {
	kind, _ := model.KindOf(err)
	return err != nil && (kind == model.NotFound || kind == model.BadSource)
}

// EachRaw calls visit with the serialized transactions of the block at h, in order. They are valid until visit returns.
// For the errors see [Reader.RawTxs].
func (q *Reader) EachRaw(h model.HeightPk, visit func(raw []byte) error) error {
	switch {
	case q.Layout.Raw:
		first, end := q.FirstPk(h).AppendTo(nil), q.FirstPk(h+1).AppendTo(nil)
		for kv, err := range q.R.Scan(schema.FamilyRaw, first, end, false) {
			if err == nil {
				err = visit(kv.Value)
			}
			if err != nil {
				return err
			}
		}
		return nil
	case q.Layout.RawFiles && !q.asksNode():
		if done, err := q.eachFileRaw(h, visit); done || err != nil {
			return err
		}
	}
	pks, err := q.blockTxs(h)
	if err != nil {
		return err
	}
	raws, err := q.RawTxs(pks)
	if err != nil {
		return err
	}
	for _, raw := range raws {
		if err := visit(raw); err != nil {
			return err
		}
	}
	return nil
}

// blockTxs returns the transactions of the block at h.
func (q *Reader) blockTxs(h model.HeightPk) ([]model.TxPk, error) {
	row, err := schema.BlockAt(q.R, h)
	if err != nil {
		return nil, err
	}
	first := 0
	if h == 0 {
		first = int(q.Totals.GenesisTxs)
	}
	pks := make([]model.TxPk, row.TxCount)
	for i := range pks {
		if pks[i], err = q.NewTxPk(h, first+i); err != nil {
			return nil, err
		}
	}
	return pks, nil
}
