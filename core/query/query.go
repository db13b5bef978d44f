package query

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"birthmark/core/query/pointers"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Query reads one snapshot.
type Query struct {
	pointers.Reader
	sizer  storage.Sizer
	gap    int    // of wallets; 0: DefaultGap
	most   int    // maximum number of rows to read; 0: no limit
	passed int    // rows read so far
	ahead  *Ahead // of a list; nil: each page is read by itself
}

// Unlimited returns the query without a limit on the rows of scans: see [pointers.Scans.Unlimited].
func (q *Query) Unlimited() *Query {
	free := *q
	free.R = q.R.With(q.Ctx)
	free.R.Unlimited()
	return &free
}

// Pass counts rows that are read. It returns [ErrTooManyRows] above the limit, or the error of the context.
func (q *Query) Pass(rows int) error {
	if q.passed += rows; q.most > 0 && q.passed > q.most {
		return ErrTooManyRows
	}
	return q.Ctx.Err()
}

// Status describes the contents of the database.
func (qs Queries) Status(ctx context.Context) (*StatusAnswer, error) {
	return read(ctx, qs, func(q *Query) (*StatusAnswer, error) {
		t := &q.Totals
		a := &StatusAnswer{
			Chain: q.Chain.Name(), Network: q.Chain.Network(), Format: schema.FormatVersion,
			Indexes: []IndexAnswer{},
			Totals: TotalsAnswer{
				Blocks:         t.Rows[schema.FamilyBlock],
				Txs:            t.Rows[schema.FamilyTxHash] - t.GenesisTxs,
				Inputs:         t.Rows[schema.FamilySpentUtxo],
				Outputs:        t.Rows[schema.FamilyUtxo] - t.GenesisOutputs,
				Assets:         t.Assets,
				GenesisOutputs: t.GenesisOutputs,
				Unspent:        t.Rows[schema.FamilyUtxo] - t.Rows[schema.FamilySpentInput],
				UnspentValue:   strconv.FormatUint(t.UnspentValue, 10),
			},
		}
		if !q.Tip.IsOrigin() {
			var err error
			if a.Tip, err = q.tip(); err != nil {
				return nil, err
			}
		}
		for _, x := range q.Indexes {
			a.Indexes = append(a.Indexes, indexAnswer(x, t))
		}
		for _, d := range q.Declarations() {
			f := FamilyAnswer{Name: d.Name}
			var err error
			if f.Keys, err = q.rowsOf(d.Family); err != nil {
				return nil, err
			}
			if q.sizer != nil {
				if f.Bytes, err = q.sizer.Size(d.Family); err != nil {
					return nil, err
				}
			}
			a.Families = append(a.Families, f)
		}
		return a, nil
	})
}

// rowsOf returns the number of rows of a family; nil if it is known only by a scan of as many rows as the chain has blocks.
func (q *Query) rowsOf(f storage.Family) (*uint64, error) {
	n := q.Totals.Rows[f]
	if q.Change != nil {
		n += q.Change.Rows[f]
	}
	switch f {
	case schema.FamilyMeta: // a few rows per index
		for _, err := range q.R.Scan(f, nil, nil, false) {
			if err != nil {
				return nil, err
			}
			n++
		}
	case schema.FamilyOrphanBlock:
		last, err := schema.LastOrphan(q.R)
		if err != nil {
			return nil, err
		}
		n = min(last.Number, schema.MaxOrphans)
	case schema.FamilyPlace, schema.FamilySizes: // not every block has a row
		return nil, nil
	}
	return &n, nil
}

// Tip returns the last block. It is NotFound (unknown_block) before the first block.
func (qs Queries) Tip(ctx context.Context) (*TipAnswer, error) {
	return read(ctx, qs, func(q *Query) (*TipAnswer, error) {
		if q.Tip.IsOrigin() {
			return nil, errNoTip
		}
		return q.tip()
	})
}

var errNoTip = model.Errorf(model.NotFound, "unknown_block", "no tip: the database has no blocks yet")

