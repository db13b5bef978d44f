package query

import (
	"context"
	"fmt"
	"math/big"

	"birthmark/core/schema"
	"birthmark/model"
)

// Asset returns the totals of an asset by its id or fingerprint. The number of reads does not depend on the activity
// of the asset.
func (qs Queries) Asset(ctx context.Context, id string) (*AssetAnswer, error) {
	return read(ctx, qs, func(q *Query) (*AssetAnswer, error) {
		raw, birth, err := q.Asset(id)
		if err != nil {
			return nil, err
		}
		answers, err := q.assets([]model.AssetBirthPk{birth}, [][]byte{raw})
		return only(answers, err)
	})
}

// only returns the single answer of a query for several items.
func only[T any](answers []T, err error) (*T, error) {
	if err != nil {
		return nil, err
	}
	return &answers[0], nil
}

// assets returns the answers for assets, with a constant number of batched reads.
func (q *Query) assets(births []model.AssetBirthPk, ids [][]byte) ([]AssetAnswer, error) {
	keys := schema.Keys(births)
	rows, err := q.Many(schema.FamilyAssetTotals, keys)
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
			FirstSeen: firstSeen(birth.Utxo, hashes),
			Minted:    t.Minted.String(), Burned: t.Burned.String(), Supply: new(big.Int).Sub(&t.Minted, &t.Burned).String(),
			MintCount: t.Mints, BurnCount: t.Burns, OutputCount: t.Outputs, UnspentCount: t.Unspent,
		}
		if q.Holders() != nil {
			a.HolderCount = &t.Holders
		}
	}
	return answers, q.describe(answers, ids, keys)
}

// describe adds the fingerprints, and the metadata that was registered when the assets were minted.
func (q *Query) describe(answers []AssetAnswer, ids, births [][]byte) error {
	describer, ok := q.Chain.(model.AssetDescriber)
	infos := make([][]byte, len(births))
	if ok {
		var err error
		if infos, err = q.R.GetMany(schema.FamilyAssetInfo, births); err != nil {
			return err
		}
	}
	for i, info := range infos {
		if fp := q.Traits.Fingerprint; fp != nil {
			if name := fp.Of(ids[i], info); name != nil {
				answers[i].Fingerprint = fp.Format(name)
			}
		}
		if info != nil {
			d := describer.DescribeAsset(info)
			answers[i].Name, answers[i].Description, answers[i].Decimals = d.Name, d.Description, d.Decimals
		}
	}
	return nil
}

// AssetEvents returns a page of the mints and burns of an asset in r.
func (qs Queries) AssetEvents(ctx context.Context, id string, r Range, p Page) (*AssetEventsAnswer, error) {
	return read(ctx, qs, func(q *Query) (*AssetEventsAnswer, error) {
		raw, birth, err := q.Asset(id)
		if err != nil {
			return nil, err
		}
		l, err := q.list(p, "asset-events", string(raw), r.String())
		if err != nil {
			return nil, err
		}
		s, err := l.span(r, true)
		a := &AssetEventsAnswer{Asset: q.Chain.FormatAsset(raw), Events: []AssetEventAnswer{}}
		if err != nil || s.Empty() {
			return a, err
		}
		from, to := s.Keys(birth.AppendTo(nil))
		rows := schema.Rows(q.R, schema.FamilyAssetSupply, from, to, p.Descending, schema.ParseSupplyRow)
		events, next, err := page(l, rows, func(row *schema.SupplyRow) position {
			return position{row.Tx.Height(), row.Tx.AppendTo(nil)}
		})
		if err != nil {
			return nil, err
		}
		a.Next = next
		txs := make([]model.TxPk, len(events))
		for i := range events {
			txs[i] = events[i].Tx
		}
		hashes, err := q.Hashes(txs)
		for _, e := range events {
			for _, amount := range supplyEvents(&e) {
				action := "mint"
				if amount.Sign() < 0 {
					action = "burn"
				}
				answer := AssetEventAnswer{hashes[e.Tx], uint32(e.Tx.Height()), q.TxIndex(e.Tx), action, amount.String()}
				a.Events = append(a.Events, answer)
			}
		}
		return a, err
	})
}

// supplyEvents returns what a transaction mints, then what it burns as a negative number. On a chain with derived assets
// it can do both, so a page can have more entries than its limit.
func supplyEvents(s *schema.SupplyRow) (amounts []*big.Int) {
	if s.Mints {
		amounts = append(amounts, s.Minted)
	}
	if s.Burns {
		amounts = append(amounts, new(big.Int).Neg(s.Burned))
	}
	return amounts
}

// AssetHolders returns a page of the addresses that hold an asset, with their amounts, in the order in which the
// addresses first occurred. It reads only the holders of the page.
func (qs Queries) AssetHolders(ctx context.Context, id string, p Page) (*AssetHoldersAnswer, error) {
	return read(ctx, qs, func(q *Query) (*AssetHoldersAnswer, error) {
		raw, birth, err := q.Asset(id)
		if err != nil {
			return nil, err
		}
		x, err := q.Index(schema.HoldersIndex)
		if err != nil {
			return nil, err
		}
		l, err := q.list(p, "asset-holders", string(raw))
		if err != nil {
			return nil, err
		}
		start, err := l.start(model.PkSize)
		if err != nil {
			return nil, err
		}
		from, to := schema.Between(birth.AppendTo(nil), start, p.Descending)
		rows := schema.Rows(q.R, schema.FamilyHoldings, from, to, p.Descending, schema.ParseHoldingRow)
		holders, next, err := page(l, rows, func(h *schema.HoldingRow) position { return at(h.Holder.Utxo) })
		if err != nil {
			return nil, err
		}
		births := make([]model.UtxoPk, len(holders))
		for i, h := range holders {
			births[i] = h.Holder.Utxo
		}
		a := &AssetHoldersAnswer{Asset: q.Chain.FormatAsset(raw), Holders: []HolderAnswer{}, Next: next}
		values, err := q.Many(x.Family(schema.IndexValue), schema.Keys(births))
		for i, v := range values {
			a.Holders = append(a.Holders, HolderAnswer{x.Format(v), holders[i].Amount.String()})
		}
		return a, err
	})
}
