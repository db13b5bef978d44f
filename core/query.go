package core

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	"birthmark/model"
	"birthmark/storage"
)

// query answers from one snapshot.
type query struct {
	*catalogue
	store  storage.Store
	names  *names
	ctx    context.Context
	r      storage.Reader
	era    uint64 // see names
	tip    model.Point
	totals totals // not to be changed
	work   *indexWork
	most   int // rows that may be gone through; 0: no limit
	passed int // rows that were gone through
}

// pass counts rows that are gone through. It is an error when there are too many of them, or when the context has
// ended.
func (q *query) pass(rows int) error {
	if q.passed += rows; q.most > 0 && q.passed > q.most {
		return ErrTooManyRows
	}
	return q.ctx.Err()
}

// Status says what the database holds.
func (ask Queries) Status(ctx context.Context) (a *StatusAnswer, err error) {
	err = ask.from(ctx, func(q *query) error {
		t := &q.totals
		a = &StatusAnswer{
			Chain: q.chain.Name(), Network: q.chain.Network(), Format: FormatVersion,
			Indexes: []IndexAnswer{},
			Totals: TotalsAnswer{
				Blocks:         t.rows[familyBlock],
				Txs:            t.rows[familyTxHash] - t.genesisTxs,
				Inputs:         t.rows[familySpentUtxo],
				Outputs:        t.rows[familyUtxo] - t.genesisOutputs,
				Assets:         t.assets,
				GenesisOutputs: t.genesisOutputs,
				Unspent:        t.rows[familyUtxo] - t.rows[familySpentInput],
				UnspentValue:   strconv.FormatUint(t.unspentValue, 10),
			},
		}
		if !q.tip.IsOrigin() {
			row, err := blockAt(q.r, q.tip.Height)
			if err != nil {
				return err
			}
			a.Tip = &TipAnswer{uint32(q.tip.Height), q.chain.FormatHash(q.tip.Hash), row.time}
		}
		for _, x := range q.indexes {
			a.Indexes = append(a.Indexes, indexAnswer(x, t))
		}
		sizer, _ := q.store.(storage.Sizer)
		for _, d := range q.declarations() {
			f := FamilyAnswer{Name: d.Name, Keys: t.rows[d.Family]}
			if q.work != nil {
				f.Keys += q.work.rows[d.Family]
			}
			if d.Family == familyMeta || !determined(d.Family) { // few rows, which meta does not count
				for _, err := range q.r.Scan(d.Family, nil, nil, false) {
					if err != nil {
						return err
					}
					f.Keys++
				}
			}
			if sizer != nil {
				var err error
				if f.Bytes, err = sizer.Size(d.Family); err != nil {
					return err
				}
			}
			a.Families = append(a.Families, f)
		}
		return nil
	})
	return a, err
}

// indexAnswer describes an index.
func indexAnswer(x *index, t *totals) IndexAnswer {
	a := IndexAnswer{Name: x.Name, Kind: x.Kind.String(), Values: t.rows[x.family(indexValue)], Keeps: (x.live &^ partValues).names()}
	if d, own := x.Definition(); own {
		a.When, a.Value = d.When, d.Value
	}
	return a
}

// Block is one block by hash, height or "tip".
func (ask Queries) Block(ctx context.Context, ref string) (a *BlockAnswer, err error) {
	err = ask.from(ctx, func(q *query) error {
		h, err := q.height(ref)
		if err != nil {
			return err
		}
		row, err := blockAt(q.r, h)
		if err != nil {
			return err
		}
		a = &BlockAnswer{
			Chain: q.chain.Name(), Height: uint32(h), Hash: q.chain.FormatHash(row.hash), PrevHash: formatParent(q.chain, row.parent),
			Time: row.time, Size: row.size, TxCount: row.txCount, Txs: make([]string, 0, row.txCount),
		}
		if a.Header, err = q.chain.Header(row.header); err != nil {
			return fmt.Errorf("header of block %d: %w", h, err)
		}
		from := h.First()
		if h == 0 {
			if from, err = model.NewTxPk(0, int(q.totals.genesisTxs)); err != nil {
				return err
			}
		}
		for kv, err := range q.r.Scan(familyTxHash, from.AppendTo(nil), (h + 1).First().AppendTo(nil), false) {
			if err != nil {
				return err
			}
			hash, _, err := parseTxHashRow(kv.Value)
			if err != nil {
				return err
			}
			a.Txs = append(a.Txs, q.chain.FormatHash(hash))
		}
		return nil
	})
	return a, err
}

// formatParent leaves out the parent of a first block.
func formatParent(c model.Chain, parent model.Hash) string {
	if parent == (model.Hash{}) {
		return ""
	}
	return c.FormatHash(parent)
}

