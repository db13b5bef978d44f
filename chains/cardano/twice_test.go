package cardano

import (
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/body"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// In each map and set of a transaction, an equal key counts once, and of its values the last. The certificates before
// Conway are a list.
func TestEqualKeysOfATransactionCountOnce(t *testing.T) {
	c, err := New("mainnet")
	if err != nil {
		t.Fatal(err)
	}
	account, other := append([]byte{0xe1}, filled(28, 1)...), append([]byte{0xe1}, filled(28, 2)...)
	in, in2 := list{filled(32, 5), 1}, list{filled(32, 4), 7}
	twice := endless(t, 0x9f, in, in2, in, endless(t, 0x9f, filled(32, 5), 1))
	registration := list{0, list{0, filled(28, 3)}}
	key, key2 := filled(28, 6), filled(28, 7)
	pool := list{3, key, filled(32, 1), 1, 2, tagged(30, list{1, 2}), account, list{key, key2, key}, list{}, nil}
	payments := endless(t, 0xbf, list{0, key}, 5, list{0, key2}, 6, list{0, key}, tagged(2, []byte{1, 0, 0, 0, 0, 0, 0, 0, 0}))
	action := list{filled(32, 8), 0}
	body0 := txBody(dict{
		0: twice, 13: twice, 18: twice,
		4:  list{registration, pool, registration, list{6, list{0, payments}}},
		5:  endless(t, 0xbf, account, 5000, other, 1, account, 7000),
		9:  endless(t, 0xbf, policyA, endless(t, 0xbf, []byte("one"), 1), policyA, endless(t, 0xbf, []byte("two"), 2, []byte("two"), 3)),
		14: list{key, key2, key},
		19: endless(t, 0xbf, list{2, key}, endless(t, 0xbf, action, list{0, nil}), list{2, key}, endless(t, 0xbf, action, list{1, nil}, action, list{2, nil})),
		20: list{list{1, account, list{2, endless(t, 0xbf, account, 1, account, 2), nil}, list{"", filled(32, 0)}}},
	})
	units := list{1, 2}
	for _, redeemers := range []any{
		list{list{0, 1, 7, units}, list{1, 0, 8, units}, list{0, 1, 9, units}},
		endless(t, 0xbf, list{0, 1}, list{7, units}, list{1, 0}, list{8, units}, list{0, 1}, list{9, units}),
	} {
		witnesses := dict{3: list{[]byte("a"), []byte("a")}, 4: list{1, 2, 1}, 5: redeemers}
		metadata := endless(t, 0xbf, 5, "a", 6, "b", 5, "c")
		tx := raw(t, list{body0, witnesses, true, metadata})
		d, err := c.(model.TxDescriber).DescribeTx(tx, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		parts, err := ledger.ReadParts(tx)
		if err != nil {
			t.Fatal(err)
		}
		b, err := body.Read(parts.Body)
		if err != nil {
			t.Fatal(err)
		}
		decoder, err := c.(*chain).decoder([]string{indexAddress}, true)
		if err != nil {
			t.Fatal(err)
		}
		decodedTx, err := decoder.Tx(tx)
		if err != nil {
			t.Fatal(err)
		}
		var lines []string
		line := func(what string, values ...any) {
			lines = append(lines, strings.TrimSpace(what+" "+fmt.Sprintln(values...)))
		}
		refs := func(all []model.OutputReference) (text string) {
			for _, r := range all {
				text += fmt.Sprint(r.Tx[:2], ":", r.Index, " ")
			}
			return text
		}
		line("inputs", len(decodedTx.Inputs), len(b.Inputs), b.Inputs[0].Index, b.Inputs[1].Index)
		line("collateral", refs(d.Collateral))
		line("references", refs(d.ReferenceInputs))
		for _, w := range d.Withdrawals {
			line("withdrawal", w.Address[len(w.Address)-4:], w.Amount)
		}
		for _, m := range decodedTx.Mints {
			line("mint", hex.EncodeToString(m.Asset[address.PolicySize:]), m.Amount)
		}
		line("mints", b.MintCount())
		line("certificates", len(d.Certificates), len(b.Certificates), len(d.Certificates[1].Owners))
		for _, p := range body.Payments(b.Certificates[3]) {
			line("payment", p.Credential[1], p.Amount)
		}
		line("signers", len(d.RequiredSigners))
		for _, v := range b.ReadVotes() {
			line("vote", len(b.Voters), v.Index, v.Choice)
		}
		for _, v := range d.Votes {
			line("choice", v.Voter == address.FormatGovernance(address.DRep, append([]byte{0}, key...)), v.Action[:10], v.Choice)
		}
		proposal, ok := body.ReadProposal(b.Proposals[0])
		line("proposal", ok, len(proposal.Withdrawals), proposal.Withdrawals[0].Amount)
		for _, r := range d.Redeemers {
			line("redeemer", r.Purpose, r.Index, r.Data.Raw)
		}
		line("witnesses", len(d.Scripts), len(d.Datums))
		line("metadata", d.Metadata)
		want := []string{
			"inputs 2 2 7 1", "collateral 05:1 04:7", "references 05:1 04:7",
			"withdrawal " + tail(c, account) + " 7000", "withdrawal " + tail(c, other) + " 1",
			"mint 74776f 3", "mints 1", "certificates 4 4 2", "payment 6 18446744073709551616", "payment 7 6", "signers 2",
			"vote 1 0 2", "choice true gov_action abstain", "proposal true 1 2", "redeemer spend 1 09", "redeemer mint 0 08", "witnesses 1 2", "metadata map[5:c 6:b]",
		}
		if !slices.Equal(lines, want) {
			t.Errorf("\n got %s\nwant %s", strings.Join(lines, "\n     "), strings.Join(want, "\n     "))
		}
	}
}

func tail(c model.Chain, account []byte) string {
	text := address.FormatAccount(c.(*chain).net.Network, account)
	return text[len(text)-4:]
}
