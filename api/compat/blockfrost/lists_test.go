package blockfrost_test

import (
	"encoding/hex"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano/address"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// of returns the outputs that match, in chain order.
func (n *naive) of(match func(*naiveOutput) bool) (all []*naiveOutput) {
	for _, o := range n.outputs {
		if match(o) {
			all = append(all, o)
		}
	}
	return all
}

// history returns the transactions that create or spend outputs, in chain order.
func (n *naive) history(outputs []*naiveOutput) (all []*naiveTx) {
	seen := map[*naiveTx]bool{}
	for _, o := range outputs {
		for _, tx := range []*naiveTx{o.tx, o.spent} {
			if tx != nil && tx.block != nil {
				seen[tx] = true
			}
		}
	}
	for _, b := range n.blocks {
		for _, tx := range b.txs {
			if seen[tx] {
				all = append(all, tx)
			}
		}
	}
	return all
}

func unspent(outputs []*naiveOutput) (all []*naiveOutput) {
	for _, o := range outputs {
		if o.spent == nil {
			all = append(all, o)
		}
	}
	return all
}

func (tx *naiveTx) listed() object {
	return object{"tx_hash": tx.Hash.String(), "tx_index": tx.place, "block_height": tx.block.Height, "block_time": tx.block.Time}
}

// blockOf returns the block of an output; that of a genesis output is the first one.
func (n *naive) blockOf(o *naiveOutput) string {
	if o.tx.block == nil {
		return n.blocks[0].Hash.String()
	}
	return o.tx.block.Hash.String()
}

func (n *naive) utxo(o *naiveOutput, owner string) object {
	return o.data(object{
		"address": owner, "tx_hash": o.tx.Hash.String(), "tx_index": o.index, "output_index": o.index, "amount": value(o),
		"block": n.blockOf(o),
	})
}

// pages compares pages of a list, in both orders: a random one and the next. Where blocks were added since pages were read,
// it reads all pages before, because a page continues after the one before it.
func (w *world) pages(t *testing.T, rng *rand.Rand, endpoint string, want []any) {
	t.Helper()
	count := 1 + rng.IntN(max(1, min(100, len(want))))
	for _, order := range []string{"asc", "desc"} {
		list := slices.Clone(want)
		if order == "desc" {
			slices.Reverse(list)
		}
		page := 1 + rng.IntN(len(list)/count+2)
		first := page
		if w.moved {
			first = 1
		}
		asked := []int{1}
		for p := max(2, first); p <= page+1; p++ {
			asked = append(asked, p)
		}
		for _, p := range asked {
			first := min((p-1)*count, len(list))
			separator := "?"
			if strings.Contains(endpoint, "?") {
				separator = "&"
			}
			url := fmt.Sprintf("%s%scount=%d&page=%d&order=%s", endpoint, separator, count, p, order)
			part := list[first:min(first+count, len(list))]
			w.same(t, url, append([]any{}, part...))
		}
	}
}

func listOf[T any](items []T, f func(T) any) []any {
	all := []any{}
	for _, i := range items {
		all = append(all, f(i))
	}
	return all
}

// totals returns the sums of outputs as /total does.
func (n *naive) totals(outputs []*naiveOutput, genesis int) object {
	var spent []*naiveOutput
	for _, o := range outputs {
		if o.spent != nil {
			spent = append(spent, o)
		}
	}
	return object{"received_sum": value(outputs...), "sent_sum": value(spent...), "tx_count": len(n.history(outputs)) + genesis}
}

// holder compares all lists of an address, a credential or an account.
func (w *world) holder(t *testing.T, rng *rand.Rand, path, owner string, outputs []*naiveOutput) {
	t.Helper()
	n := w.naive
	w.pages(t, rng, path+"/utxos", listOf(unspent(outputs), func(o *naiveOutput) any { return n.utxo(o, o.text()) }))
	txs := n.history(outputs)
	if owner != "" {
		w.pages(t, rng, path+"/transactions", listOf(txs, func(tx *naiveTx) any { return tx.listed() }))
		w.pages(t, rng, path+"/txs", listOf(txs, func(tx *naiveTx) any { return tx.Hash.String() }))
		w.ranges(t, rng, path, txs)
	}
}

// ranges compares the transactions of a range.
func (w *world) ranges(t *testing.T, rng *rand.Rand, path string, txs []*naiveTx) {
	t.Helper()
	if len(txs) == 0 {
		return
	}
	a, b := txs[rng.IntN(len(txs))], txs[rng.IntN(len(txs))]
	if b.block.Height < a.block.Height {
		a, b = b, a
	}
	query := fmt.Sprintf("?from=%d:%d&to=%d", a.block.Height, a.place, b.block.Height)
	var in []*naiveTx
	for _, tx := range txs {
		h := tx.block.Height
		if (h > a.block.Height || h == a.block.Height && tx.place >= a.place) && h <= b.block.Height {
			in = append(in, tx)
		}
	}
	w.pages(t, rng, path+"/transactions"+query, listOf(in, func(tx *naiveTx) any { return tx.listed() }))
}

// genesisTxs is the number of genesis transactions of outputs, which tx_count counts.
func genesisTxs(outputs []*naiveOutput) (n int) {
	for _, o := range outputs {
		if o.tx.block == nil {
			n++
		}
	}
	return n
}

func credentialOf(o *naiveOutput, of func([]byte) ([]byte, bool)) string {
	cred, _ := of(o.address)
	return string(cred)
}

// verify compares the lists of random addresses, credentials, accounts and assets.
func (w *world) verify(t *testing.T, rng *rand.Rand, rounds int) {
	t.Helper()
	n := w.naive
	for range rounds {
		o := n.outputs[rng.IntN(len(n.outputs))]
		same := n.of(func(c *naiveOutput) bool { return string(c.address) == string(o.address) })
		path := "/addresses/" + o.text()
		w.holder(t, rng, path, o.text(), same)
		payment, stake := credentialOf(o, address.PaymentCredential), credentialOf(o, address.StakeCredential)
		a := object{"address": o.text(), "amount": value(unspent(same)...), "type": "shelley", "script": payment != "" && payment[0] == 1, "stake_address": nil}
		if !address.IsShelley(o.address) {
			a["type"] = "byron"
		}
		if stake != "" {
			a["stake_address"] = address.FormatStakeCredential(address.Preview, []byte(stake))
		}
		w.same(t, path, a)
		a["amount"] = w.extendedAmounts(t, a["amount"].([]any))
		w.same(t, path+"/extended", a)
		total := n.totals(same, genesisTxs(same))
		total["address"] = o.text()
		w.same(t, path+"/total", total)
		if payment != "" {
			text := address.FormatPaymentCredential(address.Preview, []byte(payment))
			w.holder(t, rng, "/addresses/"+text, text, n.of(func(c *naiveOutput) bool {
				return credentialOf(c, address.PaymentCredential) == payment
			}))
		}
		if stake != "" {
			w.account(t, rng, address.FormatStakeCredential(address.Preview, []byte(stake)), n.of(func(c *naiveOutput) bool {
				return credentialOf(c, address.StakeCredential) == stake
			}))
		}
		if len(o.Assets) > 0 {
			w.asset(t, rng, o, o.Assets[rng.IntN(len(o.Assets))].ID, same)
		}
	}
}

// account compares the lists of an account.
func (w *world) account(t *testing.T, rng *rand.Rand, text string, outputs []*naiveOutput) {
	t.Helper()
	n, path := w.naive, "/accounts/"+text
	w.holder(t, rng, path, "", outputs)
	var addresses []string
	for _, o := range outputs {
		if a := o.text(); !slices.Contains(addresses, a) {
			addresses = append(addresses, a)
		}
	}
	w.pages(t, rng, path+"/addresses", listOf(addresses, func(a string) any { return object{"address": a} }))
	total := n.totals(outputs, genesisTxs(outputs))
	total["stake_address"] = text
	w.same(t, path+"/addresses/total", total)

	left := unspent(outputs)
	quantities := map[string]string{}
	for _, a := range value(left...)[1:] {
		quantities[a.(object)["unit"].(string)] = a.(object)["quantity"].(string)
	}
	held := []any{}
	for _, o := range left {
		for _, a := range o.Assets {
			id := hex.EncodeToString(a.ID)
			if quantity := quantities[id]; quantity != "" {
				held = append(held, object{"unit": id, "quantity": quantity})
				delete(quantities, id)
			}
		}
	}
	w.pages(t, rng, path+"/addresses/assets", held)

	entries := []any{}
	for _, tx := range n.history(outputs) {
		var in []string
		for _, o := range slices.Concat(tx.spent, tx.created) {
			if a := o.text(); slices.Contains(addresses, a) && !slices.Contains(in, a) {
				in = append(in, a)
			}
		}
		slices.Sort(in)
		for _, a := range in {
			e := tx.listed()
			e["address"] = a
			entries = append(entries, e)
		}
	}
	w.pages(t, rng, path+"/transactions", entries)
}

// asset compares the lists of an asset. o is an output that holds it, and owned are the outputs of its address.
func (w *world) asset(t *testing.T, rng *rand.Rand, o *naiveOutput, id []byte, owned []*naiveOutput) {
	t.Helper()
	n, unit := w.naive, hex.EncodeToString(id)
	holds := func(c *naiveOutput) bool {
		return slices.ContainsFunc(c.Assets, func(a model.Asset) bool { return string(a.ID) == string(id) })
	}
	held := n.of(holds)
	var txs []*naiveTx
	for _, c := range held {
		if len(txs) == 0 || txs[len(txs)-1] != c.tx {
			txs = append(txs, c.tx)
		}
	}
	path := "/assets/" + unit
	w.pages(t, rng, path+"/transactions", listOf(txs, func(tx *naiveTx) any { return tx.listed() }))
	w.pages(t, rng, path+"/txs", listOf(txs, func(tx *naiveTx) any { return tx.Hash.String() }))
	w.pages(t, rng, "/addresses/"+o.text()+"/utxos/"+unit, listOf(slices.DeleteFunc(unspent(owned), func(c *naiveOutput) bool {
		return !holds(c)
	}), func(c *naiveOutput) any { return n.utxo(c, c.text()) }))
	w.pages(t, rng, "/addresses/"+o.text()+"/utxos/lovelace", listOf(slices.DeleteFunc(unspent(owned), func(c *naiveOutput) bool {
		return len(value(c)) > 1 // it holds assets
	}), func(c *naiveOutput) any { return n.utxo(c, c.text()) }))
	w.pages(t, rng, path+"/utxos", listOf(unspent(held), func(c *naiveOutput) any {
		m := n.utxo(c, c.text())
		delete(m, "tx_index")
		m["inline_datum_json"] = nil
		if c.tx.block != nil {
			m["block_height"], m["block_time"] = c.tx.block.Height, c.tx.block.Time
		}
		if d := c.details.Datum; d != nil {
			m["inline_datum_json"] = d.Value
		}
		return m
	}))
	supply, events := new(big.Int), []any{}
	for _, b := range n.blocks {
		for _, tx := range b.txs {
			for _, m := range tx.Mints {
				if string(m.Asset) != string(id) {
					continue
				}
				supply.Add(supply, m.Amount)
				action := "minted"
				if m.Amount.Sign() < 0 {
					action = "burned"
				}
				events = append(events, object{"tx_hash": tx.Hash.String(), "action": action, "amount": m.Amount.String()})
			}
		}
	}
	w.pages(t, rng, path+"/history", events)
	w.sameFields(t, path, object{
		"asset": unit, "policy_id": unit[:56], "asset_name": orNull(unit[56:]), "quantity": supply.String(),
		"initial_mint_tx_hash": events[0].(object)["tx_hash"], "mint_or_burn_count": len(events), "metadata": nil,
		"fingerprint": address.Fingerprint.Format(address.Fingerprint.Of(id, nil)),
	})
	amounts, order := map[string]*big.Int{}, []string{}
	for _, c := range n.outputs {
		a := c.text()
		if amounts[a] == nil {
			amounts[a] = new(big.Int)
			order = append(order, a)
		}
		for _, as := range c.Assets {
			if c.spent == nil && string(as.ID) == string(id) {
				amounts[a].Add(amounts[a], new(big.Int).SetUint64(as.Amount))
			}
		}
	}
	order = slices.DeleteFunc(order, func(a string) bool { return amounts[a].Sign() == 0 })
	w.pages(t, rng, path+"/addresses", listOf(order, func(a string) any {
		return object{"address": a, "quantity": amounts[a].String()}
	}))
	w.policy(t, rng, unit[:56])
}

// The lists of an asset that many outputs hold equal those of the model, page by page.
func TestListsOfAnAsset(t *testing.T) {
	rng := testseed.Rand(t)
	c := cardanogen.New(cardanogen.Options{Seed: 13, TxsPerBlock: 10})
	dir := t.TempDir()
	if err := c.Genesis().Write(dir); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, dir)
	n := ouroborostest.Start(t, cardanogen.DefaultMagic, branch(t, c, 60))
	w.sync(t, n.TCP(), model.HeightPk(n.Tip().Number))
	var id []byte
	holders, most := map[string]int{}, 0
	for _, o := range unspent(w.naive.outputs) {
		for _, a := range o.Assets {
			if holders[string(a.ID)]++; holders[string(a.ID)] > most {
				id, most = a.ID, holders[string(a.ID)]
			}
		}
	}
	held := w.naive.of(func(o *naiveOutput) bool {
		return slices.ContainsFunc(o.Assets, func(a model.Asset) bool { return string(a.ID) == string(id) })
	})
	if most < 2 || most == len(held) {
		t.Fatalf("%d of %d outputs with the asset are unspent", most, len(held))
	}
	owned := w.naive.of(func(o *naiveOutput) bool { return string(o.address) == string(held[0].address) })
	w.asset(t, rng, held[0], id, owned)
}

