package blockfrost_test

import (
	"bytes"
	"encoding/hex"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/model"
)

type (
	list = cardanotest.List
	dict = cardanotest.Dict
)

// growing is a world of generated blocks, and a node to which tests add blocks of Conway.
type growing struct {
	*world
	t      *testing.T
	node   *ouroborostest.Node
	blocks []ouroborostest.Block

	spent model.Hash // the output that the next transaction spends
	index int
	value uint64
}

func grow(t *testing.T, seed uint64) *growing {
	t.Helper()
	c := cardanogen.New(cardanogen.Options{Seed: seed, TxsPerBlock: 5})
	dir := t.TempDir()
	if err := c.Genesis().Write(dir); err != nil {
		t.Fatal(err)
	}
	g := &growing{world: newWorld(t, dir), t: t, blocks: branch(t, c, 3)}
	g.node = ouroborostest.Start(t, cardanogen.DefaultMagic, g.blocks)
	g.sync(t, g.node.TCP(), 2)
	rich := unspent(g.naive.outputs)[0]
	g.spent, g.index, g.value = rich.tx.Hash, rich.index, rich.Value
	return g
}

// add appends a block with one transaction, which spends the first output of the one before it.
func (g *growing) add(more dict) string {
	g.t.Helper()
	g.value -= 170_000
	body := dict{0: list{list{g.spent[:], g.index}}, 1: list{list{cardanotest.Address, g.value}}, 2: 170_000}
	for k, v := range more {
		body[k] = v
	}
	last := g.blocks[len(g.blocks)-1]
	raw := cardanotest.BlockAt(g.t, ledger.EraConway, last.Number+1, last.Slot+20, last.Hash[:], cardanotest.Raw(g.t, list{body}),
		cardanotest.Raw(g.t, list{dict{}}), cardanotest.Raw(g.t, dict{}), cardanotest.Raw(g.t, list{}))
	next, err := ouroborostest.Blocks(raw)
	if err != nil {
		g.t.Fatal(err)
	}
	g.blocks = append(g.blocks, next...)
	g.node.Extend(next...)
	g.sync(g.t, g.node.TCP(), model.HeightPk(last.Number+1))
	g.spent, g.index = g.naive.tip().txs[0].Hash, 0
	return g.spent.String()
}

