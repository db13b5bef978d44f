package cardano

import (
	"bytes"
	"encoding/hex"
	"path/filepath"
	"testing"

	"github.com/blinklabs-io/gouroboros/ledger/common"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/internal/testrun"
)

// realAddresses returns the distinct addresses of all available real blocks.
func realAddresses(t *testing.T) map[string]bool {
	t.Helper()
	all := map[string]bool{}
	add := func(d *ledger.Decoder, raw []byte) {
		b, _, err := d.Block(raw)
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range b.Txs {
			for _, o := range tx.Outputs {
				for _, k := range o.Keys {
					all[string(k.Value)] = true
				}
			}
		}
	}
	chunks(t, func(_, network string, blocks [][]byte) {
		d := decodedAs(t, network, indexAddress)
		for _, raw := range blocks {
			add(d, raw)
		}
	})
	for _, s := range singles(t) {
		add(decodedAs(t, s.network(), indexAddress), realFile(t, filepath.FromSlash(s.File)))
	}
	return all
}

// networkOf returns a network to which an address can belong.
func networkOf(someAddress []byte) address.Network {
	if payload, err := address.ByronPayload(someAddress); err == nil {
		magic, testnet := address.ByronNetwork(payload)
		return address.Network{Magic: magic, Testnet: testnet}
	}
	return address.Network{Testnet: someAddress[0]&15 == 0}
}

func TestRealAddressesMatchGouroboros(t *testing.T) {
	testrun.Slow(t)
	kinds := map[byte]int{}
	for text := range realAddresses(t) {
		raw := []byte(text)
		kinds[raw[0]>>4]++
		theirs, err := common.NewAddressFromBytes(raw)
		if err != nil {
			t.Errorf("gouroboros does not read %x: %v", raw, err)
			continue
		}
		n := networkOf(raw)
		got := address.Format(n, raw)
		if got != theirs.String() && len(raw) <= 57 { // gouroboros truncates the numbers of longer pointers
			t.Errorf("%x is formatted as %s, expected %s", raw, got, theirs)
		}
		if back, err := address.Parse(n, got); err != nil || !bytes.Equal(back, raw) {
			t.Errorf("%s is parsed as %x, %v, expected %x", got, back, err, raw)
		}
		if cred, ok := address.StakeCredential(raw); ok {
			if got, want := address.FormatStakeCredential(n, cred), theirs.StakeAddress().String(); got != want {
				t.Errorf("%s has the stake credential %s, expected %s", theirs, got, want)
			}
		}
		if cred, ok := address.PaymentCredential(raw); ok && hex.EncodeToString(cred[1:]) != theirs.PaymentKeyHash().String() {
			t.Errorf("%s has the payment credential %x, expected %s", theirs, cred, theirs.PaymentKeyHash())
		}
	}
	for kind := byte(0); kind <= 8; kind++ {
		t.Logf("%d addresses of type %d", kinds[kind], kind)
	}
	if kinds[0] == 0 || kinds[8] == 0 {
		t.Error("the blocks have no addresses of a common type")
	}
}
