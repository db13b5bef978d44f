package ledger_test

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"birthmark/core/ledger"
	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// tx is a transaction of a random history.
type tx struct {
	pk             model.TxPk
	spent, created []output
	mints          map[model.AssetBirthPk]int64 // negative if burned
}

type output struct {
	pk     model.UtxoPk
	value  uint64
	births map[*schema.Index][]model.BirthPk
	ledger.OutputAssets
}

// history returns n transactions that move values and assets between few holders, so that amounts return to zero.
func history(l *schema.Layout, rng *rand.Rand, n int) (txs []tx) {
	var unspent []output
	births := map[*schema.Index][]model.BirthPk{}
	var assets []model.AssetBirthPk
	for i := range n {
		pk, err := l.NewTxPk(model.HeightPk(i/3), i%3)
		if err != nil {
			panic(err)
		}
		t := tx{pk: pk, mints: map[model.AssetBirthPk]int64{}}
		for range min(rng.IntN(4), len(unspent)) {
			at := rng.IntN(len(unspent))
			t.spent = append(t.spent, unspent[at])
			unspent = slices.Delete(unspent, at, at+1)
		}
		for range rng.IntN(4) {
			o := output{value: rng.Uint64N(5), births: map[*schema.Index][]model.BirthPk{}}
			o.pk = model.UtxoPk(pk) + model.UtxoPk(len(t.created))
			for _, x := range l.Indexes {
				for ordinal := range uint16(rng.IntN(3)) {
					if ordinal > 0 && !x.Kind.HasOrdinal() {
						break
					}
					if rng.IntN(4) == 0 || len(births[x]) == 0 {
						births[x] = append(births[x], model.BirthPk{Utxo: o.pk, Ordinal: ordinal})
					}
					birth := births[x][rng.IntN(len(births[x]))]
					if !slices.Contains(o.births[x], birth) {
						o.births[x] = append(o.births[x], birth)
					}
					if x == l.Holders() {
						o.Holder, o.HasHolder = birth, true
					}
				}
			}
			for entry := range uint16(rng.IntN(3)) {
				if rng.IntN(4) == 0 || len(assets) == 0 {
					assets = append(assets, model.AssetBirthPk{Utxo: o.pk, Index: entry})
				}
				asset := assets[rng.IntN(len(assets))]
				amount := 1 + rng.Uint64N(3)
				if rng.IntN(9) == 0 {
					amount = math.MaxUint64
				}
				o.Entries = append(o.Entries, schema.AssetEntry{Birth: asset, Amount: model.Uint128Of(amount)})
				t.mints[asset] = rng.Int64N(9) - 4
			}
			t.created, unspent = append(t.created, o), append(unspent, o)
		}
		maps.DeleteFunc(t.mints, func(_ model.AssetBirthPk, amount int64) bool { return amount == 0 })
		txs = append(txs, t)
	}
	return txs
}

type rows map[string]string // by family and key

func (r rows) put(f storage.Family, key, value []byte) {
	r[fmt.Sprintf("%d %x", f, key)] = fmt.Sprintf("%x", value)
}

