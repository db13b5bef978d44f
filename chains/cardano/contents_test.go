package cardano

import (
	"encoding/hex"
	"reflect"
	"testing"

	gcbor "github.com/blinklabs-io/gouroboros/cbor"
	"github.com/blinklabs-io/gouroboros/ledger/conway"

	"birthmark/chains/cardano/address"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/model"
)

// Every kind of governance action is described with its changes. The actions are valid: gouroboros decodes them too.
func TestContentsOfProposals(t *testing.T) {
	c, err := New("preview")
	if err != nil {
		t.Fatal(err)
	}
	account, document := append([]byte{0xe0}, filled(28, 1)...), list{"https://example.org/a", filled(32, 9)}
	before := list{filled(32, 8), 3}
	previous := address.FormatAction(filled(32, 8), 3)
	key, script := list{0, filled(28, 2)}, list{1, filled(28, 3)}
	cold := func(kind, b byte) string {
		return address.FormatGovernance(address.CommitteeCold, append([]byte{kind}, filled(28, b)...))
	}
	ratio := func(a, b int) any { return tagged(30, list{a, b}) }
	thresholds := func(n int) (all list) {
		for i := range n {
			all = append(all, ratio(i, 100))
		}
		return all
	}
	costs := list{1, -2, 3}
	for name, s := range map[string]struct {
		action any
		want   model.Proposal
		later  bool // of a later era or malformed: gouroboros may refuse it
	}{
		"parameters": {action: list{0, before, dict{0: 44, 5: 2_000_000, 9: ratio(3, 10), 17: 4310, 18: dict{0: costs, 2: list{}}, 19: list{ratio(577, 10_000), ratio(721, 10_000_000)},
			20: list{14_000_000, 10_000_000_000}, 25: thresholds(5), 26: thresholds(10), 33: ratio(15, 1)}, filled(28, 4)}, want: model.Proposal{
			Type: "parameter_change", Previous: previous, Parameters: []model.ParameterChange{
				{Name: "min_fee_a", Value: "44"}, {Name: "key_deposit", Value: "2000000"}, {Name: "a0", Value: "3/10"}, {Name: "coins_per_utxo_size", Value: "4310"},
				{Name: "cost_models", Value: "plutus_v1: 3 costs, plutus_v3: 0 costs"}, {Name: "price_mem", Value: "577/10000"}, {Name: "price_step", Value: "721/10000000"},
				{Name: "max_tx_ex_mem", Value: "14000000"}, {Name: "max_tx_ex_steps", Value: "10000000000"},
				{Name: "pvt_motion_no_confidence", Value: "0/100"}, {Name: "pvt_committee_normal", Value: "1/100"}, {Name: "pvt_committee_no_confidence", Value: "2/100"},
				{Name: "pvt_hard_fork_initiation", Value: "3/100"}, {Name: "pvt_p_p_security_group", Value: "4/100"},
				{Name: "dvt_motion_no_confidence", Value: "0/100"}, {Name: "dvt_committee_normal", Value: "1/100"}, {Name: "dvt_committee_no_confidence", Value: "2/100"},
				{Name: "dvt_update_to_constitution", Value: "3/100"}, {Name: "dvt_hard_fork_initiation", Value: "4/100"}, {Name: "dvt_p_p_network_group", Value: "5/100"},
				{Name: "dvt_p_p_economic_group", Value: "6/100"}, {Name: "dvt_p_p_technical_group", Value: "7/100"}, {Name: "dvt_p_p_gov_group", Value: "8/100"},
				{Name: "dvt_treasury_withdrawal", Value: "9/100"}, {Name: "min_fee_ref_script_cost_per_byte", Value: "15/1"},
			}}},
		"fork":               {action: list{1, nil, list{11, 2}}, want: model.Proposal{Type: "hard_fork_initiation", Version: "11.2"}},
		"withdrawals":        {action: list{2, dict{}, nil}, want: model.Proposal{Type: "treasury_withdrawals"}},
		"no confidence":      {action: list{3, before}, want: model.Proposal{Type: "no_confidence", Previous: previous}},
		"committee":          {action: list{4, nil, tagged(258, list{key, script, key}), endless(t, 0xbf, key, 500, script, 600), ratio(2, 3)}, want: model.Proposal{Type: "new_committee", Removed: []string{cold(0, 2), cold(1, 3)}, Added: []model.CommitteeTerm{{Member: cold(0, 2), Expires: 500}, {Member: cold(1, 3), Expires: 600}}, Quorum: "2/3"}},
		"constitution":       {action: list{5, before, list{document, filled(28, 5)}}, want: model.Proposal{Type: "new_constitution", Previous: previous, Constitution: &model.Constitution{URL: "https://example.org/a", Hash: hex.EncodeToString(filled(32, 9)), Script: hex.EncodeToString(filled(28, 5))}}},
		"without a guard":    {action: list{5, nil, list{document, nil}}, want: model.Proposal{Type: "new_constitution", Constitution: &model.Constitution{URL: "https://example.org/a", Hash: hex.EncodeToString(filled(32, 9))}}},
		"info":               {action: list{6}, want: model.Proposal{Type: "info_action"}},
		"later parameters":   {action: list{0, nil, endless(t, 0xbf, 0, 1, 99, list{1, "x"}, "a", 2, 1, 2), nil}, later: true, want: model.Proposal{Type: "parameter_change", Parameters: []model.ParameterChange{{Name: "min_fee_a", Value: "1"}, {Name: "unknown_99", Value: "82016178"}, {Name: "unknown_6161", Value: "02"}, {Name: "min_fee_b", Value: "2"}}}},
		"malformed ratio":    {action: list{0, nil, endless(t, 0xbf, 0, 1, 9, 5, 1, 2), nil}, later: true, want: model.Proposal{Type: "parameter_change", Parameters: []model.ParameterChange{{Name: "min_fee_a", Value: "1"}}}},
		"malformed previous": {action: list{3, list{1}}, later: true, want: model.Proposal{Type: "no_confidence"}},
		"malformed member":   {action: list{4, before, list{key, 5}, dict{}, ratio(1, 2)}, later: true, want: model.Proposal{Type: "new_committee", Previous: previous, Removed: []string{cold(0, 2)}}},
		"malformed version":  {action: list{1, nil, 7}, later: true, want: model.Proposal{Type: "hard_fork_initiation"}},
	} {
		proposal := list{100, account, s.action, document}
		tx := raw(t, list{txBody(dict{20: list{proposal}}), dict{}, true, nil})
		d, err := c.(model.TxDescriber).DescribeTx(tx, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(d.Proposals) != 1 {
			t.Fatalf("%s: %d proposals", name, len(d.Proposals))
		}
		got := d.Proposals[0]
		want := s.want
		want.Action, want.Raw, want.Deposit, want.URL, want.Hash = got.Action, hex.EncodeToString(raw(t, proposal)), "100", "https://example.org/a", hex.EncodeToString(filled(32, 9))
		want.ReturnAddress = address.FormatAccount(c.(*chain).net.Network, account)
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n got %+v\nwant %+v", name, got, want)
		}
		var theirs conway.ConwayProposalProcedure
		if _, err := gcbor.Decode(cardanotest.Raw(t, proposal), &theirs); err != nil && !s.later {
			t.Errorf("%s: gouroboros: %v", name, err)
		}
	}
}

