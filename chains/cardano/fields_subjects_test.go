package cardano

import (
	"slices"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
)

// Subjects are the names in certificates, withdrawals, votes and redeemers. A delegation has only the account, and the
// redeemer of an input has none.
func TestSubjects(t *testing.T) {
	key, pool, hot := filled(28, 1), filled(28, 2), filled(28, 3)
	account := append([]byte{0xf1}, filled(28, 4)...)
	action := list{filled(32, 5), 0}
	body := txBody(dict{
		4:  list{list{0, list{0, key}}, list{2, list{0, key}, pool}, list{4, pool, 9}, list{16, list{1, key}, 5, nil}},
		5:  dict{cbor.ByteString(account): 7},
		9:  dict{cbor.ByteString(policyA): dict{cbor.ByteString("x"): 1}},
		19: endless(t, 0xbf, list{1, hot}, endless(t, 0xbf, action, list{1, nil})),
		20: list{list{1, account, list{6}, list{"u", filled(32, 6)}}},
	})
	redeemers := list{list{1, 0, 0, list{1, 1}}, list{0, 0, 0, list{1, 1}}, list{3, 0, 0, list{1, 1}}}
	block := handmade(t, ledger.EraConway, list{body, txBody(nil)}, list{dict{5: redeemers}, dict{}}, dict{}, list{})
	c := saying(t, "tx.subjects")
	b, _, err := c.decoderOf(t, "said").Block(block)
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(c.said(&b.Txs[0].Outputs[0]), ", ")
	cred := func(kind byte, hash []byte) []byte { return append([]byte{kind}, hash...) }
	want := []string{
		"stake_registration", "stake_delegation", "pool_retirement", "reg_drep", "proposal", "committee_vote",
		address.FormatStakeCredential(address.Mainnet, cred(0, key)), address.FormatPoolHash(pool),
		address.FormatGovernance(address.DRep, cred(1, key)), address.Format(address.Mainnet, account),
		address.FormatGovernance(address.CommitteeHot, cred(1, hot)), address.FormatAction(filled(32, 5), 0),
		address.FormatScript(policyA), address.FormatScript(account[1:]),
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
	if got := c.said(&b.Txs[1].Outputs[0]); got != "" {
		t.Errorf("a transaction without subjects has %q", got)
	}
}

// Ids of governance are parsed in the forms of CIP-105 and CIP-129, and formatted as CIP-129 specifies.
func TestGovernanceIDs(t *testing.T) {
	key, script := append([]byte{0}, filled(28, 7)...), append([]byte{1}, filled(28, 7)...)
	for _, kind := range []string{address.DRep, address.CommitteeHot} {
		for _, cred := range [][]byte{key, script} {
			want := address.FormatGovernance(kind, cred)
			if got, ok := address.ParseGovernance(kind, want); !ok || got != want {
				t.Errorf("%s is parsed as %q", want, got)
			}
			if _, ok := address.ParseGovernance(kind, want[:len(want)-1]); ok {
				t.Errorf("%s is parsed without its last characters", want)
			}
		}
		if _, ok := address.ParseGovernance(kind, address.FormatPoolHash(key[1:])); ok {
			t.Errorf("a pool is parsed as %s", kind)
		}
	}
	// This action is an example of CIP-129: transaction 0000…, index 17.
	const action = "gov_action1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqpzklpgpf"
	if tx, index, ok := address.ParseAction(action); !ok || index != 17 || !slices.Equal(tx, make([]byte, 32)) {
		t.Errorf("%x, %d, %t", tx, index, ok)
	}
	// A real id of preview without a position (src/fixtures/preview/governance/proposals of blockfrost/blockfrost-tests).
	const short = "gov_action124vkmmfnaheqs0q4yqn8prrys9qwtue60j68cnnrz2ryz3h5latqgzgzxc"
	if tx, index, ok := address.ParseAction(short); !ok || index != 0 || tx[0] != 0x55 {
		t.Errorf("%x, %d, %t", tx, index, ok)
	}
	for _, index := range []uint64{0, 255, 256, 65535} {
		text := address.FormatAction(filled(32, 8), index)
		if tx, i, ok := address.ParseAction(text); !ok || i != index || !slices.Equal(tx, filled(32, 8)) {
			t.Errorf("%s: %x, %d, %t", text, tx, i, ok)
		}
	}
}
