package cardano_test

import (
	"testing"

	"birthmark/chains/cardano"
	"birthmark/model"
)

// Stake addresses are looked up in the index of stake credentials, other addresses in the index that was named. The
// addresses are test vectors of CIP-19.
func TestStakeAddressesAreOfTheirOwnIndex(t *testing.T) {
	for _, c := range []struct{ network, index, text, want string }{
		{"mainnet", "address", "stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgw", "stake_credential"},
		{"mainnet", "address", "stake178phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtcccycj5", "stake_credential"},
		{"preprod", "address", "stake_test1uqehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gssrtvn", "stake_credential"},
		{"mainnet", "address", "stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgx", "address"},
		{"mainnet", "address", "addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8", "address"},
		{"mainnet", "payment_credential", "stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgw", "payment_credential"},
	} {
		chain, err := cardano.New(c.network)
		if err != nil {
			t.Fatal(err)
		}
		if got := chain.(model.IndexChooser).ChooseIndex(c.index, c.text); got != c.want {
			t.Errorf("%s %s is one of index %s, expected %s", c.index, c.text, got, c.want)
		}
	}
}