// rowsOf computes the rows of a history, each sum over all transactions.
func rowsOf(l *schema.Layout, txs []tx) rows {
	all := rows{}
	put := func(x *schema.Index, which storage.Family, key, value []byte) {
		if x.Active.Has(schema.FeatureOf(which)) {
			all.put(x.Family(which), key, value)
		}
	}
	spent := map[model.UtxoPk]bool{}
	for _, t := range txs {
		for _, o := range t.spent {
			spent[o.pk] = true
		}
	}
	for _, x := range l.Indexes {
		accounts := map[model.BirthPk]*schema.Account{}
		held := map[schema.HoldingKey]model.Uint128{}
		for _, t := range txs {
			amounts := map[model.BirthPk]*schema.TxAmounts{}
			in := func(birth model.BirthPk) (*schema.Account, *schema.TxAmounts) {
				if accounts[birth] == nil {
					accounts[birth] = &schema.Account{}
				}
				if amounts[birth] == nil {
					amounts[birth] = &schema.TxAmounts{}
					accounts[birth].Txs++
				}
				return accounts[birth], amounts[birth]
			}
			for _, o := range t.spent {
				for _, birth := range o.births[x] {
					a, m := in(birth)
					a.Sent, m.Sent = a.Sent.Add(schema.Int128Of(o.value, 1)), m.Sent+o.value
				}
			}
			for _, o := range t.created {
				for _, birth := range o.births[x] {
					a, m := in(birth)
					a.Received, m.Received = a.Received.Add(schema.Int128Of(o.value, 1)), m.Received+o.value
					a.Outputs++
					if spent[o.pk] {
						continue
					}
					a.Unspent++
					put(x, schema.IndexUnspent, schema.AppendRelationKey(nil, x, birth, o.pk), nil)
					for _, e := range o.Entries {
						key := schema.HoldingKey{Asset: e.Birth, Holder: birth}
						held[key], _ = held[key].Add(e.Amount)
					}
				}
			}
			for birth, m := range amounts {
				put(x, schema.IndexHistory, schema.AppendHistoryKey(nil, x, birth, t.pk), schema.AppendHistoryRow(nil, *m))
			}
		}
		for birth, a := range accounts {
			put(x, schema.IndexBalance, birth.AppendTo(nil, x.Kind.HasOrdinal()), schema.AppendAccountRow(nil, a))
		}
		for k, amount := range held {
			put(x, schema.IndexHeld, schema.AppendHeldKey(nil, x, k.Holder, k.Asset), schema.AppendHolding(nil, amount))
		}
	}
	totals := map[model.AssetBirthPk]*schema.AssetTotals{}
	holdings := map[schema.HoldingKey]model.Uint128{}
	for _, t := range txs {
		for _, o := range t.created {
			counted := map[model.AssetBirthPk]bool{}
			for _, e := range o.Entries {
				if totals[e.Birth] == nil {
					totals[e.Birth] = &schema.AssetTotals{}
				}
				if !counted[e.Birth] {
					totals[e.Birth].Outputs++
				}
				if !counted[e.Birth] && !spent[o.pk] {
					totals[e.Birth].Unspent++
				}
				counted[e.Birth] = true
				if o.HasHolder && !spent[o.pk] {
					key := schema.HoldingKey{Asset: e.Birth, Holder: o.Holder}
					holdings[key], _ = holdings[key].Add(e.Amount)
				}
			}
		}
		for asset, amount := range t.mints {
			if amount > 0 {
				totals[asset].Mints++
				totals[asset].Minted.Add(&totals[asset].Minted, big.NewInt(amount))
			} else {
				totals[asset].Burns++
				totals[asset].Burned.Sub(&totals[asset].Burned, big.NewInt(amount))
			}
		}
	}
	for k, amount := range holdings {
		totals[k.Asset].Holders++
		all.put(schema.FamilyHoldings, schema.AppendHoldingKey(nil, k), schema.AppendHolding(nil, amount))
	}
	for asset, t := range totals {
		all.put(schema.FamilyAssetTotals, asset.AppendTo(nil), schema.AppendAssetTotalsRow(nil, t))
	}
	return all
}

