package blockfrost_test

import (
	"fmt"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"birthmark/chains/cardano/address"
	"birthmark/internal/testnode/cardanotest"
)

// The votes of a cold credential of the committee are those of all hot ones that it has authorized, as
// src/sql/governance/committee_cc_id_votes.sql of github.com/blockfrost/blockfrost-backend-ryo selects them.
func TestVotesOfAColdCredential(t *testing.T) {
	w := grow(t, 11)
	cold, first, second, other := cardanotest.Filled(28, 1), cardanotest.Filled(28, 2), cardanotest.Filled(28, 3), cardanotest.Filled(28, 4)
	account := append([]byte{0xe0}, cardanotest.Filled(28, 5)...)
	anchor := list{"https://example.org", cardanotest.Filled(32, 9)}
	proposal := w.add(dict{20: list{list{100, account, list{6}, anchor}}})
	id := w.spent
	w.add(dict{4: list{list{14, list{0, cold}, list{0, first}}}})
	w.add(dict{4: list{list{14, list{0, cold}, list{1, second}}}})
	vote := func(kind int, hash []byte) string {
		return w.add(dict{19: cardanotest.Endless(t, 0xbf, list{kind, hash}, cardanotest.Endless(t, 0xbf, list{id[:], 0}, list{1, nil}))})
	}
	votes := []string{vote(0, first), vote(0, other), vote(1, second)}
	of := func(kind string, cred byte, hash []byte) (all []string) {
		member := address.FormatGovernance(kind, append([]byte{cred}, hash...))
		for _, e := range w.get(t, "/governance/committee/"+member+"/votes").([]any) {
			if e.(object)["proposal_tx_hash"] != proposal {
				t.Errorf("%v", e)
			}
			all = append(all, e.(object)["tx_hash"].(string))
		}
		return all
	}
	for _, c := range []struct{ got, want []string }{
		{of(address.CommitteeCold, 0, cold), []string{votes[0], votes[2]}},
		{of(address.CommitteeHot, 0, first), votes[:1]},
		{of(address.CommitteeHot, 1, second), votes[2:]},
		{of(address.CommitteeCold, 1, cold), nil},
		{of(address.CommitteeCold, 0, first), nil},
	} {
		if fmt.Sprint(c.got) != fmt.Sprint(c.want) {
			t.Errorf("%v, expected %v", c.got, c.want)
		}
	}
	if status, body := w.ask(t, "GET", "/governance/dreps/drep_always_abstain/votes"); status != 200 || body != "[]" {
		t.Errorf("votes of a predefined DRep: %d %s", status, body)
	}
}

// Certificates that real blocks of the test data do not have: payments of rewards, and a retirement that is announced.
func TestRareCertificates(t *testing.T) {
	w := grow(t, 12)
	pool, account := cardanotest.Filled(28, 1), cardanotest.Filled(28, 2)
	id := address.FormatPoolHash(pool)
	w.add(dict{4: list{list{
		3, pool, cardanotest.Filled(32, 3), 500, 340, cbor.Tag{Number: 30, Content: list{1, 10}}, append([]byte{0xe0}, account...), list{account}, list{}, nil,
	}}})
	tx := w.add(dict{4: list{list{4, pool, 1_000_000}, list{6, list{0, cardanotest.Endless(t, 0xbf, list{0, account}, 7)}}}})
	w.same(t, "/pools/retiring", []any{object{"pool_id": id, "epoch": 1_000_000}})
	w.same(t, "/txs/"+tx+"/pool_retires", []any{object{"cert_index": 0, "pool_id": id, "retiring_epoch": 1_000_000}})
	stake := address.FormatStakeCredential(address.Preview, append([]byte{0}, account...))
	w.same(t, "/txs/"+tx+"/mirs", []any{object{"pot": "reserve", "cert_index": 1, "address": stake, "amount": "7"}})
	if got := w.get(t, "/accounts/"+stake+"/mirs").([]any); len(got) != 1 || got[0].(object)["amount"] != "7" {
		t.Errorf("%v", got)
	}
}