// policy compares the assets of a policy.
func (w *world) policy(t *testing.T, rng *rand.Rand, policy string) {
	t.Helper()
	supplies, order := map[string]*big.Int{}, []string{}
	for _, o := range w.naive.outputs {
		for _, a := range o.Assets {
			if id := hex.EncodeToString(a.ID); strings.HasPrefix(id, policy) && supplies[id] == nil {
				supplies[id] = new(big.Int)
				order = append(order, id)
			}
		}
	}
	for _, b := range w.naive.blocks {
		for _, tx := range b.txs {
			for _, m := range tx.Mints {
				if n := supplies[hex.EncodeToString(m.Asset)]; n != nil {
					n.Add(n, m.Amount)
				}
			}
		}
	}
	w.pages(t, rng, "/assets/policy/"+policy, listOf(order, func(id string) any {
		return object{"asset": id, "quantity": supplies[id].String()}
	}))
}

// A client that reads page after page, newest first, receives every entry once while blocks are added. A page that is
// read alone is also correct, and so are pages after a rollback of their block.
func TestPagesContinueWhileBlocksAreAdded(t *testing.T) {
	rng := testseed.Rand(t)
	c := cardanogen.New(cardanogen.Options{Seed: rng.Uint64(), TxsPerBlock: 10, AllParts: true})
	dir := t.TempDir()
	if err := c.Genesis().Write(dir); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, dir)
	n := ouroborostest.Start(t, cardanogen.DefaultMagic, branch(t, c, 30))
	common, fork := 30, c.Fork(rng.Uint64())
	w.sync(t, n.TCP(), model.HeightPk(n.Tip().Number))
	busiest, counts := "", map[string]int{}
	for _, o := range w.naive.outputs {
		if a := o.text(); o.tx.block != nil {
			if counts[a]++; counts[a] > counts[busiest] {
				busiest = a
			}
		}
	}
	history := func() []*naiveTx {
		all := w.naive.history(w.naive.of(func(x *naiveOutput) bool { return x.text() == busiest }))
		slices.Reverse(all)
		return all
	}
	endpoint := "/addresses/" + busiest + "/txs?order=desc&count=2&page="
	all := history()
	for page := 1; 2*page < len(all) && page < 6; page++ {
		w.same(t, endpoint+fmt.Sprint(page), listOf(all[2*page-2:2*page], func(tx *naiveTx) any { return tx.Hash.String() }))
		n.Extend(branch(t, c, 1)...)
		w.sync(t, n.TCP(), model.HeightPk(n.Tip().Number))
	}
	if len(all) < 4 {
		t.Fatalf("the address has only %d transactions", len(all))
	}
	n.Switch(common, branch(t, fork, 40)...)
	w.sync(t, n.TCP(), model.HeightPk(n.Tip().Number))
	all = history()
	w.same(t, endpoint+"2", listOf(all[2:4], func(tx *naiveTx) any { return tx.Hash.String() }))
}
