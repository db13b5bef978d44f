package address

import (
	"bytes"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"

	"birthmark/model"
)

func TestCredentialsOfAddresses(t *testing.T) {
	payment, stake := "00"+cip19Payment, "00"+cip19Stake
	script := "01" + cip19Script
	for i, want := range []struct{ payment, stake string }{
		{payment, stake}, {script, stake}, {payment, script}, {script, script},
		{payment, ""}, {script, ""}, {payment, ""}, {script, ""},
		{"", stake}, {"", script},
	} {
		address := append([]byte{cip19[i].first}, unhex(t, cip19[i].rest)...)
		checkCredential(t, address, PaymentCredential, want.payment)
		checkCredential(t, address, StakeCredential, want.stake)
		if want.stake != "" { // bytes after the credentials are ignored
			checkCredential(t, append(address, 1, 2, 3), StakeCredential, want.stake)
		}
	}
	for _, address := range [][]byte{
		nil, {0x01}, unhex(t, "01"+cip19Payment[2:]), base58.Decode(byronAddresses["mainnet"][0]), bytes.Repeat([]byte{0x91}, baseSize),
	} {
		checkCredential(t, address, PaymentCredential, "")
		checkCredential(t, address, StakeCredential, "")
	}
	cut := unhex(t, "01"+cip19Payment+cip19Stake[2:])
	checkCredential(t, cut, PaymentCredential, payment)
	checkCredential(t, cut, StakeCredential, "")
}

// checkCredential compares a credential with its hex, which is "" if there is no credential.
func checkCredential(t *testing.T, address []byte, of func([]byte) ([]byte, bool), want string) {
	t.Helper()
	cred, ok := of(address)
	if ok != (want != "") || !bytes.Equal(cred, unhex(t, want)) {
		t.Errorf("%x has %x, %t, expected %q", address, cred, ok, want)
	}
}

func TestFormatCredentials(t *testing.T) {
	main, preview := named(t, "mainnet"), named(t, "preview")
	key, script := unhex(t, "00"+cip19Stake), unhex(t, "01"+cip19Script)
	payment := unhex(t, "00"+cip19Payment)
	for _, c := range []struct {
		n      Network
		cred   []byte
		format func(Network, []byte) string
		parse  func(Network, string) ([]byte, error)
		text   string
		others []string
	}{
		{main, payment, FormatPaymentCredential, ParsePaymentCredential, encodeBech32("addr_vkh", payment[1:]),
			[]string{cip19[0].mainnet, cip19[4].mainnet, cip19[6].mainnet}},
		{main, script, FormatPaymentCredential, ParsePaymentCredential, "script1cda3khwqv60360rp5m7akt50m6ttapacs8rqhn5w342z7r35m37",
			[]string{cip19[1].mainnet, cip19[7].mainnet, "SCRIPT1CDA3KHWQV60360RP5M7AKT50M6TTAPACS8RQHN5W342Z7R35M37"}},
		{main, key, FormatStakeCredential, ParseStakeCredential, cip19[8].mainnet,
			[]string{cip19[0].mainnet, cip19[1].mainnet, encodeBech32("stake_vkh", key[1:])}},
		{preview, key, FormatStakeCredential, ParseStakeCredential, cip19[8].testnet, nil},
		{preview, script, FormatStakeCredential, ParseStakeCredential, cip19[9].testnet,
			[]string{cip19[2].testnet, "script1cda3khwqv60360rp5m7akt50m6ttapacs8rqhn5w342z7r35m37"}},
		{main, []byte{2, 3}, FormatStakeCredential, ParseStakeCredential, "hex:0203", nil},
		{main, append([]byte{2}, key[1:]...), FormatPaymentCredential, ParsePaymentCredential, "hex:02" + cip19Stake, nil},
	} {
		if got := c.format(c.n, c.cred); got != c.text {
			t.Errorf("%x is formatted as %s, expected %s", c.cred, got, c.text)
		}
		for _, text := range append(c.others, c.text) {
			if got, err := c.parse(c.n, text); err != nil || !bytes.Equal(got, c.cred) {
				t.Errorf("%s is parsed as %x, %v, expected %x", text, got, err, c.cred)
			}
		}
	}
}

func TestInvalidCredentialErrors(t *testing.T) {
	n := named(t, "mainnet")
	hash := unhex(t, cip19Payment)
	for _, c := range []struct {
		parse      func(Network, string) ([]byte, error)
		text, says string
	}{
		{ParsePaymentCredential, cip19Payment, "does not state whether it is a key or a script: write addr_vkh1"},
		{ParseStakeCredential, cip19Payment, "write stake_vkh1"},
		{ParsePaymentCredential, encodeBech32("stake_vkh", hash), "expected addr_vkh1"},
		{ParseStakeCredential, encodeBech32("addr_vkh", hash), "expected stake_vkh1"},
		{ParseStakeCredential, encodeBech32("script", hash[1:]), "27 bytes"},
		{ParseStakeCredential, encodeBech32("script", hash) + "q", "invalid checksum"},
		{ParsePaymentCredential, cip19[8].mainnet, "the address has none"},
		{ParseStakeCredential, cip19[6].mainnet, "the address has none"},
		{ParseStakeCredential, cip19[4].mainnet, "the address has none"},
		{ParseStakeCredential, cip19[8].testnet, "belongs to a test network"},
		{ParseStakeCredential, byronAddresses["mainnet"][0], "the address has none"},
		{ParsePaymentCredential, "nobody", "neither bech32"},
		{ParsePaymentCredential, "hex:1", "not hex"},
	} {
		_, err := c.parse(n, c.text)
		if kind, code := model.KindOf(err); kind != model.Usage || code != "bad_value" || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, expected %q", c.text, err, c.says)
		}
	}
}
