package account_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"birthmark/api/compat/account"
	"birthmark/chains/bitcoin/descriptor"
	"birthmark/internal/testseed"
	"birthmark/model"
)

var (
	mainnet = &descriptor.Network{Name: "bitcoin mainnet", Coin: "bitcoin"}
	testnet = &descriptor.Network{Name: "bitcoin testnet3", Coin: "bitcoin", Test: true}
	params  = map[*descriptor.Network]*chaincfg.Params{mainnet: &chaincfg.MainNetParams, testnet: &chaincfg.TestNet3Params}
)

// Account keys of the mnemonic "abandon … about", of BIP 49, 84 and 86. BIP 44 has no vectors: its key is derived from
// the root of BIP 86.
const (
	rootPrivate = "xprv9s21ZrQH143K3GJpoapnV8SFfukcVBSfeCficPSGfubmSFDxo1kuHnLisriDvSnRRuL2Qrg5ggqHKNVpxR86QEC8w35uxmGoggxtQTPvfUu"
	bip49       = "upub5EFU65HtV5TeiSHmZZm7FUffBGy8UKeqp7vw43jYbvZPpoVsgU93oac7Wk3u6moKegAEWtGNF8DehrnHtv21XXEMYRUocHqguyjknFHYfgY"
	bip84       = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
	bip86       = "xpub6BgBgsespWvERF3LHQu6CnqdvfEvtMcQjYrcRzx53QJjSxarj2afYWcLteoGVky7D3UKDP9QyrLprQ3VCECoY49yfdDEHGCtMMj92pReUsQ"
	bip380      = "xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL"
	bip382      = "xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH"
)

// derived returns the public key at a path of hardened steps.
func derived(t testing.TB, steps ...uint32) string {
	t.Helper()
	key, err := hdkeychain.NewKeyFromString(rootPrivate)
	for _, s := range steps {
		if err != nil {
			t.Fatal(err)
		}
		key, err = key.Derive(s + hdkeychain.HardenedKeyStart)
	}
	if err != nil {
		t.Fatal(err)
	}
	public, err := key.Neuter()
	if err != nil {
		t.Fatal(err)
	}
	return public.String()
}