// tip returns the last block, which must exist.
func (q *Query) tip() (*TipAnswer, error) {
	row, err := schema.BlockAt(q.R, q.Tip.Height)
	return &TipAnswer{uint32(q.Tip.Height), q.Chain.FormatHash(q.Tip.Hash), row.Time}, err
}

func indexAnswer(x *schema.Index, t *schema.Totals) IndexAnswer {
	a := IndexAnswer{Name: x.Name, Kind: x.Kind.String(), Values: t.Rows[x.Family(schema.IndexValue)], Keeps: (x.Active &^ schema.FeatureValues).Names()}
	switch {
	case x.IsRules():
		a.Kind, a.Values = AssetsKind, t.Rows[schema.FamilyAssetID]
	case x.IsRaw():
		a.Kind, a.Values = "raw_transactions", t.Rows[schema.FamilyRaw]
		if x.IsPlaces() {
			a.Kind = "raw_places"
		}
	case x.Kind == model.PerBlock:
		a.Values = t.Rows[x.Family(schema.IndexBlocks)] // blocks, because the values are not counted
	case x.Kind == model.Sums:
		a.Values = t.Rows[x.Family(schema.IndexSums)] // likewise
	}
	if d, own := x.Definition(); own {
		a.When, a.Value = d.When, d.Value
	}
	return a
}

// Block returns one block by hash or height, or "tip" or "latest", "tip-N", N blocks below it, or "genesis", the first block of
// the chain.
func (qs Queries) Block(ctx context.Context, ref string) (*BlockAnswer, error) {
	return read(ctx, qs, func(q *Query) (*BlockAnswer, error) {
		a, err := q.blockOf(ref)
		if err != nil {
			return nil, err
		}
		h := model.HeightPk(a.Height)
		from, err := q.txAt(h, 0)
		if err != nil {
			return nil, err
		}
		if err := q.R.HoldHashes(a.TxCount); err != nil {
			return nil, err
		}
		a.Txs = make([]string, 0, a.TxCount)
		for kv, err := range q.R.Scan(schema.FamilyTxHash, from.AppendTo(nil), q.FirstPk(h+1).AppendTo(nil), false) {
			if err != nil {
				return nil, err
			}
			hash, _, err := schema.ParseTxHashRow(kv.Value)
			if err != nil {
				return nil, err
			}
			a.Txs = append(a.Txs, q.Chain.FormatHash(hash))
		}
		return a, nil
	})
}

// BlockHeader is [Queries.Block] without the hashes of transactions, of which a block can have millions.
func (qs Queries) BlockHeader(ctx context.Context, ref string) (*BlockAnswer, error) {
	return read(ctx, qs, func(q *Query) (*BlockAnswer, error) { return q.blockOf(ref) })
}

// BlockTxHashes returns the hashes of transactions of the block at a height by their positions in [BlockAnswer], which
// must exist.
func (qs Queries) BlockTxHashes(ctx context.Context, height uint32, positions []int) ([]string, error) {
	return read(ctx, qs, func(q *Query) ([]string, error) {
		pks := make([]model.TxPk, len(positions))
		for i, position := range positions {
			var err error
			if pks[i], err = q.txAt(model.HeightPk(height), position); err != nil {
				return nil, err
			}
		}
		rows, err := q.Many(schema.FamilyTxHash, schema.Keys(pks))
		if err != nil {
			return nil, err
		}
		hashes := make([]string, len(rows))
		for i, row := range rows {
			hash, _, err := schema.ParseTxHashRow(row)
			if err != nil {
				return nil, fmt.Errorf("transaction %v: %w", pks[i], err)
			}
			hashes[i] = q.Chain.FormatHash(hash)
		}
		return hashes, nil
	})
}

// txAt returns the pointer to a transaction by its position in the [BlockAnswer] of the block at h.
func (q *Query) txAt(h model.HeightPk, position int) (model.TxPk, error) {
	if h == 0 {
		position += int(q.Totals.GenesisTxs)
	}
	return q.NewTxPk(h, position)
}

