package address

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2/base58"
	"github.com/btcsuite/btcd/address/v2/bech32"

	"birthmark/chains/cardano/cbor"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// The keys, script and pointer of the examples in CIP-19.
const (
	cip19Payment = "9493315cd92eb5d8c4304e67b7e16ae36d61d34502694657811a2c8e"
	cip19Stake   = "337b62cfff6403a06a3acbc34f8c46003c69fe79a3628cefa9c47251"
	cip19Script  = "c37b1b5dc0669f1d3c61a6fddb2e8fde96be87b881c60bce8e8d542f"
	cip19Pointer = "8198bd431b03" // slot 2498243, transaction 27, certificate 3
)

// cip19 are the examples of CIP-19: the first byte on mainnet, the rest, and both texts.
var cip19 = []struct {
	first            byte
	rest             string
	mainnet, testnet string
}{
	{0x01, cip19Payment + cip19Stake,
		"addr1qx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgse35a3x",
		"addr_test1qz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer3n0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgs68faae"},
	{0x11, cip19Script + cip19Stake,
		"addr1z8phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gten0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgs9yc0hh",
		"addr_test1zrphkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gten0d3vllmyqwsx5wktcd8cc3sq835lu7drv2xwl2wywfgsxj90mg"},
	{0x21, cip19Payment + cip19Script,
		"addr1yx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerkr0vd4msrxnuwnccdxlhdjar77j6lg0wypcc9uar5d2shs2z78ve",
		"addr_test1yz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerkr0vd4msrxnuwnccdxlhdjar77j6lg0wypcc9uar5d2shsf5r8qx"},
	{0x31, cip19Script + cip19Script,
		"addr1x8phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gt7r0vd4msrxnuwnccdxlhdjar77j6lg0wypcc9uar5d2shskhj42g",
		"addr_test1xrphkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gt7r0vd4msrxnuwnccdxlhdjar77j6lg0wypcc9uar5d2shs4p04xh"},
	{0x41, cip19Payment + cip19Pointer,
		"addr1gx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer5pnz75xxcrzqf96k",
		"addr_test1gz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzer5pnz75xxcrdw5vky"},
	{0x51, cip19Script + cip19Pointer,
		"addr128phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtupnz75xxcrtw79hu",
		"addr_test12rphkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtupnz75xxcryqrvmw"},
	{0x61, cip19Payment,
		"addr1vx2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzers66hrl8",
		"addr_test1vz2fxv2umyhttkxyxp8x0dlpdt3k6cwng5pxj3jhsydzerspjrlsz"},
	{0x71, cip19Script,
		"addr1w8phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtcyjy7wx",
		"addr_test1wrphkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtcl6szpr"},
	{0xe1, cip19Stake,
		"stake1uyehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gh6ffgw",
		"stake_test1uqehkck0lajq8gr28t9uxnuvgcqrc6070x3k9r8048z8y5gssrtvn"},
	{0xf1, cip19Script,
		"stake178phkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtcccycj5",
		"stake_test17rphkx6acpnf78fuvxn0mkew3l0fd058hzquvz7w36x4gtcljw6kf"},
}

// byronAddresses are addresses in base 58 by network: of redeem keys, and of wallets with and without a derivation
// path.
var byronAddresses = map[string][]string{
	"mainnet": {
		"Ae2tdPwUPEZHFQnrr2dYB4GEQ8WVKspEyrg29pJ3f7qdjzaxjeShEEokF5f",
		"DdzFFzCqrht2ii4Vc7KRchSkVvQtCqdGkQt4nF4Yxg1NpsubFBity2Tpt2eSEGrxBH1eva8qCFKM2Y5QkwM1SFBizRwZgz1N452WYvgG",
	},
	"preview": {"FHnt4NL7yPXvDWHa8bVs73UEUdJd64VxWXSFNqetECtYfTd9TtJguJ14Lu3feth"},
}

// oldTestnet is a Byron address of the first test network, which had the magic 1097911063.
const oldTestnet = "37btjrVyb4KDXBNC4haBVPCrro8AQPHwvCMp3RFhhSVWwfFmZ6wwzSK6JK1hY6wHNmtrpTf1kdbva8TCneM2YsiXT7mrzT21EacHnPpz5YyUdj64na"

var publicNetworks = []Network{Mainnet, Preprod, Preview}

func named(t testing.TB, name string) Network {
	t.Helper()
	i := slices.IndexFunc(publicNetworks, func(n Network) bool { return n.Name == name })
	if i < 0 {
		t.Fatalf("unknown network %s", name)
	}
	return publicNetworks[i]
}

