package query_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/query"
	"birthmark/core/query/blocktime"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// member is a value of a wallet with its place.
type member struct {
	text, path    string
	branch, index int
}

// randomWallet returns the text of a wallet with some of the addresses of a database, and these addresses. Unused values
// and positions that are left out lie between them, fewer in a row than the gap.
func randomWallet(rng *rand.Rand, addresses []string, gap int) (text string, members []member) {
	of := make([][]string, 1+rng.IntN(3))
	for _, a := range addresses {
		if rng.IntN(3) == 0 {
			continue
		}
		b := rng.IntN(len(of))
		for range rng.IntN(gap) {
			of[b] = append(of[b], []string{"-", ""}[rng.IntN(2)])
		}
		members = append(members, member{a, fmt.Sprintf("m/%d/%d", b, len(of[b])), b, len(of[b])})
		of[b] = append(of[b], a[1:])
	}
	branches := make([]string, len(of))
	for i, b := range of {
		if len(b) == 0 {
			b = []string{"-"}
		}
		branches[i] = strings.Join(b, ",")
	}
	slices.SortFunc(members, func(a, b member) int { return cmp.Or(cmp.Compare(a.branch, b.branch), cmp.Compare(a.index, b.index)) })
	return "wallet:" + strings.Join(branches, ";"), members
}

func number(t *testing.T, text string) *big.Int {
	t.Helper()
	n, ok := new(big.Int).SetString(text, 10)
	if !ok {
		t.Fatalf("%q is no number", text)
	}
	return n
}

func sumOf(t *testing.T, a, b string) string {
	return number(t, a).Add(number(t, a), number(t, b)).String()
}

// mergedBalance returns the sums of balances; the number of transactions is that of a merged history.
func mergedBalance(t *testing.T, all []*query.BalanceAnswer, txs int) *query.BalanceAnswer {
	t.Helper()
	sum := &query.BalanceAnswer{Index: "address", Balance: "0", Received: "0", Sent: "0", TxCount: uint64(txs), UnspentCount: new(uint64), Assets: []query.AssetBalanceAnswer{}}
	assets := map[string]*big.Int{}
	for _, b := range all {
		sum.Balance, sum.Received, sum.Sent = sumOf(t, sum.Balance, b.Balance), sumOf(t, sum.Received, b.Received), sumOf(t, sum.Sent, b.Sent)
		sum.OutputCount += b.OutputCount
		*sum.UnspentCount += *b.UnspentCount
		for _, a := range b.Assets {
			if assets[a.Asset] == nil {
				assets[a.Asset] = new(big.Int)
			}
			assets[a.Asset].Add(assets[a.Asset], number(t, a.Balance))
		}
	}
	for asset, n := range assets {
		sum.Assets = append(sum.Assets, query.AssetBalanceAnswer{Asset: asset, Balance: n.String()})
	}
	return sum
}