// write applies transactions (sign 1), or removes them (-1).
func write(t *testing.T, l *schema.Layout, s storage.Store, totals *schema.Totals, txs []tx, sign int64) {
	t.Helper()
	var assets ledger.AssetDeltas
	deltas := ledger.NewDeltas(l, sign)
	if txs = slices.Clone(txs); sign < 0 {
		slices.Reverse(txs)
	}
	for _, t := range txs {
		add := func(o *output, spends bool) {
			for x, births := range o.births {
				d, movement := ledger.DeltasOf(deltas, x), int64(1)
				if d == nil {
					continue
				}
				for _, birth := range births {
					if spends {
						d.AddSpend(birth, t.pk, o.pk, o.value)
						movement = -1
					} else {
						d.AddOutput(birth, o.pk, o.value)
					}
					d.AddAssets(birth, o.Entries, movement)
				}
			}
		}
		for i := range t.spent {
			add(&t.spent[i], true)
			assets.AddOutput(t.spent[i].pk, &t.spent[i].OutputAssets, 0, int8(-sign))
		}
		for i := range t.created {
			add(&t.created[i], false)
			assets.AddOutput(t.created[i].pk, &t.created[i].OutputAssets, int8(sign), int8(sign))
		}
		for asset, amount := range t.mints {
			assets.AddMint(asset, schema.SupplyOf(big.NewInt(amount)), sign)
		}
	}
	err := s.Update(context.Background(), func(r storage.Reader, b storage.Batch) error {
		a := ledger.Applier{Reader: r, Batch: b, Totals: totals, NewFrom: math.MaxUint64}
		if sign > 0 {
			a.NewFrom = model.UtxoPk(txs[0].pk)
		}
		for _, d := range deltas {
			d.Sort()
		}
		return a.Apply(&assets, deltas)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// stored returns all rows, and fails if the totals count others.
func stored(t *testing.T, l *schema.Layout, s storage.Store, totals *schema.Totals) rows {
	t.Helper()
	all := rows{}
	err := s.View(context.Background(), func(r storage.Reader) error {
		for _, d := range l.Declarations() {
			n := uint64(0)
			for kv, err := range r.Scan(d.Family, nil, nil, false) {
				if err != nil {
					return err
				}
				n++
				all.put(d.Family, kv.Key, kv.Value)
			}
			if n != totals.Rows[d.Family] {
				t.Errorf("the totals have %d rows of %s, expected %d", totals.Rows[d.Family], d.Name, n)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// The rows equal the sums over the transactions, for any division into writes. Removing transactions restores the rows.
func TestRowsAreTheSumsOfTheTransactions(t *testing.T) {
	all := model.IndexOptions{Balance: true, Unspent: true, History: true}
	l, err := schema.NewLayout(modeltest.Variant{}.Chain("one"), nil,
		map[string]model.IndexOptions{"address": all, "tag": {Balance: true}, "label": all}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(testseed.Of(t, 1000), seed))
		txs := history(l, rng, 40)
		s := memory.New()
		if err := s.Declare(l.Declarations()...); err != nil {
			t.Fatal(err)
		}
		totals := &schema.Totals{Rows: map[storage.Family]uint64{}}
		at := 0
		for range 30 {
			to := rng.IntN(len(txs) + 1)
			switch {
			case to > at:
				write(t, l, s, totals, txs[at:to], 1)
			case to < at:
				write(t, l, s, totals, txs[to:at], -1)
			}
			at = to
			got, want := stored(t, l, s, totals), rowsOf(l, txs[:at])
			for key, row := range want {
				if stored, found := got[key]; stored != row || !found {
					t.Fatalf("history %d, %d transactions: row %s is %q, expected %q", seed, at, key, stored, row)
				}
			}
			if len(got) != len(want) {
				t.Fatalf("history %d, %d transactions: %d rows, expected %d", seed, at, len(got), len(want))
			}
		}
	}
}

// Removing an output that was never added makes a sum negative.
func TestNegativeSumsAreRejected(t *testing.T) {
	l, err := schema.NewLayout(modeltest.Variant{}.Chain("one"), nil,
		map[string]model.IndexOptions{"address": {Balance: true}}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	birth := model.BirthPk{Utxo: 7}
	entries := []schema.AssetEntry{{Birth: model.AssetBirthPk{Utxo: 7}, Amount: model.Uint128Of(1)}}
	for _, c := range []struct {
		want string
		add  func(*ledger.AssetDeltas, *ledger.Deltas)
	}{
		{"index address: the balance of the value born at 0/0/7/0 would become negative",
			func(_ *ledger.AssetDeltas, d *ledger.Deltas) { d.AddOutput(birth, 7, 1) }},
		{"the amount that the value born at 0/0/7/0 holds of the asset born at 0/0/7/0 would become negative",
			func(_ *ledger.AssetDeltas, d *ledger.Deltas) { d.AddAssets(birth, entries, 1) }},
		{"the totals of the asset born at 0/0/7/0 would become negative", func(a *ledger.AssetDeltas, _ *ledger.Deltas) {
			a.AddOutput(7, &ledger.OutputAssets{Entries: entries}, -1, 0)
		}},
		{"the totals of the asset born at 0/0/7/0 would become negative", func(a *ledger.AssetDeltas, _ *ledger.Deltas) {
			a.AddMint(entries[0].Birth, schema.SupplyOf(big.NewInt(1)), -1)
		}},
	} {
		s := memory.New()
		if err := s.Declare(l.Declarations()...); err != nil {
			t.Fatal(err)
		}
		var assets ledger.AssetDeltas
		deltas := ledger.NewDeltas(l, -1)
		c.add(&assets, deltas[0])
		err := s.Update(context.Background(), func(r storage.Reader, b storage.Batch) error {
			deltas[0].Sort()
			totals := &schema.Totals{Rows: map[storage.Family]uint64{}}
			a := ledger.Applier{Reader: r, Batch: b, Totals: totals, NewFrom: math.MaxUint64}
			return a.Apply(&assets, deltas)
		})
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v, expected %s", err, c.want)
		}
	}
}