func unhex(t testing.TB, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestFormatAddressMatchesCIP19(t *testing.T) {
	for _, c := range cip19 {
		for name, text := range map[string]string{"mainnet": c.mainnet, "preprod": c.testnet, "preview": c.testnet} {
			n := named(t, name)
			raw := append([]byte{c.first&0xf0 | n.tag()}, unhex(t, c.rest)...)
			if got := Format(n, raw); got != text {
				t.Errorf("%s: %x is formatted as %s, expected %s", name, raw, got, text)
			}
			for _, typed := range []string{text, strings.ToUpper(text)} {
				if got, err := Parse(n, typed); err != nil || !bytes.Equal(got, raw) {
					t.Errorf("%s: %s is parsed as %x, %v, expected %x", name, typed, got, err, raw)
				}
			}
		}
	}
}

func TestAddressesStateTheirOwners(t *testing.T) {
	want := []string{
		"payment key, stake key", "payment script, stake key", "payment key, stake script", "payment script, stake script",
		"payment key, stake pointer", "payment script, stake pointer", "payment key, no stake", "payment script, no stake",
		"stake key", "stake script",
	}
	for i, c := range cip19 {
		raw, err := Parse(Mainnet, c.mainnet)
		if got := strings.Join(Types(raw), ", "); err != nil || got != want[i] {
			t.Errorf("%s: %s, %v, expected %s", c.mainnet, got, err, want[i])
		}
	}
	raw, err := Parse(Mainnet, byronAddresses["mainnet"][0])
	if got := Types(raw); err != nil || len(got) != 1 || got[0] != "Byron" {
		t.Errorf("%v, %v", got, err)
	}
	if got := Types([]byte("no address")); got != nil {
		t.Error(got)
	}
}

func TestByronAddressesRoundTrip(t *testing.T) {
	for name, texts := range byronAddresses {
		for _, text := range texts {
			raw, err := Parse(named(t, name), text)
			if err != nil {
				t.Error(err)
			} else if got := Format(named(t, name), raw); got != text {
				t.Errorf("%s is formatted as %s", text, got)
			}
		}
	}
	raw, err := Parse(named(t, "preview"), byronAddresses["preview"][0])
	want := "82d818582483581c5d5e698eba3dd9452add99a1af9461beb0ba61b8bece26e7399878dda1024102001a36d41aba"
	if err != nil || hex.EncodeToString(raw) != want {
		t.Errorf("read as %x, %v, expected %s", raw, err, want)
	}
}

func TestInvalidAddressErrors(t *testing.T) {
	base, test := cip19[0].mainnet, cip19[0].testnet
	redeem := byronAddresses["mainnet"][0]
	for _, c := range []struct{ network, text, says string }{
		{"mainnet", "", "neither bech32 nor"},
		{"mainnet", "satoshi", "neither bech32 nor"},
		{"mainnet", base[:len(base)-1] + "y", "invalid checksum"},
		{"mainnet", strings.Replace(base, "q", "Q", 1), "not bech32"},
		{"mainnet", bech32m(t, base), "invalid checksum"},
		{"mainnet", encodeBech32("addr", unhex(t, "01"+cip19Payment)), "29 bytes are not an address"},
		{"mainnet", encodeBech32("addr", unhex(t, "05"+cip19Payment+cip19Stake)), "are not an address"},
		{"mainnet", encodeBech32("addr", unhex(t, "91"+cip19Payment)), "are not an address"},
		{"mainnet", encodeBech32("addr", unhex(t, "41"+cip19Payment)), "are not an address"},
		{"mainnet", encodeBech32("addr", unhex(t, "41"+cip19Payment+"8180")), "are not an address"},
		{"mainnet", encodeBech32("addr", unhex(t, "e1"+cip19Stake)), "its bytes belong to stake1"},
		{"mainnet", "addr1", "not bech32"},
		{"mainnet", test, "belongs to a test network"},
		{"mainnet", cip19[8].testnet, "belongs to a test network"},
		{"preview", base, "belongs to mainnet"},
		{"preview", cip19[8].mainnet, "belongs to mainnet"},
		{"preview", redeem, "belongs to mainnet"},
		{"mainnet", byronAddresses["preview"][0], "belongs to a test network"},
		{"mainnet", "2cWKMJemoBajc46Wu4Z7e6bG48myZWfB7Z6pD77L6PrJQWt9HZ3Yv7o8CYZTBMqHTPTkv", "belongs to a test network"},
		{"mainnet", oldTestnet, "belongs to a test network"},
		{"mainnet", redeem[:len(redeem)-1] + "g", "invalid checksum"},
		{"mainnet", redeem[:len(redeem)-1], "neither bech32 nor"},
		{"mainnet", "hex:0", "not hex"},
		{"mainnet", "hex:zz", "not hex"},
		{"mainnet", strings.Repeat("A", maxAddressText+1), "the longest has"},
	} {
		raw, err := Parse(named(t, c.network), c.text)
		if err == nil {
			t.Errorf("%s: %s is parsed as %x", c.network, c.text, raw)
			continue
		}
		if kind, code := model.KindOf(err); kind != model.Usage || code != "bad_value" {
			t.Errorf("%s: %s: kind %d, code %s", c.network, c.text, kind, code)
		}
		if !strings.Contains(err.Error(), c.says) || !strings.Contains(err.Error(), "expected addr1") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %s: %v, expected one line with %q", c.network, c.text, err, c.says)
		}
	}
}

