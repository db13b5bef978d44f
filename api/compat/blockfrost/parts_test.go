package blockfrost_test

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"testing"

	"github.com/blinklabs-io/gouroboros/cbor"
	"golang.org/x/crypto/blake2b"

	"birthmark/bench/generate/cardanogen"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// partsOfTransactions compares metadata, redeemers, signers, withdrawals and certificates with the details of transactions,
// and looks for datums and scripts by their hashes.
func (w *world) partsOfTransactions(t *testing.T) {
	seen := map[string]int{}
	for _, b := range w.naive.blocks {
		for _, tx := range b.txs {
			w.parts(t, tx, seen)
			w.hashes(t, tx, seen)
		}
	}
	for _, what := range []string{"metadata", "redeemers", "withdrawals", "stakes", "delegations", "script", "datum"} {
		if seen[what] == 0 && testrun.Amount(1, 0) == 1 {
			t.Errorf("no transaction has %s", what)
		}
	}
	t.Log(seen)
}

func (w *world) parts(t *testing.T, tx *naiveTx, seen map[string]int) {
	t.Helper()
	path := "/txs/" + tx.Hash.String()
	list := func(name string, want []any) {
		t.Helper()
		// Most transactions have none of these parts; some of them are enough for the test.
		if seen["none of "+name]++; len(want) == 0 && seen["none of "+name]%500 > 0 {
			return
		}
		seen[name] += len(want)
		w.same(t, path+"/"+name, append([]any{}, want...))
	}
	var metadata []any
	labels := []int{}
	for label := range tx.d.Metadata {
		var n int
		fmt.Sscan(label, &n)
		labels = append(labels, n)
	}
	slices.Sort(labels)
	for _, n := range labels {
		label := fmt.Sprint(n)
		metadata = append(metadata, object{"label": label, "json_metadata": tx.d.Metadata[label]})
	}
	list("metadata", metadata)
	list("required_signers", listOf(tx.d.RequiredSigners, func(hash string) any { return object{"witness_hash": hash} }))
	if !tx.valid() {
		return
	}
	list("withdrawals", listOf(tx.d.Withdrawals, func(w model.Withdrawal) any {
		return object{"address": w.Address, "amount": w.Amount}
	}))
	var stakes, delegations []any
	for i, c := range tx.d.Certificates {
		switch c.Type {
		case "stake_registration", "reg":
			stakes = append(stakes, object{"cert_index": i, "address": c.StakeAddress, "registration": true})
		case "stake_deregistration", "unreg":
			stakes = append(stakes, object{"cert_index": i, "address": c.StakeAddress, "registration": false})
		case "stake_delegation":
			delegations = append(delegations, object{
				"index": i, "cert_index": i, "address": c.StakeAddress, "pool_id": c.Pool, "active_epoch": *tx.block.header.Epoch + 2,
			})
		}
	}
	list("stakes", stakes)
	list("delegations", delegations)
	if len(tx.d.Redeemers) > 0 {
		w.redeemers(t, tx, seen)
	}
}

// redeemers compares the script of each redeemer with the script that its input or policy needs.
func (w *world) redeemers(t *testing.T, tx *naiveTx, seen map[string]int) {
	t.Helper()
	inputs := slices.Clone(tx.spent)
	slices.SortFunc(inputs, func(a, b *naiveOutput) int {
		return slices.Compare([]string{a.tx.Hash.String(), fmt.Sprintf("%09d", a.index)}, []string{b.tx.Hash.String(), fmt.Sprintf("%09d", b.index)})
	})
	var policies []string
	for _, m := range tx.Mints {
		if p := hex.EncodeToString(m.Asset[:28]); !slices.Contains(policies, p) {
			policies = append(policies, p)
		}
	}
	slices.Sort(policies)
	answer, err := w.db.Tx(t.Context(), tx.Hash.String())
	if err != nil {
		t.Fatal(err)
	}
	var want []any
	for i, r := range tx.d.Redeemers {
		raw, err := hex.DecodeString(r.Data.Raw)
		if err != nil {
			t.Fatal(err)
		}
		hash := blake2b.Sum256(raw)
		script := ""
		switch r.Purpose {
		case "spend":
			script = hex.EncodeToString(inputs[r.Index].address[1:29])
		case "mint":
			script = policies[r.Index]
		default:
			return
		}
		fee := fmt.Sprint((r.Memory*577_000 + r.Steps*721 + 9_999_999) / 10_000_000)
		if got := answer.Redeemers[i]; got.Script != script || got.Fee != fee {
			t.Errorf("%s: the answer has the script %s and the fee %s, expected %s and %s", tx.Hash, got.Script, got.Fee, script, fee)
		}
		want = append(want, object{
			"tx_index": r.Index, "purpose": r.Purpose, "script_hash": script, "redeemer_data_hash": hex.EncodeToString(hash[:]),
			"datum_hash": hex.EncodeToString(hash[:]), "unit_mem": fmt.Sprint(r.Memory), "unit_steps": fmt.Sprint(r.Steps),
			"fee": fee,
		})
	}
	slices.SortStableFunc(want, func(a, b any) int { return int(a.(object)["tx_index"].(uint64)) - int(b.(object)["tx_index"].(uint64)) })
	seen["redeemers"] += len(want)
	w.same(t, "/txs/"+tx.Hash.String()+"/redeemers", want)
}

