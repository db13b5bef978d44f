package blockfrost_test

import (
	"encoding/hex"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/api/compat/answertest"
	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano/address"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

// Each address, account, script, datum, asset, pool, transaction and block in an answer is an argument of the API, over
// real blocks of preview, over a generated chain, and over odd transactions, whose change is at an address of mainnet.
func TestAnswersLeadToAnswers(t *testing.T) {
	t.Run("preview", func(t *testing.T) {
		testrun.Slow(t)
		preview(t, 50_939).crawl(t, 4000, nil)
	})
	t.Run("generated", func(t *testing.T) {
		c := cardanogen.New(cardanogen.Options{Seed: testseed.Rand(t).Uint64(), TxsPerBlock: 8, AllParts: true})
		dir := t.TempDir()
		if err := c.Genesis().Write(dir); err != nil {
			t.Fatal(err)
		}
		store := storetest.NewFaulty(memory.New())
		w := newWorldIn(t, dir, store)
		w.store = store
		n := ouroborostest.Start(t, cardanogen.DefaultMagic, branch(t, c, 100))
		w.sync(t, n.TCP(), model.HeightPk(n.Tip().Number))
		w.crawl(t, testrun.Amount(3000, 1000), func(target string, status int) bool {
			// A network that is not public has no prices for redeemers, and pools of its genesis.
			return status == http.StatusNotImplemented && strings.HasSuffix(target, "/redeemers") ||
				status == http.StatusNotFound && strings.HasPrefix(target, "/pools/")
		})
	})
	t.Run("odd", func(t *testing.T) {
		g := grow(t, 5)
		large := regexp.MustCompile("^/metadata/txs/labels/(9223372036854775808|18446744073709551615)") // Blockfrost refuses them, too
		each(t, func(name string, era int, tx whole) {
			if err := g.db.Append(t.Context(), []*model.Block{g.block(era, shared(1), tx)}); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		})
		// Only a collateral return that was not created has this script: no row leads to it (docs/cardano-clients.md).
		notCreated := "/scripts/" + hex.EncodeToString(address.Hash224([]byte("\x04x")))
		g.crawl(t, testrun.Amount(3000, 1000), func(target string, status int) bool {
			return status == http.StatusNotImplemented && strings.HasSuffix(target, "/redeemers") ||
				status == http.StatusNotFound && (strings.HasPrefix(target, "/pools/") || strings.HasPrefix(target, notCreated)) ||
				status == http.StatusBadRequest && (strings.HasPrefix(target, "/addresses/addr1") || large.MatchString(target))
		})
	})
}

// crawl requests what answers lead to.
func (w *world) crawl(t *testing.T, most int, excused func(target string, status int) bool) {
	t.Helper()
	of := func(before string, parts ...string) (all []string) {
		for _, p := range parts {
			all = append(all, before+"/{}"+p)
		}
		return all
	}
	is := regexp.MustCompile
	hash := is("[0-9a-f]{64}")
	account, bare := is("stake(_test)?1[0-9a-z]+"), is("(addr|DdzFF|Ae2td|2c|37|FH|KjgoiX)[0-9A-Za-z_]*")
	txs := of("/txs", "", "/utxos", "/cbor", "/metadata", "/metadata/cbor", "/redeemers", "/required_signers", "/withdrawals", "/stakes",
		"/delegations", "/mirs", "/pool_updates", "/pool_retires")
	addresses := of("/addresses", "", "/extended", "/total", "/utxos", "/txs", "/transactions")
	accounts := of("/accounts", "/addresses", "/addresses/assets", "/addresses/total", "/utxos", "/transactions", "/delegations", "/registrations",
		"/withdrawals", "/mirs")
	scripts := of("/scripts", "", "/json", "/cbor", "/redeemers", "/utxos")
	pools := of("/pools", "/metadata", "/relays", "/blocks", "/updates", "/votes")
	assets := of("/assets", "", "/history", "/txs", "/transactions", "/addresses", "/utxos")
	answertest.Crawl{
		Ask: answertest.HTTP(w, path),
		Seeds: []string{
			"/blocks/latest", "/blocks/latest/txs", "/blocks/50", "/epochs/latest", "/assets", "/assets?order=desc",
			"/scripts", "/scripts?order=desc", "/pools", "/pools/retired", "/pools/retiring", "/metadata/txs/labels",
		},
		Rules: []answertest.Rule{
			{Keys: []string{"hash", "previous_block", "next_block", "block"}, In: is("/blocks/.*"), Pattern: hash,
				Targets: of("/blocks", "", "/next?count=3", "/previous?count=3", "/txs", "/txs/cbor", "/addresses")},
			{Keys: []string{"block"}, Pattern: hash, Targets: of("/blocks", "")},
			{Keys: []string{"height", "block_height"}, Targets: of("/blocks", "")},
			{Keys: []string{"slot"}, In: is("/blocks/.*"), Targets: of("/blocks/slot", "")},
			{Keys: []string{"epoch"}, Targets: of("/epochs", "", "/next", "/previous", "/blocks?count=3")},
			{Keys: []string{"tx_hash", "consumed_by_tx", "initial_mint_tx_hash"}, Targets: txs},
			{Keys: []string{"hash"}, In: is("/txs/.*"), Targets: txs},
			{Keys: []string{"text"}, In: is("/blocks/.*/txs.*|/(addresses|assets)/.*/txs"), Pattern: hash, Targets: txs},
			{Keys: []string{"text"}, In: is("/(epochs|pools)/.*/blocks.*"), Pattern: hash, Targets: of("/blocks", "")},
			{Keys: []string{"address"}, Pattern: bare, Targets: addresses},
			{Keys: []string{"address", "stake_address", "reward_account", "owners"}, Pattern: account, Targets: accounts},
			{Keys: []string{"unit", "asset"}, Pattern: is("[0-9a-f]+"), Targets: assets},
			{Keys: []string{"policy_id"}, Targets: of("/assets/policy", "")},
			{Keys: []string{"script_hash", "reference_script_hash"}, Targets: scripts, Rare: excused != nil},
			{Keys: []string{"data_hash", "datum_hash", "redeemer_data_hash"}, Targets: of("/scripts/datum", "", "/cbor")},
			{Keys: []string{"pool_id", "slot_leader", "text"}, Pattern: is("pool1[0-9a-z]+"), Targets: pools},
			{Keys: []string{"label"}, Targets: of("/metadata/txs/labels", "", "/cbor")},
		},
		// Keys of blocks and pools, their certificates and metadata, and hashes of keys that sign.
		Plain: []string{"block_vrf", "op_cert", "vrf_key", "witness_hash", "fingerprint", "asset_name", "hash", "hex"},
		Contents: []string{
			"json_metadata", "onchain_metadata", "cbor_metadata", "metadata", "json_value", "json", "cbor", "inline_datum", "inline_datum_json",
		},
		Excused: func(target string, status int, _ []byte) bool {
			return status == http.StatusNotFound && w.unanswered(target) || excused != nil && excused(target, status)
		},
		Most: most, Store: w.store,
	}.Run(t)
}

// unanswered reports whether docs/cardano-clients.md documents a 404: transactions of the genesis, datums that no
// output or witness contains, and accounts that only pools have for their rewards. Pools retire in epochs to come.
func (w *world) unanswered(target string) bool {
	parts := strings.Split(strings.TrimPrefix(target, "/"), "/")
	argument := parts[1]
	switch parts[0] {
	case "txs":
		return slices.ContainsFunc(w.naive.outputs, func(o *naiveOutput) bool { return o.tx.block == nil && o.tx.Hash.String() == argument })
	case "blocks":
		block := answertest.HTTP(w, path)
		_, body := block("/blocks/" + argument)
		return len(parts) > 2 && strings.Contains(string(body), `"height":null`) // the genesis
	case "accounts":
		return w.naive.onlyOfPools(argument)
	case "scripts":
		return argument == "datum" && !w.naive.hasDatum(parts[2])
	case "epochs":
		n, err := strconv.ParseUint(argument, 10, 64)
		return err == nil && n > *w.naive.tip().header.Epoch
	}
	return false
}

// onlyOfPools reports whether the chain has an account only as the one of a pool's rewards, or as an owner.
func (n *naive) onlyOfPools(account string) (pool bool) {
	for _, o := range n.outputs {
		if cred, ok := address.StakeCredential(o.address); ok && address.FormatStakeCredential(address.Preview, cred) == account {
			return false
		}
	}
	for _, b := range n.blocks {
		for _, tx := range b.txs {
			for _, c := range tx.d.Certificates {
				if c.StakeAddress == account {
					return false
				}
				pool = pool || c.RewardAddress == account || slices.Contains(c.Owners, account)
			}
		}
	}
	return pool
}

// hasDatum reports whether an output or a witness of the chain has a datum.
func (n *naive) hasDatum(hash string) bool {
	for _, b := range n.blocks {
		for _, tx := range b.txs {
			if slices.ContainsFunc(tx.d.Datums, func(d model.EncodedValue) bool { return d.Hash == hash }) {
				return true
			}
			for _, o := range tx.d.Outputs {
				if o.Datum != nil && o.DatumHash == hash {
					return true
				}
			}
		}
	}
	return false
}