func TestDocumentsOfCertificates(t *testing.T) {
	c, err := New("preview")
	if err != nil {
		t.Fatal(err)
	}
	zero, document := filled(28, 0), list{"https://example.org/b", filled(32, 9)}
	account := append([]byte{0xe0}, zero...)
	pool := func(last any) any {
		return list{3, zero, filled(32, 0), 7, 8, tagged(30, list{1, 2}), account, list{}, list{}, last}
	}
	for _, s := range []struct {
		certificate any
		has         bool
	}{
		{list{16, list{0, zero}, 5, document}, true}, {list{16, list{0, zero}, 5, nil}, false},
		{list{18, list{1, zero}, document}, true}, {list{18, list{1, zero}, nil}, false},
		{list{15, list{1, zero}, document}, true}, {list{15, list{1, zero}, nil}, false},
		{pool(document), true}, {pool(nil), false}, {list{17, list{0, zero}, 5}, false}, {list{0, list{0, zero}}, false},
	} {
		tx := raw(t, list{txBody(dict{4: list{s.certificate}}), dict{}, true, nil})
		d, err := c.(model.TxDescriber).DescribeTx(tx, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		url, hash := "", ""
		if s.has {
			url, hash = "https://example.org/b", hex.EncodeToString(filled(32, 9))
		}
		if got := d.Certificates[0]; got.URL != url || got.Hash != hash || got.Type == "" {
			t.Errorf("%v: %+v", s.certificate, got)
		}
	}
}
