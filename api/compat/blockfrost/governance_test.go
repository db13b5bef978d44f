package blockfrost_test

import (
	"bytes"
	"encoding/hex"
	"testing"

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

// Proposals and votes are listed by their kind, by the governance action and by who votes; certificates by their DRep.
func TestGovernance(t *testing.T) {
	c := cardanogen.New(cardanogen.Options{Seed: 7, TxsPerBlock: 5})
	dir := t.TempDir()
	if err := c.Genesis().Write(dir); err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, dir)
	blocks := branch(t, c, 3)
	n := ouroborostest.Start(t, cardanogen.DefaultMagic, blocks)
	w.sync(t, n.TCP(), 2)
	rich := unspent(w.naive.outputs)[0]

	key, script, pool := cardanotest.Filled(28, 1), cardanotest.Filled(28, 2), cardanotest.Filled(28, 3)
	drep := address.FormatGovernance(address.DRep, append([]byte{0}, key...))
	member := address.FormatGovernance(address.CommitteeHot, append([]byte{1}, script...))
	account := append([]byte{0xe0}, cardanotest.Filled(28, 4)...)
	anchor := list{"https://example.org", cardanotest.Filled(32, 9)}
	// add appends a block with one transaction, which spends the first output of the one before it.
	spent, value := rich.tx.Hash, rich.Value
	index := rich.index
	add := func(more dict) string {
		t.Helper()
		value -= 170_000
		body := dict{0: list{list{spent[:], index}}, 1: list{list{cardanotest.Address, value}}, 2: 170_000}
		for k, v := range more {
			body[k] = v
		}
		last := blocks[len(blocks)-1]
		raw := cardanotest.BlockAt(t, ledger.EraConway, last.Number+1, last.Slot+20, last.Hash[:], cardanotest.Raw(t, list{body}),
			cardanotest.Raw(t, list{dict{}}), cardanotest.Raw(t, dict{}), cardanotest.Raw(t, list{}))
		next, err := ouroborostest.Blocks(raw)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, next...)
		n.Extend(next...)
		w.sync(t, n.TCP(), model.HeightPk(last.Number+1))
		spent, index = w.naive.tip().txs[0].Hash, 0
		return spent.String()
	}
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
		"metadata_hash": hex.EncodeToString(cardanotest.Filled(32, 9)), "block_height": height(2),
		"block_time": w.naive.blocks[len(w.naive.blocks)-2].Time,
	}}
	withdrawals := []any{object{"stake_address": address.Format(address.Preview, account), "amount": "5000000"}}
	old := address.FormatPoolHash(pool)
	for endpoint, want := range map[string][]any{
		"/governance/proposals":                                 proposals,
		"/governance/proposals?count=1&page=2":                  proposals[1:],
		"/governance/proposals?order=desc&count=1":              proposals[1:],
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
		"/governance/dreps/" + address.FormatGovernance(address.DRep, append([]byte{0}, bytes.Repeat([]byte{8}, 28)...)) + "/votes": 404,
	} {
		if got, body := w.ask(t, "GET", endpoint); got != status {
			t.Errorf("%s: %d %s, expected %d", endpoint, got, body, status)
		}
	}
}