func inOrder(assets []query.AssetBalanceAnswer) []query.AssetBalanceAnswer {
	sorted := slices.Clone(assets)
	slices.SortFunc(sorted, func(a, b query.AssetBalanceAnswer) int { return strings.Compare(a.Asset, b.Asset) })
	return sorted
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// mergedHistory merges histories: a transaction of several is once in it, with the sums.
func mergedHistory(t *testing.T, all [][]query.HistoryTxAnswer) (merged []query.HistoryTxAnswer) {
	t.Helper()
	byHash := map[string]*query.HistoryTxAnswer{}
	var order []string
	for _, txs := range all {
		for _, tx := range txs {
			key := fmt.Sprint(tx.Height, " ", tx.Index, " ", tx.Hash)
			known := byHash[key]
			if known == nil {
				tx.Assets = slices.Clone(tx.Assets)
				byHash[key], order = &tx, append(order, key)
				continue
			}
			known.Received, known.Sent = sumOf(t, known.Received, tx.Received), sumOf(t, known.Sent, tx.Sent)
			for _, a := range tx.Assets {
				if i := slices.IndexFunc(known.Assets, func(k query.HistoryAssetAnswer) bool { return k.Asset == a.Asset }); i >= 0 {
					known.Assets[i].Received = sumOf(t, known.Assets[i].Received, a.Received)
					known.Assets[i].Sent = sumOf(t, known.Assets[i].Sent, a.Sent)
				} else {
					known.Assets = append(known.Assets, a)
				}
			}
		}
	}
	for _, key := range order {
		merged = append(merged, *byHash[key])
	}
	// Transactions from before the first block have the numbers of the transactions of block 0.
	genesis := func(tx query.HistoryTxAnswer) int {
		if tx.Time == 0 {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(merged, func(a, b query.HistoryTxAnswer) int {
		return cmp.Or(cmp.Compare(a.Height, b.Height), cmp.Compare(genesis(a), genesis(b)), cmp.Compare(a.Index, b.Index))
	})
	balance := new(big.Int)
	for i := range merged {
		tx := &merged[i]
		net := new(big.Int).Sub(number(t, tx.Received), number(t, tx.Sent))
		balance.Add(balance, net)
		tx.Net, tx.Balance = net.String(), balance.String()
		slices.SortFunc(tx.Assets, func(a, b query.HistoryAssetAnswer) int { return strings.Compare(a.Asset, b.Asset) })
	}
	return merged
}

// The answers about a wallet are those about its addresses one by one, merged: balances now and after earlier blocks,
// histories, periods and outputs, in both orders and in pages of any size, with any options of the index.
func TestAnswersAboutAWalletAreThoseOfItsAddresses(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		rng := testseed.Rand(t)
		db := coretest.Open(t, memory.New(), v, 1<<20)
		blocks := v.NewGenerator(rng.Uint64()).Blocks(30)
		for i, b := range blocks {
			b.Time = 1_700_000_000 + int64(i)*7_000
		}
		coretest.AppendAll(t, db, blocks, 7)
		if !slices.Contains(db.Indexes(), "address") {
			t.Skip("the variant has no addresses")
		}
		page, err := db.Values(t.Context(), "address", query.Page{Limit: 60})
		if err != nil {
			t.Fatal(err)
		}
		var addresses []string
		for _, a := range page.Values {
			addresses = append(addresses, a.Value)
		}
		rng.Shuffle(len(addresses), func(i, j int) { addresses[i], addresses[j] = addresses[j], addresses[i] })
		for range 4 {
			gap := 1 + rng.IntN(4)
			text, members := randomWallet(rng, addresses[:rng.IntN(len(addresses)+1)], gap)
			checkWallet(t, rng, db.WithGap(gap), text, members, len(blocks))
		}
	})
}

// After reorganizations, too, the answers about a wallet are those about its addresses. A fork can remove the first use of
// an address, and bring it back.
func TestWalletsAcrossReorganizations(t *testing.T) {
	unused := 0
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		rng := testseed.Rand(t)
		db := coretest.Open(t, memory.New(), v, 1<<20)
		if !slices.Contains(db.Indexes(), "address") {
			t.Skip("the variant has no addresses")
		}
		grown := []*modeltest.Generator{v.NewGenerator(rng.Uint64())} // by the number of blocks
		var chain []*model.Block
		grow := func(n int) {
			for range n {
				g := grown[len(grown)-1].Fork(0)
				b := g.Next()
				b.Time = 1_700_000_000 + int64(len(chain))*7_000
				grown, chain = append(grown, g), append(chain, b)
			}
			coretest.AppendAll(t, db, chain[len(chain)-n:], 1+rng.IntN(3))
		}
		grow(20)
		page, err := db.Values(t.Context(), "address", query.Page{Limit: 60, Descending: true})
		if err != nil {
			t.Fatal(err)
		}
		var addresses []string
		for _, a := range page.Values {
			addresses = append(addresses, a.Value)
		}
		text, members := randomWallet(rng, addresses, 3)
		qs := db.WithGap(query.MaxGap / 2) // longer than the branches
		for fork := range uint64(5) {
			keep := len(chain) - 1 - rng.IntN(15)
			if err := db.Rollback(t.Context(), chain[keep-1].Point()); err != nil {
				t.Fatal(err)
			}
			chain, grown = chain[:keep:keep], append(grown[:keep:keep], grown[keep].Fork(fork+1))
			if n := rng.IntN(18); n > 0 {
				grow(n)
			}
			used := slices.DeleteFunc(slices.Clone(members), func(m member) bool {
				b, err := qs.Balance(t.Context(), "address", m.text)
				if err != nil {
					t.Fatal(err)
				}
				return b.OutputCount == 0
			})
			unused += len(members) - len(used)
			checkWallet(t, rng, qs, text, used, len(chain))
			for len(chain) < 20 {
				grow(1)
			}
		}
		coretest.Consistent(t, db)
	})
	if unused == 0 && !testing.Short() {
		t.Error("no reorganization removed an address")
	}
}