// hashes looks for the datums and the reference scripts of outputs by their hashes.
func (w *world) hashes(t *testing.T, tx *naiveTx, seen map[string]int) {
	t.Helper()
	for _, o := range tx.created {
		if d := o.details.Datum; d != nil && seen["datum"] < 50 {
			seen["datum"]++
			w.same(t, "/scripts/datum/"+o.details.DatumHash+"/cbor", object{"cbor": d.Raw})
			w.same(t, "/scripts/datum/"+o.details.DatumHash, object{"json_value": d.Value})
		}
		s := o.details.ScriptRef
		if s == nil || seen["script"] > 100 {
			continue
		}
		seen["script"]++
		kinds := map[string]string{"native": "timelock", "plutus_v1": "plutusV1", "plutus_v2": "plutusV2", "plutus_v3": "plutusV3"}
		size, cbor := any(len(s.Raw)/2), any(s.Raw)
		if s.Language == "native" {
			size, cbor = nil, nil
		}
		path := "/scripts/" + s.Hash
		w.same(t, path, object{"script_hash": s.Hash, "type": kinds[s.Language], "serialised_size": size})
		w.same(t, path+"/cbor", object{"cbor": cbor})
		all := unspent(w.naive.of(func(c *naiveOutput) bool { return c.details.ScriptRef != nil && c.details.ScriptRef.Hash == s.Hash }))
		w.same(t, path+"/utxos", listOf(all[:min(len(all), 100)], func(c *naiveOutput) any {
			u := w.naive.utxo(c, c.text())
			delete(u, "tx_index")
			return u
		}))
	}
}

// labels compares the lists of labels of metadata, and of the transactions with each. A transaction whose scripts failed has
// no metadata.
func (w *world) labels(t *testing.T) {
	rng := testseed.Rand(t)
	type entries struct{ values, raws []any }
	by := map[uint64]*entries{}
	var labels []uint64
	for _, b := range w.naive.blocks {
		for _, tx := range b.txs {
			if !tx.valid() {
				continue
			}
			for text, value := range tx.d.Metadata {
				label, err := strconv.ParseUint(text, 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				e := by[label]
				if e == nil {
					e = &entries{}
					by[label], labels = e, append(labels, label)
				}
				raw := tx.metadata(t)[label]
				e.values = append(e.values, object{"tx_hash": tx.Hash.String(), "json_metadata": value})
				e.raws = append(e.raws, object{"tx_hash": tx.Hash.String(), "cbor_metadata": `\x` + raw, "metadata": raw})
			}
		}
	}
	if len(labels) == 0 && testrun.Amount(1, 0) == 1 {
		t.Fatal("no transaction has metadata")
	}
	slices.Sort(labels)
	w.pages(t, rng, "/metadata/txs/labels", listOf(labels, func(label uint64) any {
		return object{"label": fmt.Sprint(label), "cip10": nil, "count": fmt.Sprint(len(by[label].values))}
	}))
	for _, label := range labels {
		path := fmt.Sprintf("/metadata/txs/labels/%d", label)
		w.pages(t, rng, path, by[label].values)
		w.pages(t, rng, path+"/cbor", by[label].raws)
	}
	t.Logf("%d labels", len(labels))
}

// metadata returns the CBOR of a map with one label, in hex, for each label of the transaction, as gouroboros decodes it.
func (tx *naiveTx) metadata(t *testing.T) map[uint64]string {
	t.Helper()
	read := func(data []byte, to any) {
		if _, err := cbor.Decode(data, to); err != nil {
			t.Fatalf("%s: %v", tx.Hash, err)
		}
	}
	var parts []cbor.RawMessage
	read(tx.Raw, &parts)
	metadata := parts[len(parts)-1]
	switch metadata[0] >> 5 {
	case 4: // with scripts beside it
		read(metadata, &parts)
		metadata = parts[0]
	case 6:
		var tag cbor.RawTag
		read(metadata, &tag)
		var fields map[uint64]cbor.RawMessage
		read(tag.Content, &fields)
		metadata = fields[0]
	}
	var items map[uint64]cbor.RawMessage
	read(metadata, &items)
	all := map[uint64]string{}
	for label, item := range items {
		raw, err := cbor.Encode(map[uint64]cbor.RawMessage{label: item})
		if err != nil {
			t.Fatal(err)
		}
		all[label] = hex.EncodeToString(raw)
	}
	return all
}

// branch returns n more blocks of a generated chain.
func branch(t testing.TB, c *cardanogen.Chain, n int) []ouroborostest.Block {
	t.Helper()
	raws := make([][]byte, n)
	for i := range raws {
		raws[i] = c.Next().Raw
	}
	blocks, err := ouroborostest.Blocks(raws...)
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// Lists equal those of the model after each reorganization of a generated chain.
func TestListsThroughForks(t *testing.T) {
	testrun.Slow(t)
	rng := testseed.Rand(t)
	c := cardanogen.New(cardanogen.Options{Seed: rng.Uint64(), TxsPerBlock: 10, AllParts: true})
	dir := t.TempDir()
	if err := c.Genesis().Write(dir); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, dir)
	w.moved = true
	n := ouroborostest.Start(t, cardanogen.DefaultMagic, branch(t, c, 40))
	verify := func() {
		tip := n.Tip()
		w.sync(t, n.TCP(), model.HeightPk(tip.Number))
		if got := w.naive.tip().Hash; got != tip.Hash {
			t.Fatalf("the database is at %s, the node at %x", got, tip.Hash)
		}
		for _, endpoint := range []string{"/", "/health", "/health/clock", "/blocks/latest", "/blocks/latest/txs", "/blocks/latest/txs/cbor"} {
			w.get(t, endpoint)
		}
		w.verify(t, rng, testrun.Amount(20, 8))
	}
	for range testrun.Amount(5, 2) {
		fork, depth, common := c.Fork(rng.Uint64()), 1+rng.IntN(20), len(w.naive.blocks)
		if common == 0 {
			common = 40
		}
		n.Extend(branch(t, c, depth)...)
		verify()
		n.Switch(common, branch(t, fork, depth+1)...)
		verify()
		c = fork
	}
}
