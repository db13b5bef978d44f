package blockfrost_test

import (
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/bech32"

	"birthmark/chains/cardano/address"
	"birthmark/internal/testseed"
)

// previewGenesis is the hash of the genesis of preview, as a block before the first one.
const previewGenesis = "83de1d7302569ad56cf9139a41e2e11346d4cb4a31c00142557b6ab3fa550761"

// The block before the first one is the genesis, as /blocks/1/previous of the real preview network shows it:
// src/fixtures/preview/blocks/hash-or-number-previous.ts of github.com/blockfrost/blockfrost-tests.
func TestTheFirstBlockFollowsOnTheGenesis(t *testing.T) {
	w := preview(t, 20)
	genesis := object{
		"time": 1_666_656_000, "height": nil, "hash": previewGenesis, "slot": nil,
		"epoch": nil, "epoch_slot": nil, "slot_leader": "Genesis slot leader", "size": 0, "tx_count": 8, "output": "30000000000000000",
		"fees": "0", "block_vrf": nil, "op_cert": nil, "op_cert_counter": nil, "previous_block": nil,
		"next_block": "268ae601af8f9214804735910a3301881fbe0eec9936db7d1fb9fc39e93d1e37", "confirmations": 20,
	}
	first := object{
		"time": 1_666_656_000, "height": 0, "hash": "268ae601af8f9214804735910a3301881fbe0eec9936db7d1fb9fc39e93d1e37", "slot": 0,
		"epoch": 0, "epoch_slot": 0, "slot_leader": "ShelleyGenesis-7c54a168c731f2f4", "size": 4, "tx_count": 0, "output": nil, "fees": nil,
		"block_vrf":       "vrf_vk10a5axtpjqs03rxfdlakkh9z9hglqn9aqwnjvwq94qje4nu002k6qj9atr0",
		"op_cert":         "32fedaef288cd1753b4452d5c38387c010e68f92f420c75cbc8f2e731ef10855",
		"op_cert_counter": "0", "previous_block": previewGenesis,
		"next_block": "cd619529ca62b4c37f7f728cd6d3472682115f001e1d1278bf1b7dce528db44e", "confirmations": 20,
	}
	w.same(t, "/blocks/1/previous?count=2", []any{genesis, first})
	w.same(t, "/blocks/cd619529ca62b4c37f7f728cd6d3472682115f001e1d1278bf1b7dce528db44e/previous?count=2", []any{genesis, first})
	w.same(t, "/blocks/1/previous?count=1&page=2", []any{genesis})
	w.same(t, "/blocks/1/previous?count=1&page=3", []any{})
	w.same(t, "/blocks/0", first)
	hash := genesis["hash"].(string)
	w.same(t, "/blocks/"+hash, genesis)
	w.same(t, "/blocks/"+hash+"/previous", []any{})
	w.same(t, "/blocks/"+hash+"/next?count=1", []any{first})
}

// Each form of an identifier that Blockfrost accepts has the answer of its other forms, except for the identifier itself.
func TestFormsOfIdentifiers(t *testing.T) {
	w := preview(t, 4_000)
	rng := testseed.Rand(t)
	equal := func(a, b string) {
		t.Helper()
		status, body := w.ask(t, "GET", a)
		other, same := w.ask(t, "GET", b)
		if status != 200 || other != 200 || body != same {
			t.Errorf("%s: %d %.200s\n%s: %d %.200s", a, status, body, b, other, same)
		}
	}
	accounts := map[string]bool{}
	for _, o := range w.naive.outputs {
		if cred, ok := address.StakeCredential(o.address); ok {
			accounts[string(cred)] = true
		}
	}
	creds := slices.Sorted(maps.Keys(accounts))
	if len(creds) == 0 {
		t.Fatal("there are no accounts")
	}
	for range 5 {
		cred := []byte(creds[rng.IntN(len(creds))])
		account := address.FormatStakeCredential(address.Preview, cred)
		form, _ := bech32.EncodeFromBase256("stake_vkh", cred[1:]) // else it is empty, and not found
		if cred[0] == 1 {
			form = address.FormatScript(cred[1:])
		}
		for _, list := range []string{"transactions", "utxos", "addresses", "addresses/total", "addresses/assets", "delegations"} {
			equal("/accounts/"+form+"/"+list, "/accounts/"+account+"/"+list)
		}
	}
	b := w.naive.blocks[rng.IntN(len(w.naive.blocks))]
	equal("/blocks/"+strings.ToUpper(b.Hash.String()), "/blocks/"+b.Hash.String())
	pools := w.get(t, "/pools").([]any)
	id := pools[rng.IntN(len(pools))].(string)
	raw, err := address.ParsePool(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, list := range []string{"/pools/POOL/blocks", "/pools/POOL/updates", "/pools/POOL/relays", "/pools/POOL/metadata", "/epochs/0/blocks/POOL"} {
		equal(strings.Replace(list, "POOL", hex.EncodeToString(raw), 1), strings.Replace(list, "POOL", id, 1))
	}
}