func checkWallet(t *testing.T, rng *rand.Rand, qs query.Queries, text string, members []member, blocks int) {
	t.Helper()
	ctx := t.Context()
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
	}
	var balances []*query.BalanceAnswer
	var histories [][]query.HistoryTxAnswer
	var outputs []query.OutputAnswer
	paths := map[string]string{}
	from := model.HeightPk(rng.IntN(blocks))
	to := from + model.HeightPk(rng.IntN(blocks-int(from)))
	for _, m := range members {
		paths[m.text] = m.path
		b, err := qs.Balance(ctx, "address", m.text)
		must(err)
		balances = append(balances, b)
		h, err := qs.History(ctx, "address", m.text, query.Range{}, query.Page{Limit: query.MaxLimit})
		must(err)
		histories = append(histories, h.Txs)
		f, err := qs.Find(ctx, "address", m.text, query.Terms{}, query.Page{Limit: query.MaxLimit})
		must(err)
		outputs = append(outputs, f.Outputs...)
	}
	txs := mergedHistory(t, histories)

	got, err := qs.Balance(ctx, "address", text)
	must(err)
	want := mergedBalance(t, balances, len(txs))
	derived := got.Derived
	got.Derived, got.Assets = nil, inOrder(got.Assets)
	want.Value, want.Assets = text, inOrder(want.Assets)
	if asJSON(t, got) != asJSON(t, want) {
		t.Errorf("%s: balance\n%s, expected\n%s", text, asJSON(t, got), asJSON(t, want))
	}
	if derived.UsedCount != len(members) || len(derived.Used) != len(members) {
		t.Fatalf("%s: %d used values, expected %d", text, derived.UsedCount, len(members))
	}
	for i, m := range members {
		u := derived.Used[i]
		if u.Value != m.text || u.Branch != m.branch || u.Index != m.index || u.Path != m.path || u.Balance != balances[i].Balance ||
			u.Received != balances[i].Received || u.Sent != balances[i].Sent || u.TxCount != balances[i].TxCount {
			t.Errorf("%s: used value %+v, expected %+v with %+v", text, u, m, balances[i])
		}
	}
	// Many balances at once, with plain values between.
	if len(members) > 0 {
		many, err := qs.Balances(ctx, "address", []string{members[0].text, text})
		must(err)
		many[1].Derived, many[1].Assets = nil, inOrder(many[1].Assets)
		if asJSON(t, many[0]) != asJSON(t, balances[0]) || asJSON(t, many[1]) != asJSON(t, want) {
			t.Errorf("%s: balances %s", text, asJSON(t, many))
		}
	}

	// After an earlier block.
	var earlier []*query.BalanceAnswer
	for _, m := range members {
		b, err := qs.BalanceAt(ctx, "address", m.text, query.Moment{Height: &to})
		must(err)
		if b.UnspentCount == nil {
			t.Fatal("the number of unspent outputs is unknown")
		}
		earlier = append(earlier, b)
	}
	before := 0
	for _, tx := range txs {
		if tx.Height <= uint32(to) {
			before++
		}
	}
	past, err := qs.BalanceAt(ctx, "address", text, query.Moment{Height: &to})
	must(err)
	wantPast := mergedBalance(t, earlier, before)
	past.Derived, past.At, past.Assets = nil, nil, inOrder(past.Assets)
	wantPast.Value, wantPast.Assets = text, inOrder(wantPast.Assets)
	if asJSON(t, past) != asJSON(t, wantPast) {
		t.Errorf("%s: balance at %d\n%s, expected\n%s", text, to, asJSON(t, past), asJSON(t, wantPast))
	}

	for _, descending := range []bool{false, true} {
		for _, r := range []query.Range{{}, {FromHeight: &from, ToHeight: &to}} {
			in := func(height uint32) bool {
				return r == (query.Range{}) || height >= uint32(from) && height <= uint32(to)
			}
			turn := func(n int, swap func(i, j int)) {
				for i := 0; descending && i < n/2; i++ {
					swap(i, n-1-i)
				}
			}
			limit := 1 + rng.IntN(12)
			var wantTxs, gotTxs []query.HistoryTxAnswer
			for _, tx := range txs {
				if in(tx.Height) {
					wantTxs = append(wantTxs, tx)
				}
			}
			turn(len(wantTxs), func(i, j int) { wantTxs[i], wantTxs[j] = wantTxs[j], wantTxs[i] })
			for p := (query.Page{Limit: limit, Descending: descending}); ; {
				a, err := qs.History(ctx, "address", text, r, p)
				must(err)
				gotTxs = append(gotTxs, a.Txs...)
				if a.Next == nil {
					break
				}
				p.After = *a.Next
			}
			for i := range gotTxs {
				slices.SortFunc(gotTxs[i].Assets, func(a, b query.HistoryAssetAnswer) int { return strings.Compare(a.Asset, b.Asset) })
			}
			if asJSON(t, gotTxs) != asJSON(t, wantTxs) {
				t.Errorf("%s: history (descending %t, limit %d, %s)\n%s, expected\n%s", text, descending, limit, r, asJSON(t, gotTxs), asJSON(t, wantTxs))
			}
			for _, unspent := range []bool{false, true} {
				var wantOutputs, gotOutputs []query.OutputAnswer
				for _, o := range outputs {
					if in(o.Height) && (!unspent || o.SpentBy.Value == nil) {
						address, _ := o.Keys["address"].(string)
						o.Path = paths[address]
						wantOutputs = append(wantOutputs, o)
					}
				}
				slices.SortStableFunc(wantOutputs, func(a, b query.OutputAnswer) int {
					genesis := func(o query.OutputAnswer) int { return min(1, int(o.BlockTime)) }
					return cmp.Or(cmp.Compare(a.Height, b.Height), cmp.Compare(genesis(a), genesis(b)), cmp.Compare(a.TxIndex, b.TxIndex), cmp.Compare(a.Index, b.Index))
				})
				turn(len(wantOutputs), func(i, j int) { wantOutputs[i], wantOutputs[j] = wantOutputs[j], wantOutputs[i] })
				for p := (query.Page{Limit: limit, Descending: descending}); ; {
					a, err := qs.Find(ctx, "address", text, query.Terms{Unspent: unspent, Range: r}, p)
					must(err)
					gotOutputs = append(gotOutputs, a.Outputs...)
					if a.Next == nil {
						break
					}
					p.After = *a.Next
				}
				if asJSON(t, gotOutputs) != asJSON(t, wantOutputs) {
					t.Errorf("%s: outputs (descending %t, unspent %t, limit %d, %s)\n%s, expected\n%s",
						text, descending, unspent, limit, r, asJSON(t, gotOutputs), asJSON(t, wantOutputs))
				}
			}
			checkPeriods(t, rng, qs, text, r, descending, wantTxs)
		}
	}
}

