package body

import (
	"bytes"
	"slices"
	"testing"
)

// Redeemers count reward accounts in the order of the ledger: scripts before keys, then by their bytes.
func TestRewardAccountsHaveTheOrderOfTheLedger(t *testing.T) {
	account := func(header, hash byte) []byte { return append([]byte{header}, bytes.Repeat([]byte{hash}, 28)...) }
	want := [][]byte{account(0xf1, 1), account(0xf1, 2), account(0xe1, 1), account(0xe1, 2)}
	for _, order := range [][]int{{0, 1, 2, 3}, {3, 2, 1, 0}, {2, 0, 3, 1}} {
		var got [][]byte
		for _, i := range order {
			got = append(got, want[i])
		}
		slices.SortFunc(got, compareAccounts)
		if !slices.EqualFunc(got, want, bytes.Equal) {
			t.Errorf("the order is %x, expected %x", got, want)
		}
	}
}