// Proposals and votes are listed by kind, by governance action and by voter, certificates by DRep.
func TestGovernance(t *testing.T) {
	w := grow(t, 7)
	add := w.add
	key, script, pool := cardanotest.Filled(28, 1), cardanotest.Filled(28, 2), cardanotest.Filled(28, 3)
	drep := address.FormatGovernance(address.DRep, append([]byte{0}, key...))
	member := address.FormatGovernance(address.CommitteeHot, append([]byte{1}, script...))
	account := append([]byte{0xe0}, cardanotest.Filled(28, 4)...)
	anchor := list{"https://example.org", cardanotest.Filled(32, 9)}
	withdrawal := cardanotest.Endless(t, 0xbf, account, 5_000_000)
	proposing := add(dict{
		4:  list{list{16, list{0, key}, 500_000_000, nil}},
		20: list{list{100, account, list{6}, anchor}, list{100, account, list{2, withdrawal, nil}, anchor}},
	})
	tx, err := hex.DecodeString(proposing)
	if err != nil {
		t.Fatal(err)
	}
	info, treasury := address.FormatAction(tx, 0), address.FormatAction(tx, 1)
	on := func(action int, choice int, with any) any {
		return cardanotest.Endless(t, 0xbf, list{tx, action}, list{choice, with})
	}
	voting := add(dict{
		4: list{list{18, list{0, key}, anchor}},
		// Of the DRep before the pool in the order of the ledger.
		19: cardanotest.Endless(t, 0xbf, list{4, pool}, on(0, 2, nil), list{1, script}, on(1, 0, anchor),
			list{2, key}, cardanotest.Endless(t, 0xbf, list{tx, 1}, list{0, nil}, list{tx, 0}, list{1, nil})),
	})
	leaving := add(dict{4: list{list{17, list{0, key}, 500_000_000}}})

	ratio := func(a, b int) any { return cbor.Tag{Number: 30, Content: list{a, b}} }
	thresholds := func(n int) (all list) {
		for i := range n {
			all = append(all, ratio(50+i, 100))
		}
		return all
	}
	update := dict{
		0: 44, 1: 155381, 2: 90112, 3: 16384, 4: 1100, 5: 2_000_000, 6: 500_000_000, 7: 18, 8: 500, 9: ratio(3, 10), 10: ratio(3, 1000),
		11: ratio(1, 5), 16: 170_000_000, 17: 4310, 18: dict{0: list{-1, 2}, 2: list{3}}, 19: list{ratio(577, 10_000), ratio(721, 10_000_000)},
		20: list{14_000_000, 10_000_000_000}, 21: list{62_000_000, 20_000_000_000}, 22: 5000, 23: 150, 24: 3, 25: thresholds(5),
		26: thresholds(10), 27: 7, 28: 146, 29: 6, 30: 100_000_000_000, 31: 500_000_000, 32: 20, 33: ratio(15, 1),
	}
	changing := add(dict{20: list{
		list{100, account, list{0, nil, update, nil}, anchor}, list{100, account, list{0, list{tx, 0}, dict{3: 20_000}, script}, anchor},
	}})
	w.parametersOf(t, changing)

	height := func(i int) any { return w.naive.blocks[len(w.naive.blocks)-i].Height }
	proposals := []any{
		object{"id": info, "tx_hash": proposing, "cert_index": 0, "governance_type": "info_action"},
		object{"id": treasury, "tx_hash": proposing, "cert_index": 1, "governance_type": "treasury_withdrawals"},
	}
	vote := func(place int, id string, number int, choice string) object {
		return object{
			"tx_hash": voting, "cert_index": place, "proposal_id": id, "proposal_tx_hash": proposing, "proposal_cert_index": number, "vote": choice,
		}
	}
	committee := []any{object{
		"tx_hash": voting, "voter_hot_id": member, "proposal_id": treasury, "proposal_tx_hash": proposing, "proposal_index": 1,
		"governance_type": "treasury_withdrawals", "vote": "no", "metadata_url": "https://example.org",
		"metadata_hash": hex.EncodeToString(cardanotest.Filled(32, 9)), "block_height": height(3),
		"block_time": w.naive.blocks[len(w.naive.blocks)-3].Time,
	}}
	if tx, err = hex.DecodeString(changing); err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		proposals = append(proposals, object{
			"id": address.FormatAction(tx, uint64(i)), "tx_hash": changing, "cert_index": i, "governance_type": "parameter_change",
		})
	}
	withdrawals := []any{object{"stake_address": address.Format(address.Preview, account), "amount": "5000000"}}
	old := address.FormatPoolHash(pool)
	for endpoint, want := range map[string][]any{
		"/governance/proposals":                                 proposals,
		"/governance/proposals?count=1&page=2":                  proposals[1:2],
		"/governance/proposals?order=desc&count=1":              proposals[3:],
		"/governance/proposals/" + proposing + "/1/withdrawals": withdrawals,
		"/governance/proposals/" + treasury + "/withdrawals":    withdrawals,
		"/governance/proposals/" + info + "/withdrawals":        {},
		"/governance/dreps/" + drep + "/votes":                  {vote(0, info, 0, "yes"), vote(1, treasury, 1, "no")},
		"/governance/dreps/" + drep + "/updates": {
			object{"tx_hash": proposing, "cert_index": 0, "action": "registered", "deposit": "500000000"},
			object{"tx_hash": voting, "cert_index": 0, "action": "updated", "deposit": nil},
			object{"tx_hash": leaving, "cert_index": 0, "action": "deregistered", "deposit": nil},
		},
		"/governance/committee/votes":                committee,
		"/governance/committee/" + member + "/votes": committee,
		"/pools/" + old + "/votes":                   {object{"tx_hash": voting, "cert_index": 0, "vote": "abstain"}},
		"/pools/" + old + "/updates":                 {},
	} {
		w.same(t, endpoint, append([]any{}, want...))
	}
	for endpoint, status := range map[string]int{
		"/governance/dreps/drep1x/votes": 400, "/governance/committee/x/votes": 400, "/governance/proposals/gov_action1x/withdrawals": 400,
		"/governance/proposals/" + proposing + "/2/withdrawals": 404, "/governance/proposals/" + voting + "/0/withdrawals": 404,
		"/governance/proposals/" + info + "/parameters": 404, "/governance/proposals/" + voting + "/0/parameters": 404,
		"/governance/dreps/" + address.FormatGovernance(address.DRep, append([]byte{0}, bytes.Repeat([]byte{8}, 28)...)) + "/votes": 200,
	} {
		if got, body := w.ask(t, "GET", endpoint); got != status {
			t.Errorf("%s: %d %s, expected %d", endpoint, got, body, status)
		}
	}
}