func TestAddressesOfTheBIPs(t *testing.T) {
	type vector struct {
		branch, index int
		address, path string
	}
	bip86Vectors := []vector{
		{0, 0, "bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr", "m/86'/0'/0'/0/0"},
		{0, 1, "bc1p4qhjn9zdvkux4e44uhx8tc55attvtyu358kutcqkudyccelu0was9fqzwh", "m/86'/0'/0'/0/1"},
		{1, 0, "bc1p3qkhfews2uk44qtvauqyr2ttdsw7svhkl9nkm9s9c3x4ax5h60wqwruhk7", "m/86'/0'/0'/1/0"},
	}
	for _, c := range []struct {
		name, text string
		net        *descriptor.Network
		vectors    []vector
	}{
		{"BIP 44", derived(t, 44, 0, 0), mainnet, []vector{
			{0, 0, "1LqBGSKuX5yYUonjxT5qGfpUsXKYYWeabA", "m/44'/0'/0'/0/0"},
			{0, 1, "1Ak8PffB2meyfYnbXZR9EGfLfFZVpzJvQP", "m/44'/0'/0'/0/1"},
			{1, 0, "1J3J6EvPrv8q6AC3VCjWV45Uf3nssNMRtH", "m/44'/0'/0'/1/0"},
		}},
		{"BIP 49", bip49, testnet, []vector{{0, 0, "2Mww8dCYPUpKHofjgcXcBCEGmniw9CoaiD2", "m/49'/1'/0'/0/0"}}},
		{"BIP 84", bip84, mainnet, []vector{
			{0, 0, "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu", "m/84'/0'/0'/0/0"},
			{0, 1, "bc1qnjg0jd8228aq7egyzacy8cys3knf9xvrerkf9g", "m/84'/0'/0'/0/1"},
			{1, 0, "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el", "m/84'/0'/0'/1/0"},
		}},
		{"BIP 84 as a descriptor", "wpkh(" + bip84 + ")", mainnet, []vector{{1, 0, "bc1q8c6fshw2dlwun7ekn9qwf37cu2rn755upcp6el", "m/84'/0'/0'/1/0"}}},
		{"BIP 86", "tr(" + bip86 + ")", mainnet, bip86Vectors},
		{"BIP 86 with origin and branches", "tr([73c5da0a/86h/0'/0h]" + bip86 + "/<0;1>/*)", mainnet, bip86Vectors},
		{"BIP 86 with the branches of Trezor Suite", "tr([73c5da0a/86'/0'/0']" + bip86 + "/{0,1}/*)", mainnet, bip86Vectors},
		{"BIP 86, change only", "tr(" + bip86 + "/1/*)", mainnet, []vector{{0, 0, bip86Vectors[2].address, bip86Vectors[2].path}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			texts := []string{c.text}
			if strings.Contains(c.text, "(") {
				sum, ok := descriptor.Checksum(c.text)
				if !ok {
					t.Fatal("no checksum")
				}
				texts = append(texts, c.text+"#"+sum)
			}
			for _, text := range texts {
				a, err := account.Parse(text, c.net)
				if err != nil {
					t.Fatal(err)
				}
				for _, v := range c.vectors {
					script, err := a.Script(v.branch, v.index)
					if err != nil {
						t.Fatal(err)
					}
					_, to, _, err := txscript.ExtractPkScriptAddrs(script, params[c.net])
					if err != nil || len(to) != 1 || to[0].EncodeAddress() != v.address || a.Path(v.branch, v.index) != v.path {
						t.Errorf("%d/%d: %v %s, expected %s %s: %v", v.branch, v.index, to, a.Path(v.branch, v.index), v.address, v.path, err)
					}
				}
			}
		})
	}
}

// wantError checks that a text is rejected, and that the error does not repeat it.
func wantError(t *testing.T, name, text string, net *descriptor.Network, code string) {
	t.Helper()
	_, err := account.Parse(text, net)
	kind, got := model.KindOf(err)
	if err == nil || kind != model.Usage || got != code {
		t.Errorf("%s: error %v, expected %s", name, err, code)
	} else if len(text) > 40 && strings.Contains(err.Error(), text[8:40]) {
		t.Errorf("%s: the error repeats the key: %v", name, err)
	}
}

func TestWhatIsNoAccount(t *testing.T) {
	for name, text := range map[string]string{
		"empty":                       "",
		"address":                     "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
		"private key":                 rootPrivate,
		"private key in a descriptor": "wpkh(" + rootPrivate + "/0/*)",
		"broken key":                  bip86[:len(bip86)-1] + "t",
		"key of another network":      bip49,
		"public key":                  "wpkh(0260b2003c386519fc9eadf2b5cf124dd8eea4c4e68d5e154050a9346ea98ce600)",
		"script tree":                 "tr(" + bip86 + "/0/*,pk(" + bip86 + "/1/*))",
		"multisig":                    "wsh(multi(1," + bip86 + "/0/*))",
		"pk":                          "pk(" + bip86 + "/0/*)",
		"one address":                 "wpkh(" + bip86 + "/0/5)",
		"two lists":                   "wpkh(" + bip86 + "/<0;1>/<2;3>/*)",
		"lists of both forms":         "wpkh(" + bip86 + "/{0,1}/<2;3>/*)",
		"origin without key":          "wpkh([deadbeef])",
		"wrong checksum":              "wpkh(" + bip86 + "/0/*)#00000000",
	} {
		wantError(t, name, text, mainnet, "bad_account")
	}
	wantError(t, "mainnet key on testnet", bip86, testnet, "bad_account")
	for _, text := range []string{bip380, "wpkh([deadbeef/0h/1h/2h]" + bip380 + "/3/4/5/*)"} { // BIP 380
		if a, err := account.Parse(text, mainnet); err != nil || !account.Is(text) || a.Branches() == 0 {
			t.Errorf("%s: %v", text, err)
		}
	}
	if account.Is("bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr") {
		t.Error("an address is accepted as an account")
	}
}

