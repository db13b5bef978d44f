package bitcoin_test

import (
	"fmt"
	"strings"
	"testing"

	"birthmark/chains"
	"birthmark/model"
)

// Keys of the test vectors of BIP 84 and BIP 86, and the same key in the versions of other coins (SLIP 132).
const (
	walletZpub = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
	walletXpub = "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ"
	walletXprv = "xprv9s21ZrQH143K3GJpoapnV8SFfukcVBSfeCficPSGfubmSFDxo1kuHnLisriDvSnRRuL2Qrg5ggqHKNVpxR86QEC8w35uxmGoggxtQTPvfUu"
	publicKey  = "03a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd"
)

func chainOf(t *testing.T, name, network string) model.Chain {
	t.Helper()
	c, err := chains.New(name, network)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// index returns an index of a chain.
func indexOf(t *testing.T, c model.Chain, name string) *model.Index {
	t.Helper()
	for _, x := range c.Indexes() {
		if x.Name == name {
			return &x
		}
	}
	t.Fatalf("no index %s", name)
	return nil
}

// The values of wallets are the addresses of the test vectors, on every coin that has such addresses.
func TestAddressesOfWallets(t *testing.T) {
	for _, c := range []struct {
		chain, network, index, text string
		branch, position            int
		want                        string
	}{
		{"bitcoin", "", "address", walletZpub, 0, 0, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"},
		{"bitcoin", "", "address", walletZpub, 1, 0, "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el"},
		{"bitcoin", "", "address", "tr(" + walletXpub + "/<0;1>/*)", 1, 0, "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7"},
		{"bitcoin", "", "address", "pk(" + publicKey + ")", 0, 0, "1F3sAm6ZtwLAUnj7d38pGFxtP3RVEvtsbV"},
		{"bitcoin", "", "address", "pkh(" + publicKey + ")", 0, 0, "1F3sAm6ZtwLAUnj7d38pGFxtP3RVEvtsbV"},
		{"bitcoin", "", "address", "addr(bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu)", 0, 0, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu"},
		{"bitcoin", "", "script_hash", "addr(1A1zP1eP5QGefi2DMPTfTL5SLmv7DivfNa)", 0, 0, "8b01df4e368ea28f8dc0423bcf7a4923e3a12d307c875e47a0cfbf90b5c39161"},
	} {
		chain := chainOf(t, c.chain, c.network)
		w, err := chain.(model.WalletReader).ReadWallet(c.index, c.text)
		if err != nil || w == nil {
			t.Errorf("%s %s: %v", c.chain, c.text, err)
			continue
		}
		values, _, err := w.Values(c.branch, c.position)
		if err != nil || len(values) != 1 || indexOf(t, chain, c.index).Format(values[0]) != c.want {
			t.Errorf("%s %s: %x %v, expected %s", c.chain, c.text, values, err, c.want)
		}
		if again, err := chain.(model.WalletReader).ReadWallet(c.index, c.text); err != nil || again != w {
			t.Errorf("%s %s was not kept: %v", c.chain, c.text, err)
		}
	}
	combo, err := model.WalletOf(chainOf(t, "bitcoin", ""), "address", "combo("+publicKey+")")
	if err != nil {
		t.Fatal(err)
	}
	if values, _, err := combo.Values(0, 0); err != nil || len(values) != 3 { // P2PK has the address of P2PKH
		t.Errorf("combo has %d addresses, expected 3: %v", len(values), err)
	}
}

// A wallet without addresses of the coin is refused, as are private keys, and the errors contain no key.
func TestWhatIsNoWallet(t *testing.T) {
	for _, c := range []struct{ chain, network, index, text, code string }{
		{"dogecoin", "", "address", "wpkh(" + walletXpub + "/0/*)", "bad_wallet"},
		{"bitcoin", "", "address", "multi(1," + publicKey + ")", "bad_wallet"},
		{"bitcoin", "", "address", "raw(6a0548656c6c6f)", "bad_wallet"},
		{"bitcoin", "testnet4", "address", walletZpub, "bad_wallet"},
		{"litecoin", "testnet4", "address", walletXpub, "bad_wallet"},
		{"bitcoin", "", "address", walletXprv, "private_key"},
		{"litecoin", "", "address", "T" + strings.Repeat("3", 51), "private_key"},
		{"bitcoin", "", "address", "wpkh(" + walletXprv + "/0/*)", "private_key"},
	} {
		w, err := model.WalletOf(chainOf(t, c.chain, c.network), c.index, c.text)
		if kind, code := model.KindOf(err); w != nil || err == nil || kind != model.Usage || code != c.code {
			t.Errorf("%s %s: %v, expected %s", c.chain, c.text, err, c.code)
		} else if strings.Contains(fmt.Sprint(err), c.text[8:min(len(c.text), 30)]) && len(c.text) > 90 {
			t.Errorf("the error contains the key: %v", err)
		}
	}
	for _, c := range []struct{ index, text string }{
		{"address", "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7"}, {"op_return", walletXprv},
		{"script_hash", "8b01df4e368ea28f8dc0423bcf7a4923e3a12d307c875e47a0cfbf90b5c39161"}, {"address", ""},
	} {
		if w, err := model.WalletOf(chainOf(t, "bitcoin", ""), c.index, c.text); w != nil || err != nil {
			t.Errorf("%s %s is a wallet: %v", c.index, c.text, err)
		}
	}
	if w, err := model.WalletOf(chainOf(t, "bitcoin", ""), "script_hash", "multi(1,"+publicKey+")"); w == nil || err != nil {
		t.Errorf("a bare multisig has no script hash: %v", err)
	}
}

// Wallets that were not used for longest are dropped, and the one used last is kept.
func TestKeptWalletsAreBounded(t *testing.T) {
	chain := chainOf(t, "bitcoin", "")
	read := func(n int) model.Wallet {
		w, err := model.WalletOf(chain, "address", fmt.Sprintf("raw(0014%040x)", n))
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
	first := read(0)
	for n := 1; n < 1500; n++ {
		if read(n); n%700 == 0 && read(0) != first {
			t.Fatalf("a wallet was dropped after %d others, although it was used", n)
		}
	}
	if second := read(1); read(0) != first || second == nil {
		t.Error("a wallet was dropped that had been used a moment ago")
	}
	for n := 3000; n < 5100; n++ {
		read(n)
	}
	if read(0) == first {
		t.Error("more wallets are kept than the limit")
	}
}
