package query

import (
	"context"
	"fmt"
	"math/big"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
)

// Asset returns the totals of an asset by its id or fingerprint. The number of reads does not depend on the activity
// of the asset.
func (ask Queries) Asset(ctx context.Context, id string) (a *AssetAnswer, err error) {
	err = ask.From(ctx, func(q *Query) error {
		raw, birth, err := q.Asset(id)
		if err != nil {
			return err
		}
		answers, err := q.assets([]model.AssetBirthPk{birth}, [][]byte{raw})
		if err == nil {
			a = &answers[0]
		}
		return err
	})
	return a, err
}

// assets returns the answers for assets, with a constant number of batched reads.
func (q *Query) assets(births []model.AssetBirthPk, ids [][]byte) ([]AssetAnswer, error) {
	keys := schema.Keys(births)
	rows, err := q.many(schema.FamilyAssetTotals, keys)
	if err != nil {
		return nil, err
	}
	txs := make([]model.TxPk, len(births))
	for i, birth := range births {
		txs[i] = birth.Utxo.Tx()
	}
	hashes, err := q.Hashes(txs)
	if err != nil {
		return nil, err
	}
	answers := make([]AssetAnswer, len(births))
	for i, birth := range births {
		t, err := schema.ParseAssetTotalsRow(rows[i])
		if err != nil {
			return nil, fmt.Errorf("totals of asset %s: %w", q.Chain.FormatAsset(ids[i]), err)
		}
		a := &answers[i]
		*a = AssetAnswer{
			Asset:     q.Chain.FormatAsset(ids[i]),
			FirstSeen: FirstSeenAnswer{hashes[birth.Utxo.Tx()], birth.Utxo.Index(), uint32(birth.Utxo.Height())},
			Minted:    t.Minted.String(), Burned: t.Burned.String(), Supply: new(big.Int).Sub(&t.Minted, &t.Burned).String(),
			MintCount: t.Mints, BurnCount: t.Burns, OutputCount: t.Outputs, UnspentCount: t.Unspent,
		}
		if fp := q.Traits.Fingerprint; fp != nil {
			a.Fingerprint = fp.Format(fp.Of(ids[i]))
		}
		if q.Holders() != nil {
			a.HolderCount = &t.Holders
		}
	}
	return answers, q.describe(answers, keys)
}

// describe adds the metadata that was registered when the assets were minted.
func (q *Query) describe(answers []AssetAnswer, births [][]byte) error {
	describer, ok := q.Chain.(model.AssetDescriber)
	if !ok {
		return nil
	}
	infos, err := q.R.GetMany(schema.FamilyAssetInfo, births)
	if err != nil {
		return err
	}
	for i, info := range infos {
		if info != nil {
			d := describer.DescribeAsset(info)
			answers[i].Name, answers[i].Description, answers[i].Decimals = d.Name, d.Description, d.Decimals
		}
	}
	return nil
}

// AssetEvents returns a page of the mints and burns of an asset in r.
func (ask Queries) AssetEvents(ctx context.Context, id string, r Range, p Page) (a *AssetEventsAnswer, err error) {
	err = ask.From(ctx, func(q *Query) error {
		limit, err := p.limit()
		if err != nil {
			return err
		}
		raw, birth, err := q.Asset(id)
		if err != nil {
			return err
		}
		list := cursorScope("asset-events", string(raw), r.String(), order(p.Descending))
		s, err := q.Span(r)
		if err != nil {
			return err
		}
		if s, err = q.behindTx(s, p, list); err != nil {
			return err
		}
		from, to := s.First.AppendTo(birth.AppendTo(nil)), append(s.Last.AppendTo(birth.AppendTo(nil)), 0)
		a = &AssetEventsAnswer{Asset: q.Chain.FormatAsset(raw), Events: []AssetEventAnswer{}}
		if s.Empty() {
			return nil
		}
		var txs []model.TxPk
		for row, err := range schema.Rows(q.R, schema.FamilyAssetSupply, from, to, p.Descending, schema.ParseSupplyRow) {
			if err != nil {
				return err
			}
			if len(txs) == limit {
				last := txs[limit-1]
				if a.Next, err = q.next(list, last.Height(), last.AppendTo(nil)); err != nil {
					return err
				}
				break
			}
			tx, action := row.Tx, "mint"
			if row.Amount.Sign() < 0 {
				action = "burn"
			}
			txs = append(txs, tx)
			a.Events = append(a.Events, AssetEventAnswer{Height: uint32(tx.Height()), Index: q.txIndex(tx), Action: action, Amount: row.Amount.String()})
		}
		hashes, err := q.Hashes(slices.Clone(txs))
		for i, tx := range txs {
			a.Events[i].Tx = hashes[tx]
		}
		return err
	})
	return a, err
}

// AssetHolders returns a page of the addresses that hold an asset, with their amounts, in the order in which the
// addresses first occurred. It reads only the holders of the page.
func (ask Queries) AssetHolders(ctx context.Context, id string, p Page) (a *AssetHoldersAnswer, err error) {
	err = ask.From(ctx, func(q *Query) error {
		limit, err := p.limit()
		if err != nil {
			return err
		}
		raw, birth, err := q.Asset(id)
		if err != nil {
			return err
		}
		x, err := q.Index(schema.HoldersIndex)
		if err != nil {
			return err
		}
		list := cursorScope("asset-holders", string(raw), order(p.Descending))
		position, err := q.after(p, list, model.PkSize)
		if err != nil {
			return err
		}
		from, to := schema.Between(birth.AppendTo(nil), position, p.Descending)
		a = &AssetHoldersAnswer{Asset: q.Chain.FormatAsset(raw), Holders: []HolderAnswer{}}
		var births []model.UtxoPk
		for row, err := range schema.Rows(q.R, schema.FamilyHoldings, from, to, p.Descending, schema.ParseHoldingRow) {
			if err != nil {
				return err
			}
			if len(births) == limit {
				last := births[limit-1]
				if a.Next, err = q.next(list, last.Height(), last.AppendTo(nil)); err != nil {
					return err
				}
				break
			}
			births = append(births, row.Holder.Utxo)
			a.Holders = append(a.Holders, HolderAnswer{Amount: row.Amount.String()})
		}
		values, err := q.many(x.Family(schema.IndexValue), schema.Keys(births))
		for i, v := range values {
			a.Holders[i].Address = x.Format(v)
		}
		return err
	})
	return a, err
}