// bech32m returns a text whose checksum is that of the other bech32 variant.
func bech32m(t *testing.T, text string) string {
	t.Helper()
	hrp, groups, err := bech32.DecodeNoLimit(text)
	if err != nil {
		t.Fatal(err)
	}
	text, err = bech32.EncodeM(hrp, groups)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestOtherBytesAreFormattedAsHex(t *testing.T) {
	n := named(t, "mainnet")
	for _, digits := range []string{
		"", "00", "ff", "82", "82d818",
		"01" + cip19Payment,                                    // a base address without its last part
		"00" + cip19Payment + cip19Stake,                       // of a test network
		"91" + cip19Payment,                                    // type 9
		"62" + cip19Payment,                                    // network 2
		"41" + cip19Payment + strings.Repeat("80", maxWritten), // a number that does not end
		hex.EncodeToString(base58.Decode(byronAddresses["preview"][0])),
		hex.EncodeToString(base58.Decode(byronAddresses["mainnet"][0])) + "00",
		hex.EncodeToString(byronOf(bytes.Repeat([]byte{7}, maxWritten))),
	} {
		if got := Format(n, unhex(t, digits)); got != "hex:"+digits {
			t.Errorf("%s is formatted as %s", digits, got)
		}
	}
}

// The cases are those of fromCborBothAddr and mkPtrNormalized of cardano-ledger-core.
func TestCanonicalAddresses(t *testing.T) {
	base, other := "01"+cip19Payment+cip19Stake, "0102030405060708090a0b0c0d0e0f101112131415"
	for _, c := range []struct{ raw, want string }{
		{base, base},
		{base + other, base},
		{"61" + cip19Payment + "00", "61" + cip19Payment},
		{"71" + cip19Payment + cip19Stake, "71" + cip19Payment},
		{"41" + cip19Payment + cip19Pointer, "41" + cip19Payment + cip19Pointer},
		{"51" + cip19Payment + cip19Pointer + other, "51" + cip19Payment + cip19Pointer},
		{"41" + cip19Payment + "80808102" + "8001" + "03", "41" + cip19Payment + "8102" + "01" + "03"},
		{"41" + cip19Payment + "8fffffff7f" + "83ff7f" + "83ff7f", "41" + cip19Payment + "8fffffff7f" + "83ff7f" + "83ff7f"}, // the largest
		{"41" + cip19Payment + "9080808000" + "01" + "03", "41" + cip19Payment + "000000"},                                   // slot 2^32
		{"41" + cip19Payment + "01" + "848000" + "03", "41" + cip19Payment + "000000"},                                       // transaction 2^16
		{"41" + cip19Payment + "01" + "03" + "848000" + "07", "41" + cip19Payment + "000000"},
		{"41" + cip19Payment + "82808080808080808005" + "01" + "03", "41" + cip19Payment + "05" + "01" + "03"}, // 2^64 + 5
		{"41" + cip19Payment + "8180", "41" + cip19Payment + "8180"},                                           // no address
		{"e1" + cip19Stake + "00", "e1" + cip19Stake + "00"},                                                   // no address of an output
	} {
		got := Canonical(unhex(t, c.raw))
		if hex.EncodeToString(got) != c.want || !bytes.Equal(Canonical(got), got) {
			t.Errorf("%s is %x, expected %s", c.raw, got, c.want)
		}
		if text := encodeBech32("addr", unhex(t, c.raw)); IsShelley(got) {
			if parsed, err := Parse(Mainnet, text); err != nil || !bytes.Equal(parsed, got) {
				t.Errorf("%s is parsed as %x, %v, expected %s", text, parsed, err, c.want)
			}
		}
	}
}

// All test networks share the Byron addresses with a magic. The magic of the first one differs from those of preview and
// preprod, where it occurs.
func TestByronAddressesOfAllTestNetworks(t *testing.T) {
	for _, text := range append(byronAddresses["preview"], oldTestnet) {
		for _, n := range []Network{Preprod, Preview, {Name: "mine", Magic: 42, Testnet: true}} {
			raw, err := Parse(n, text)
			if got := Format(n, raw); err != nil || got != text {
				t.Errorf("%s: %s is parsed and formatted as %s, %v", n.Name, text, got, err)
			}
		}
	}
}

// byronOf wraps a payload like a Byron address.
func byronOf(payload []byte) []byte {
	raw := cbor.AppendBytes([]byte{0x82, 0xd8, cbor.TagEncoded}, payload)
	return binary.BigEndian.AppendUint32(append(raw, 0x1a), crc32.ChecksumIEEE(payload))
}

// randomAddress returns an address of any kind and network, valid or almost valid.
func randomAddress(r *rand.Rand) []byte {
	b := make([]byte, r.IntN(80))
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	switch r.IntN(4) {
	case 0: // any bytes
	case 1:
		b = byronOf(b)
	case 2: // of a test network
		payload := cbor.AppendBytes(cbor.AppendHead(nil, cbor.Array, 3), b)
		payload = append(payload, cbor.Map<<5|1, byronMagic)
		payload = cbor.AppendBytes(payload, cbor.AppendHead(nil, cbor.Uint, uint64(r.IntN(4))))
		b = byronOf(append(payload, 0))
	default:
		b = append(b, make([]byte, baseSize)...)[:[]int{baseSize, enterpriseSize, enterpriseSize + 3}[r.IntN(3)]]
		b[0] = byte(r.Uint32()) & 0xf1
	}
	return b
}

func TestAddressesRoundTrip(t *testing.T) {
	r := testseed.Rand(t)
	written := map[string]int{}
	for range 20_000 {
		n, raw := publicNetworks[r.IntN(len(publicNetworks))], randomAddress(r)
		text := Format(n, raw)
		if got, err := Parse(n, text); err != nil || !bytes.Equal(got, Canonical(raw)) {
			t.Fatalf("%s: %x is formatted as %s and parsed as %x, %v", n.Name, raw, text, got, err)
		}
		switch hrp := hrpOf(text); {
		case strings.HasPrefix(text, anyHex):
			written["hex"]++
		case strings.HasPrefix(hrp, addressPrefix), strings.HasPrefix(hrp, stakePrefix):
			written["bech32"]++
		default:
			written["base58"]++
		}
	}
	for _, form := range []string{"hex", "bech32", "base58"} {
		if written[form] < 100 {
			t.Errorf("only %d addresses of the form %s", written[form], form)
		}
	}
}

func FuzzFormatAddress(f *testing.F) {
	for _, c := range cip19 {
		f.Add(append([]byte{c.first}, unhex(f, c.rest)...))
	}
	f.Add(base58.Decode(byronAddresses["mainnet"][1]))
	f.Fuzz(func(t *testing.T, raw []byte) {
		for _, n := range publicNetworks {
			text := Format(n, raw)
			if got, err := Parse(n, text); err != nil || !bytes.Equal(got, Canonical(raw)) {
				t.Fatalf("%s: formatted as %s, parsed as %x, %v", n.Name, text, got, err)
			}
			for _, c := range []struct {
				format func(Network, []byte) string
				parse  func(Network, string) ([]byte, error)
			}{{FormatPaymentCredential, ParsePaymentCredential}, {FormatStakeCredential, ParseStakeCredential}} {
				text := c.format(n, raw)
				if got, err := c.parse(n, text); err != nil || !bytes.Equal(got, raw) {
					t.Fatalf("%s: credential formatted as %s, parsed as %x, %v", n.Name, text, got, err)
				}
			}
			if cred, ok := PaymentCredential(raw); ok && !isCredential(cred) {
				t.Fatalf("payment credential %x", cred)
			}
			if cred, ok := StakeCredential(raw); ok && !isCredential(cred) {
				t.Fatalf("stake credential %x", cred)
			}
		}
	})
}

func FuzzParseAddress(f *testing.F) {
	f.Add(cip19[0].mainnet)
	f.Add(byronAddresses["mainnet"][0])
	f.Add("hex:00ff")
	f.Fuzz(func(t *testing.T, text string) {
		for _, n := range publicNetworks {
			raw, err := Parse(n, text)
			if err != nil {
				if kind, code := model.KindOf(err); kind != model.Usage || code != "bad_value" || errors.Unwrap(err) == nil {
					t.Fatalf("%q: %v", text, err)
				}
				continue
			}
			again, err := Parse(n, Format(n, raw))
			if err != nil || !bytes.Equal(again, raw) {
				t.Fatalf("%q is parsed as %x, then as %x, %v", text, raw, again, err)
			}
		}
	})
}