// blockOf returns a block without its transactions.
func (q *Query) blockOf(ref string) (*BlockAnswer, error) {
	h, err := q.height(ref)
	if err != nil {
		return nil, err
	}
	row, err := schema.BlockAt(q.R, h)
	if err != nil {
		return nil, err
	}
	a := &BlockAnswer{
		Chain: q.Chain.Name(), Height: uint32(h), Hash: q.Chain.FormatHash(row.Hash), PrevHash: FormatParent(q.Chain, row.Parent),
		Time: row.Time, Size: row.Size, TxCount: row.TxCount,
	}
	if a.Header, err = q.Chain.Header(row.Header); err != nil {
		return nil, fmt.Errorf("header of block %d: %w", h, err)
	}
	return a, nil
}

// FormatParent formats the parent hash of a block; it is empty for the first block.
func FormatParent(c model.Chain, parent model.Hash) string {
	if parent == (model.Hash{}) {
		return ""
	}
	return c.FormatHash(parent)
}

// belowTip returns the height of a number of blocks below the tip.
func (q *Query) belowTip(blocks string) (model.HeightPk, error) {
	n, err := strconv.ParseUint(blocks, 10, 64)
	switch {
	case err != nil:
		return 0, model.Errorf(model.Usage, "bad_value", "tip-%s: expected a number of blocks after tip-", blocks)
	case q.Tip.IsOrigin():
		return 0, errNoTip
	case n > uint64(q.Tip.Height):
		return 0, model.Errorf(model.NotFound, "unknown_block", "no block %d below the tip, which is block %d", n, q.Tip.Height)
	}
	return q.Tip.Height - model.HeightPk(n), nil
}

// height resolves a block reference.
func (q *Query) height(ref string) (model.HeightPk, error) {
	if ref == "tip" || ref == "latest" {
		ref = "tip-0"
	}
	if blocks, ok := strings.CutPrefix(ref, "tip-"); ok {
		return q.belowTip(blocks)
	}
	if ref == "genesis" {
		return q.genesis()
	}
	if n, err := strconv.ParseUint(ref, 10, 64); err == nil && len(ref) < 20 {
		h, err := model.NewHeightPk(n)
		if err != nil {
			return 0, model.Errorf(model.NotFound, "unknown_block", "no block at height %d: the tip is %d", n, q.Tip.Height)
		}
		return h, nil
	}
	hash, err := q.Chain.ParseHash(ref)
	if err != nil {
		return 0, model.Errorf(model.Usage, "bad_value", "a block is named by its hash, its height, tip, tip-N or genesis: %w", err)
	}
	b, err := q.R.Get(schema.FamilyHeight, hash[:])
	if errors.Is(err, storage.ErrNotFound) {
		return 0, model.Errorf(model.NotFound, "unknown_block", "no block %s", ref)
	}
	if err != nil {
		return 0, err
	}
	h, _, err := schema.ParseHeightRow(b)
	return h, err
}

// genesis returns the height of the first block: 0, or on some chains 1.
func (q *Query) genesis() (model.HeightPk, error) {
	for kv, err := range q.R.Scan(schema.FamilyBlock, nil, nil, false) {
		if err != nil {
			return 0, err
		}
		return model.ParseHeightPk(kv.Key)
	}
	return 0, model.Errorf(model.NotFound, "unknown_block", "no first block: the database has no blocks yet")
}

// tx returns the newest transaction with a hash.
func (q *Query) tx(text string) (model.TxPk, error) {
	hash, err := q.Chain.ParseHash(text)
	if err != nil {
		return 0, model.Errorf(model.Usage, "bad_value", "transaction: %w", err)
	}
	found, err := schema.TxPks(q.R, []model.Hash{hash})
	if err != nil {
		return 0, err
	}
	if len(found[0]) == 0 {
		return 0, model.Errorf(model.NotFound, "unknown_tx", "no transaction %s", text)
	}
	return found[0][0], nil
}