// parametersOf compares the parameters that two proposals of a transaction change: all of them, and the size of a transaction.
func (w *world) parametersOf(t *testing.T, tx string) {
	t.Helper()
	all := object{
		"epoch": nil, "decentralisation_param": nil, "extra_entropy": nil, "protocol_major_ver": nil, "protocol_minor_ver": nil,
		"min_fee_a": 44, "min_fee_b": 155381, "max_block_size": 90112, "max_tx_size": 16384, "max_block_header_size": 1100,
		"key_deposit": "2000000", "pool_deposit": "500000000", "e_max": 18, "n_opt": 500, "a0": 0.3, "rho": 0.003, "tau": 0.2,
		"min_pool_cost": "170000000", "min_utxo": "4310", "coins_per_utxo_size": "4310", "coins_per_utxo_word": "4310",
		"cost_models": object{"PlutusV1": []any{-1, 2}, "PlutusV3": []any{3}}, "price_mem": 0.0577, "price_step": 0.0000721,
		"max_tx_ex_mem": "14000000", "max_tx_ex_steps": "10000000000", "max_block_ex_mem": "62000000", "max_block_ex_steps": "20000000000",
		"max_val_size": "5000", "collateral_percent": 150, "max_collateral_inputs": 3,
		"pvt_motion_no_confidence": 0.5, "pvt_committee_normal": 0.51, "pvt_committee_no_confidence": 0.52,
		"pvt_hard_fork_initiation": 0.53, "pvtpp_security_group": 0.54, "pvt_p_p_security_group": 0.54,
		"dvt_motion_no_confidence": 0.5, "dvt_committee_normal": 0.51, "dvt_committee_no_confidence": 0.52,
		"dvt_update_to_constitution": 0.53, "dvt_hard_fork_initiation": 0.54, "dvt_p_p_network_group": 0.55,
		"dvt_p_p_economic_group": 0.56, "dvt_p_p_technical_group": 0.57, "dvt_p_p_gov_group": 0.58, "dvt_treasury_withdrawal": 0.59,
		"committee_min_size": "7", "committee_max_term_length": "146", "gov_action_lifetime": "6",
		"gov_action_deposit": "100000000000", "drep_deposit": "500000000", "drep_activity": "20", "min_fee_ref_script_cost_per_byte": 15,
	}
	raw, err := hex.DecodeString(tx)
	if err != nil {
		t.Fatal(err)
	}
	path := "/governance/proposals/" + tx
	answer := func(index uint64) object {
		return object{"id": address.FormatAction(raw, index), "tx_hash": tx, "cert_index": index, "parameters": all}
	}
	w.same(t, path+"/0/parameters", answer(0))
	w.same(t, "/governance/proposals/"+address.FormatAction(raw, 0)+"/parameters", answer(0))
	for name := range all {
		all[name] = nil
	}
	all["max_tx_size"] = 20_000
	w.same(t, path+"/1/parameters", answer(1))
}