// height is the height a block is named by.
func (q *query) height(ref string) (model.HeightPk, error) {
	if ref == "tip" {
		if q.tip.IsOrigin() {
			return 0, model.Errorf(model.NotFound, "unknown_block", "no tip: the database has no blocks yet")
		}
		return q.tip.Height, nil
	}
	if n, err := strconv.ParseUint(ref, 10, 64); err == nil && len(ref) < 20 {
		h, err := model.NewHeightPk(n)
		if err != nil {
			return 0, model.Errorf(model.NotFound, "unknown_block", "no block at height %d: the tip is %d", n, q.tip.Height)
		}
		return h, nil
	}
	hash, err := q.chain.ParseHash(ref)
	if err != nil {
		return 0, model.Errorf(model.Usage, "bad_value", "block %q is neither tip, a height nor a hash: %w", ref, err)
	}
	b, err := q.r.Get(familyHeight, hash[:])
	if errors.Is(err, storage.ErrNotFound) {
		return 0, model.Errorf(model.NotFound, "unknown_block", "no block %s", ref)
	}
	if err != nil {
		return 0, err
	}
	h, _, err := parseHeightRow(b)
	return h, err
}

// tx is the newest transaction with a hash.
func (q *query) tx(text string) (model.TxPk, error) {
	hash, err := q.chain.ParseHash(text)
	if err != nil {
		return 0, model.Errorf(model.Usage, "bad_value", "transaction %q: %w", text, err)
	}
	found, err := txPks(q.r, []model.Hash{hash})
	if err != nil {
		return 0, err
	}
	if len(found[0]) == 0 {
		return 0, model.Errorf(model.NotFound, "unknown_tx", "no transaction %s", text)
	}
	return found[0][0], nil
}

// txIndex is a transaction's position in its block: what existed before the first block does not count.
func (q *query) txIndex(pk model.TxPk) int {
	if pk.Height() == 0 && !q.isGenesis(pk) {
		return pk.TxIndex() - int(q.totals.genesisTxs)
	}
	return pk.TxIndex()
}

func (q *query) isGenesis(pk model.TxPk) bool {
	return pk.Height() == 0 && uint64(pk.TxIndex()) < q.totals.genesisTxs
}

// value reads a value of an index. Its birth is nil if no output has it: that is no error.
func (q *query) value(name, text string) (*index, []byte, *model.BirthPk, error) {
	x, err := q.index(name)
	if err != nil {
		return nil, nil, nil, err
	}
	value, err := x.Parse(text)
	if err != nil {
		return nil, nil, nil, model.Errorf(model.Usage, "bad_value", "%s %q: %w", name, text, err)
	}
	birth, err := q.birth(x.number, value)
	return x, value, birth, err
}

// asset is the id of an asset, and where it was born. People name it by its id or by its fingerprint.
func (q *query) asset(text string) ([]byte, model.AssetBirthPk, error) {
	var fingerprint, id []byte
	var err error
	if fp := q.traits.Fingerprint; fp != nil {
		fingerprint, err = fp.Parse(text)
	}
	if fingerprint == nil && err == nil {
		id, err = q.chain.ParseAsset(text)
	}
	if kind, _ := model.KindOf(err); kind == model.NotFound { // of a chain without assets
		return nil, model.AssetBirthPk{}, err
	}
	if err != nil {
		return nil, model.AssetBirthPk{}, model.Errorf(model.Usage, "bad_value", "asset %q: %w", text, err)
	}
	unknown := model.Errorf(model.NotFound, "unknown_asset", "no asset %s", text)
	if fingerprint == nil {
		birth, err := q.birth(assetSpace, id)
		if err == nil && birth == nil {
			err = unknown
		}
		if err != nil {
			return nil, model.AssetBirthPk{}, err
		}
		return id, model.AssetBirthPk{Utxo: birth.Utxo, Index: birth.Ordinal}, nil
	}
	b, err := q.r.Get(familyFingerprint, fingerprint)
	if errors.Is(err, storage.ErrNotFound) {
		err = unknown
	}
	if err != nil {
		return nil, model.AssetBirthPk{}, err
	}
	birth, err := model.ParseAssetBirthPk(b)
	if err != nil {
		return nil, birth, err
	}
	ids, err := q.many(familyAssetID, [][]byte{b})
	if err != nil {
		return nil, birth, err
	}
	return ids[0], birth, nil
}

// many reads the values of keys of one family, all of which must be there.
func (q *query) many(f storage.Family, keys [][]byte) ([][]byte, error) {
	vs, err := q.r.GetMany(f, keys)
	if err != nil {
		return nil, err
	}
	for i, v := range vs {
		if v == nil {
			return nil, fmt.Errorf("row %x of %s is missing: run check", keys[i], q.familyName(f))
		}
	}
	return vs, nil
}

// index is an index of the database by name.
func (q *query) index(name string) (*index, error) { return q.lookup(name, q.tip, q.work) }