// Discover returns the same addresses as a walk over many indexes, for any set of used addresses.
func TestDiscoverFindsWhatAWalkFinds(t *testing.T) {
	random := testseed.Rand(t)
	for range 30 {
		a, err := account.Parse("wpkh("+bip86+"/<0;1>/*)", mainnet)
		if err != nil {
			t.Fatal(err)
		}
		gap := 1 + random.IntN(6)
		inUse := map[string]bool{}
		last := [2]int{}
		var walked [2][]string
		for branch := range walked {
			for index, unused := 0, 0; ; index++ {
				script, err := a.Script(branch, index)
				if err != nil {
					t.Fatal(err)
				}
				walked[branch] = append(walked[branch], string(script))
				if random.IntN(3) == 0 && index < 40 {
					inUse[string(script)] = true
					unused, last[branch] = 0, index
				} else if index > 0 {
					unused++
				}
				if unused == gap {
					break
				}
			}
		}
		var got [2][]string
		calls := 0
		all, err := a.Discover(gap, func(script []byte) (bool, error) {
			calls++
			return inUse[string(script)], nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range all {
			if d.Index != len(got[d.Branch]) || d.Used != inUse[string(d.Script)] {
				t.Fatalf("address %+v", d)
			}
			got[d.Branch] = append(got[d.Branch], string(d.Script))
		}
		if calls != len(all) {
			t.Errorf("%d calls for %d addresses", calls, len(all))
		}
		if !slices.Equal(got[0], walked[0]) {
			t.Errorf("receiving: %d addresses, expected %d (gap %d, last %d)", len(got[0]), len(walked[0]), gap, last[0])
		}
		if n := max(len(walked[1]), last[0]); len(got[1]) != n || !slices.Equal(got[1][:len(walked[1])], walked[1]) {
			t.Errorf("change: %d addresses, expected %d", len(got[1]), n)
		}
	}
}

func TestLimitsOfDiscover(t *testing.T) {
	a, err := account.Parse(bip86, mainnet)
	if err != nil {
		t.Fatal(err)
	}
	for _, gap := range []int{-1, 0, account.MaxGap + 1} {
		if _, err := a.Discover(gap, nil); err == nil {
			t.Errorf("gap %d is accepted", gap)
		}
	}
	want := fmt.Errorf("disk")
	if _, err := a.Discover(1, func([]byte) (bool, error) { return false, want }); err != want {
		t.Errorf("error %v", err)
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	c := account.NewCache(mainnet, 100)
	get := func(text string, scripts int) *account.Account {
		t.Helper()
		a, done, err := c.Get(text)
		if err != nil {
			t.Fatal(err)
		}
		defer done()
		if _, err := a.Script(0, scripts-1); err != nil {
			t.Fatal(err)
		}
		return a
	}
	first := get(bip86, 40)
	if get(bip86, 40) != first {
		t.Error("the account was not kept")
	}
	second := get(bip380, 40)
	if get(bip86, 40) != first || get(bip380, 40) != second {
		t.Error("the cache is too small for two accounts")
	}
	get(bip86, 40)
	get(bip382, 40) // evicts bip380, the least recently used account
	if get(bip86, 40) != first || get(bip380, 40) == second {
		t.Error("the wrong account was evicted")
	}
	large := get(bip84, 200)
	if get(bip84, 200) == large {
		t.Error("an account beyond the limit was kept")
	}
	if _, _, err := c.Get("xpub"); err == nil {
		t.Error("an invalid account was kept")
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() { get([]string{bip86, bip380, bip382}[i%3], 10+i) })
	}
	all.Wait()
}
