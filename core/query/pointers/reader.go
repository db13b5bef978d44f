package pointers

import (
	"cmp"
	"context"
	"fmt"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Reader reads one snapshot.
type Reader struct {
	*schema.Layout
	schema.State // must not be changed
	Ctx          context.Context
	R            *Scans     // of Ctx
	Raws         *RawAccess // nil: none
	labels       *Labels
	epoch        uint64 // see Labels
}

// UseLabels sets the cache of texts. The epoch was returned by [Labels.Epoch] before the snapshot was taken.
func (q *Reader) UseLabels(labels *Labels, epoch uint64) {
	q.labels, q.epoch = labels, labels.epochOf(epoch)
}

// Index returns an index of the database by name.
func (q *Reader) Index(name string) (*schema.Index, error) { return q.Lookup(name, q.Tip, q.Change) }

// PerBlock returns an active index of blocks by name; nil if the database has none.
func (q *Reader) PerBlock(name string) *schema.Index {
	for _, x := range q.Layout.PerBlock {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// Value parses a value of an index. The birth is nil, without an error, if no output has the value. A wallet is an error:
// only some questions are about several values.
func (q *Reader) Value(name, text string) (*schema.Index, []byte, *model.BirthPk, error) {
	switch w, err := model.WalletOf(q.Chain, name, text); {
	case err != nil:
		return nil, nil, nil, err
	case w != nil:
		return nil, nil, nil, model.Errorf(model.Usage, "bad_value", "%s: expected one value, not an extended key or a descriptor", name)
	}
	x, err := q.Index(name)
	if err != nil {
		return nil, nil, nil, err
	}
	value, err := x.Parse(text)
	if err != nil {
		return nil, nil, nil, model.Errorf(model.Usage, "bad_value", "%s: %w", name, err)
	}
	birth, err := q.birth(x.Number, value)
	return x, value, birth, err
}

// Asset returns the id and the birth of an asset. The text is an id or a fingerprint.
func (q *Reader) Asset(text string) (id []byte, birth model.AssetBirthPk, err error) {
	var fingerprint []byte
	if fp := q.Traits.Fingerprint; fp != nil {
		fingerprint, err = fp.Parse(text)
	}
	if fingerprint == nil && err == nil {
		id, err = q.Chain.ParseAsset(text)
	}
	if kind, _ := model.KindOf(err); kind == model.NotFound { // the chain has no assets
		return nil, birth, err
	}
	if err != nil {
		return nil, birth, model.Errorf(model.Usage, "bad_value", "asset: %w; search finds assets by name", err)
	}
	unknown := model.Errorf(model.NotFound, "unknown_asset", "no asset %s", text)
	if fingerprint == nil {
		found, err := q.birth(schema.AssetSpace, id)
		if found == nil {
			return nil, birth, cmp.Or(err, unknown)
		}
		return id, model.AssetBirthPk{Utxo: found.Utxo, Index: found.Ordinal}, err
	}
	rows, err := q.R.GetMany(schema.FamilyFingerprint, [][]byte{fingerprint})
	if err != nil || rows[0] == nil {
		return nil, birth, cmp.Or(err, unknown)
	}
	if birth, err = model.ParseAssetBirthPk(rows[0]); err != nil {
		return nil, birth, err
	}
	ids, err := q.Many(schema.FamilyAssetID, rows)
	if err != nil {
		return nil, birth, err
	}
	return ids[0], birth, nil
}

// Many reads the values of keys of one family. A missing row is an error.
func (q *Reader) Many(f storage.Family, keys [][]byte) ([][]byte, error) {
	vs, err := q.R.GetMany(f, keys)
	if err != nil {
		return nil, err
	}
	for i, v := range vs {
		if v == nil {
			return nil, fmt.Errorf("row %x of %s is missing: run check", keys[i], q.FamilyName(f))
		}
	}
	return vs, nil
}

// TxIndex returns the position of a transaction in its block. Genesis transactions do not count.
func (q *Reader) TxIndex(pk model.TxPk) int {
	if pk.Height() == 0 && !q.IsGenesis(pk) {
		return pk.TxIndex() - int(q.Totals.GenesisTxs)
	}
	return pk.TxIndex()
}

// IsGenesis reports whether a transaction represents outputs that existed before the first block.
func (q *Reader) IsGenesis(pk model.TxPk) bool {
	return pk.Height() == 0 && uint64(pk.TxIndex()) < q.Totals.GenesisTxs
}