// checkPeriods checks that the periods of a history have the sums of its transactions.
func checkPeriods(t *testing.T, rng *rand.Rand, qs query.Queries, text string, r query.Range, descending bool, txs []query.HistoryTxAnswer) {
	t.Helper()
	unit := blocktime.Units[rng.IntN(len(blocktime.Units))]
	received, sent, count, left := "0", "0", uint64(0), ""
	for p := (query.Page{Limit: 1 + rng.IntN(5), Descending: descending}); ; {
		a, err := qs.GroupedHistory(t.Context(), "address", text, unit, r, p)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		for _, period := range a.Periods {
			received, sent, count = sumOf(t, received, period.Received), sumOf(t, sent, period.Sent), count+period.TxCount
			if left == "" || !descending {
				left = period.Balance
			}
		}
		if a.Next == nil {
			break
		}
		p.After = *a.Next
	}
	wantReceived, wantSent, wantLeft := "0", "0", ""
	for _, tx := range txs {
		wantReceived, wantSent = sumOf(t, wantReceived, tx.Received), sumOf(t, wantSent, tx.Sent)
		if wantLeft == "" || !descending {
			wantLeft = tx.Balance
		}
	}
	if received != wantReceived || sent != wantSent || count != uint64(len(txs)) || left != wantLeft {
		t.Errorf("%s: by %s (descending %t, %s): received %s, sent %s, %d transactions, balance %s, expected %s, %s, %d, %s",
			text, unit, descending, r, received, sent, count, left, wantReceived, wantSent, len(txs), wantLeft)
	}
}

// A value of another index than the named one is looked up there, and the answer names that index.
func TestAValueOfAnotherIndexIsLookedUpThere(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		db := coretest.Open(t, memory.New(), v, 1<<20)
		coretest.AppendAll(t, db, v.NewGenerator(testseed.Rand(t).Uint64()).Blocks(12), 5)
		page, err := db.Values(t.Context(), "tag", query.Page{Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		for _, tag := range append(page.Values, query.ValueAnswer{Value: "t0123456789"}) {
			same := func(what string, ask func(index string) (any, error)) {
				t.Helper()
				got, err := ask("address")
				if err != nil {
					t.Fatal(err)
				}
				want, err := ask("tag")
				if err != nil || asJSON(t, got) != asJSON(t, want) {
					t.Errorf("%s of %s: %s, expected %s: %v", what, tag.Value, asJSON(t, got), asJSON(t, want), err)
				}
			}
			same("balance", func(index string) (any, error) { return db.Balance(t.Context(), index, tag.Value) })
			same("history", func(index string) (any, error) {
				return db.History(t.Context(), index, tag.Value, query.Range{}, query.Page{Limit: 2})
			})
			same("outputs", func(index string) (any, error) {
				return db.Find(t.Context(), index, tag.Value, query.Terms{}, query.Page{Limit: 2})
			})
			same("balances", func(index string) (any, error) { return db.Balances(t.Context(), index, []string{tag.Value}) })
		}
	})
}

// The error of a value of an index that the database does not have names that index and the command that adds it.
func TestAMissingIndexOfAnotherValueIsNamed(t *testing.T) {
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: modeltest.Variants()[0].Chain("one"), Indexes: []string{"address"}})
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.Balance(t.Context(), "address", "t01")
	if kind, code := model.KindOf(err); kind != model.Usage || code != "unknown_index" || !strings.Contains(err.Error(), "birthmark index add tag") {
		t.Errorf("error %v", err)
	}
}
