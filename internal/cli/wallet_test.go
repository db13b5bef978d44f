package cli

import (
	"regexp"
	"strings"
	"testing"
)

// payerKey is the public key that the outputs of address 12cb… pay to (block 9 of Bitcoin).
const payerKey = "0411db93e1dcdb8a016b49840f8c53bc1eb68a382e97b1482ecad7b148a6909a5cb2e0eaddfb84ccf9744464f82e160bfa9b8b64f9d4c03f999b8643f656b412a3"

// aboutWallets is what answers about a wallet have in addition to those about its only address.
var aboutWallets = regexp.MustCompile(`,"derived":\{.*\}(\}\n)$|,"net":"-?\d+"`)

// The answers about a descriptor with one used address are those about the address, on real blocks.
func TestDescriptorsOfRealAddresses(t *testing.T) {
	t.Parallel()
	db := first200(t)
	ask := func(args ...string) string {
		t.Helper()
		r := birthmark(append(args, "--db", db)...)
		if r.status != exitDone || r.stderr != "" {
			t.Fatalf("%v: %+v", args, r)
		}
		return r.stdout
	}
	for _, text := range []string{"pk(" + payerKey + ")", "pkh(" + payerKey + ")", "combo(" + payerKey + ")", "addr(" + satoshi + ")"} {
		for _, args := range [][]string{
			{"balance"}, {"balance", "--at-height", "175"}, {"history", "--order", "desc", "--limit", "100"}, {"history", "--group-by", "day"},
			{"find", "--unspent"}, {"find", "--height-from", "100"},
		} {
			args = append(args, "--json")
			got := aboutWallets.ReplaceAllString(ask(append(args, text)...), "$1")
			want := ask(append(args, satoshi)...)
			if got = strings.Replace(got, text, satoshi, 1); got != want && !strings.Contains(want, `"next":"`) {
				t.Errorf("%v %s: %s\nexpected %s", args, text, got, want)
			}
			if named := ask(append([]string{args[0], "address", text}, args[1:]...)...); named != ask(append(args, text)...) {
				t.Errorf("%v %s: the answer differs with INDEX: %s", args, text, named)
			}
		}
		args := []string{"find", "--follow", "--until-tip", "--spends", "--json"}
		if got, want := ask(append(args, text)...), ask(append(args, satoshi)...); got != want {
			t.Errorf("%s: events %s\nexpected %s", text, got, want)
		}
	}
	if got := ask("find", "pk("+payerKey+")", "--csv"); !strings.Contains(strings.SplitN(got, "\n", 2)[0], ",path,") {
		t.Errorf("no column path: %s", got)
	}
}

// A private key is refused by every command with a VALUE, and is not printed.
func TestPrivateKeysAreNotPrinted(t *testing.T) {
	t.Parallel()
	db := first200(t)
	const (
		private = "xprv9s21ZrQH143K3GJpoapnV8SFfukcVBSfeCficPSGfubmSFDxo1kuHnLisriDvSnRRuL2Qrg5ggqHKNVpxR86QEC8w35uxmGoggxtQTPvfUu"
		wif     = "L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1" // BIP 381
	)
	for _, key := range []string{private, "wpkh(" + private + "/0/*)", wif, "pk(" + wif + ")", "K" + wif[1:]} {
		for _, args := range [][]string{
			{"balance", key}, {"history", key}, {"find", key}, {"balance", "address", key}, {"find", "address", key, "--json"}, {"search", key},
			{"find", "--follow", "--until-tip", key}, {"find", "--follow", "--until-tip", "address", key}, {"find", satoshi, "--or", "address=" + key},
		} {
			r := birthmark(append(args, "--db", db)...)
			if r.status != exitUsage || !strings.Contains(r.stdout+r.stderr, "private key") || strings.Contains(r.stdout+r.stderr, key) {
				t.Errorf("%.20v: %+v", args, r)
			}
		}
	}
}
