package descriptor_test

import (
	"encoding/hex"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"birthmark/chains/bitcoin/descriptor"
	"birthmark/internal/testseed"
	"birthmark/model"
)

func network(params *chaincfg.Params, test bool) *descriptor.Network {
	return &descriptor.Network{Name: "bitcoin " + params.Name, Coin: "bitcoin", Test: test, Script: func(text string) ([]byte, error) {
		a, err := address.DecodeAddress(text, params)
		if err != nil {
			return nil, err
		}
		return txscript.PayToAddrScript(a)
	}}
}

var (
	mainnet = network(&chaincfg.MainNetParams, false)
	testnet = network(&chaincfg.TestNet3Params, true)
)

// Keys of the test vectors of BIP 380 to 389.
const (
	keyA      = "03a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd"
	keyB      = "03669b8afcec803a0d323e9a17f3ea8e68e8abe5a278020a929adbec52421adbd0"
	longA     = "04a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bd5b8dec5235a0fa8722476c7709c02559e3aa73aa03918ba2d492eea75abea235"
	wifA      = "L4rK1yDtCWekvXuE6oXD9jCYfFNV2cWRpVuPLBcCU2z8TrisoyY1"
	longWIF   = "5KYZdUEo39z3FPrtuX2QbbwGnNP5zTd7yyr2SC1j299sBCnWjss"
	rootKey   = "xprv9s21ZrQH143K31xYSDQpPDxsXRTUcvj2iNHm5NUtrGiGG5e2DtALGdso3pGz6ssrdK4PFmM8NSpSBHNqPqm55Qn3LqFtT2emdEXVYsCzC2U"
	xprvOne   = "xprvA1RpRA33e1JQ7ifknakTFpgNXPmW2YvmhqLQYMmrj4xJXXWYpDPS3xz7iAxn8L39njGVyuoseXzU6rcxFLJ8HFsTjSyQbLYnMpCqE2VbFWc"
	xprvTwo   = "xprv9uPDJpEQgRQfDcW7BkF7eTya6RPxXeJCqCJGHuCJ4GiRVLzkTXBAJMu2qaMWPrS7AANYqdq6vcBcBUdJCVVFceUvJFjaPdGZ2y9WACViL4L"
	xprvLeaf  = "xprvA2JDeKCSNNZky6uBCviVfJSKyQ1mDYahRjijr5idH2WwLsEd4Hsb2Tyh8RfQMuPh7f7RtyzTtdrbdqqsunu5Mm3wDvUAKRHSC34sJ7in334"
	xpubOne   = "xpub6ERApfZwUNrhLCkDtcHTcxd75RbzS1ed54G1LkBUHQVHQKqhMkhgbmJbZRkrgZw4koxb5JaHWkY4ALHY2grBGRjaDMzQLcgJvLJuZZvRcEL"
	xpubTwo   = "xpub68NZiKmJWnxxS6aaHmn81bvJeTESw724CRDs6HbuccFQN9Ku14VQrADWgqbhhTHBaohPX4CjNLf9fq9MYo6oDaPPLPxSb7gwQN3ih19Zm4Y"
	xpubThree = "xpub661MyMwAqRbcGDZQUKLqmWodYLcoBQnQH33yYkkF3jjxeLvY8qr2wWGEWkiKFaaQfJCoi3HeEq3Dc5DptfbCyjD38fNhSqtKc1UHaP4ba3t"
	xpubFour  = "xpub661MyMwAqRbcFW31YEwpkMuc5THy2PSt5bDMsktWQcFF8syAmRUapSCGu8ED9W6oDMSgv6Zz8idoc4a6mr8BDzTJY47LJhkJ8UB7WEGuduB"
	xpub382   = "xpub69H7F5d8KSRgmmdJg2KhpAK8SR3DjMwAdkxj3ZuxV27CprR9LgpeyGmXUbC6wb7ERfvrnKZjXoUmmDznezpbZb7ap6r1D3tgFxHmwMkQTPH"
	xpub381   = "xpub69H7F5dQzmVd3vPuLKtcXJziMEQByuDidnX3YdwgtNsecY5HRGtAAQC5mXTt4dsv9RzyjgDjAQs9VGVV6ydYCHnprc9vvaA5YtqWyL6hyds"
	nums      = "50929b74c1a04954b78b4b6035e97a5e078a5a0f28ec96d547bfee9ace803ac0"
	zpub      = "zpub6rFR7y4Q2AijBEqTUquhVz398htDFrtymD9xYYfG1m4wAcvPhXNfE3EfH1r1ADqtfSdVCToUG868RvUUkgDKf31mGDtKsAYz2oz2AGutZYs"
	multiZpub = "Zpub75bKLk9fCjgfELzLr2XS5TEcCXXGrci4EDwAcppFNBDwpNy53JhJS8cbRjdv39noPDKSfzK7EPC1Ciyfb7jRwY7DmiuYJ6WDr2nEL6yTkHi"
	upub      = "upub5EFU65HtV5TeiSHmZZm7FUffBGy8UKeqp7vw43jYbvZPpoVsgU93oac7Wk3u6moKegAEWtGNF8DehrnHtv21XXEMYRUocHqguyjknFHYfgY"
)

// sixteen are the keys of the multisig of 16 keys in BIP 383.
const sixteen = "03669b8afcec803a0d323e9a17f3ea8e68e8abe5a278020a929adbec52421adbd0,0260b2003c386519fc9eadf2b5cf124dd8eea4c4e68d5e154050a9346ea98ce600,0362a74e399c39ed5593852a30147f2959b56bb827dfa3e60e464b02ccf87dc5e8,0261345b53de74a4d721ef877c255429961b7e43714171ac06168d7e08c542a8b8,02da72e8b46901a65d4374fe6315538d8f368557dda3a1dcf9ea903f3afe7314c8,0318c82dd0b53fd3a932d16e0ba9e278fcc937c582d5781be626ff16e201f72286,0297ccef1ef99f9d73dec9ad37476ddb232f1238aff877af19e72ba04493361009,02e502cfd5c3f972fe9a3e2a18827820638f96b6f347e54d63deb839011fd5765d,03e687710f0e3ebe81c1037074da939d409c0025f17eb86adb9427d28f0f7ae0e9,02c04d3a5274952acdbc76987f3184b346a483d43be40874624b29e3692c1df5af,02ed06e0f418b5b43a7ec01d1d7d27290fa15f75771cb69b642a51471c29c84acd,036d46073cbb9ffee90473f3da429abc8de7f8751199da44485682a989a4bebb24,02f5d1ff7c9029a80a4e36b9a5497027ef7f3e73384a4a94fbfe7c4e9164eec8bc,02e41deffd1b7cce11cde209a781adcffdabd1b91c0ba0375857a2bfd9302419f3,02d76625f7956a7fc505ab02556c23ee72d832f1bac391bcd2d3abce5710a13d06,0399eb0a5487515802dc14544cf10b3666623762fbed2ec38a3975716e2c29c232"

// public replaces extended private keys by their public keys.
func public(t testing.TB, text string) string {
	t.Helper()
	return regexp.MustCompile("xprv[0-9A-Za-z]+").ReplaceAllStringFunc(text, func(private string) string {
		key, err := hdkeychain.NewKeyFromString(private)
		if err == nil {
			key, err = key.Neuter()
		}
		if err != nil {
			t.Fatal(err)
		}
		return key.String()
	})
}

// The scripts of the test vectors of BIP 381 to 387, at the positions 0, 1 and 2 of descriptors with a range. Private keys
// of the vectors are replaced by their public keys; vectors with hardened steps after the key are left out.
func TestScriptsOfTheBIPs(t *testing.T) {
	for text, want := range map[string][]string{
		// BIP 381
		"pk(" + keyA + ")":                             {"2103a34b99f22c790c4e36b2b3c2c35a36db06226e41c692fc82b8b56ac1c540c5bdac"},
		"pkh([deadbeef/1/2'/3/4']" + keyA + ")":        {"76a9149a1c78a507689f6f54b847ad1cef1e614ee23f1e88ac"},
		"pkh([deadbeef/1/2h/3/4h]" + keyA + ")":        {"76a9149a1c78a507689f6f54b847ad1cef1e614ee23f1e88ac"},
		"pk(" + longA + ")":                            {"41" + longA + "ac"},
		"pkh(" + longA + ")":                           {"76a914b5bd079c4d57cc7fc28ecf8213a6b791625b818388ac"},
		"sh(pk(" + keyA + "))":                         {"a9141857af51a5e516552b3086430fd8ce55f7c1a52487"},
		"sh(pkh(" + keyA + "))":                        {"a9141a31ad23bf49c247dd531a623c2ef57da3c400c587"},
		"pkh([bd16bee5/2147483647h]" + xpub381 + "/0)": {"76a914ebdc90806a9c4356c1c88e42216611e1cb4c1c1788ac"},
		"pk(" + xpubTwo + "/0)":                        {"210379e45b3cf75f9c5f9befd8e9506fb962f6a9d185ac87001ec44a8d3df8d4a9e3ac"},
		// BIP 382
		"wpkh(" + keyA + ")": {"00149a1c78a507689f6f54b847ad1cef1e614ee23f1e"},
		"wpkh([ffffffff/13']" + xpub382 + "/1/2/*)": {"0014326b2249e3a25d5dc60935f044ee835d090ba859",
			"0014af0bd98abc2f2cae66e36896a39ffe2d32984fb7", "00141fa798efd1cbf95cebf912c031b8a4a6e9fb9f27"},
		"wsh(pkh(" + keyA + "))":     {"0020338e023079b91c58571b20e602d7805fb808c22473cbc391a41b1bd3a192e75b"},
		"wsh(pk(" + keyA + "))":      {"00202e271faa2325c199d25d22e1ead982e45b64eeb4f31e73dbdf41bd4b5fec23fa"},
		"sh(wsh(pkh(" + keyA + ")))": {"a914b61b92e2ca21bac1e72a3ab859a742982bea960a87"},
		// BIP 383
		"multi(1," + keyA + "," + longA + ")":                               {"5121" + keyA + "41" + longA + "52ae"},
		"sortedmulti(1," + longA + "," + keyA + ")":                         {"5121" + keyA + "41" + longA + "52ae"},
		"sh(multi(2,[00000000/111'/222]" + xprvOne + "," + xprvTwo + "/0))": {"a91445a9a622a8b0a1269944be477640eedc447bbd8487"},
		"sortedmulti(2," + xpubOne + "/*," + xpubTwo + "/0/0/*)": {
			"5221025d5fc65ebb8d44a5274b53bac21ff8307fec2334a32df05553459f8b1f7fe1b62102fbd47cc8034098f0e6a94c6aeee8528abf0a2153a5d8e46d325b7284c046784652ae",
			"52210264fd4d1f5dea8ded94c61e9641309349b62f27fbffe807291f664e286bfbe6472103f4ece6dfccfa37b211eb3d0af4d0c61dba9ef698622dc17eecdf764beeb005a652ae",
			"5221022ccabda84c30bad578b13c89eb3b9544ce149787e5b538175b1d1ba259cbb83321024d902e1a2fc7a8755ab5b694c575fce742c48d9ff192e63df5193e4c7afe1f9c52ae"},
		"sh(wsh(multi(16," + sixteen + ")))": {"a9147fc63e13dc25e8a95a3cee3d9a714ac3afd96f1e87"},
		// BIP 385
		"raw(deadbeef)": {"deadbeef"},
		"addr(3PUNyaW7M55oKWJ3kDukwk9bsKvryra15j)": {"a914eeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeeee87"},
		// BIP 386
		"tr(" + keyA[2:] + ")": {"512077aab6e066f8a7419c5ab714c12c67d25007ed55a43cadcacb4d7a970a093f11"},
		"tr(" + keyA + ")":     {"512077aab6e066f8a7419c5ab714c12c67d25007ed55a43cadcacb4d7a970a093f11"},
		"tr(" + xprvOne + "/0/*,pk(" + xprvOne + "/1/*))": {"512078bc707124daa551b65af74de2ec128b7525e10f374dc67b64e00ce0ab8b3e12",
			"512001f0a02a17808c20134b78faab80ef93ffba82261ccef0a2314f5d62b6438f11", "512021024954fcec88237a9386fce80ef2ced5f1e91b422b26c59ccfc174c8d1ad25"},
		"tr(" + keyA[2:] + ",pk(" + keyB[2:] + "))": {"512017cf18db381d836d8923b1bdb246cfcd818da1a9f0e6e7907f187f0b2f937754"},
		"tr(" + keyA[2:] + ",{pk(" + xprvLeaf + "/0),{{pk(" + xpubOne + "),pk(02df12b7035bdac8e3bab862a3a83d06ea6b17b6753d52edecba9be46f5d09e076)},pk(" + keyA + ")}})": {
			"512071fff39599a7b78bc02623cbe814efebf1a404f5d8ad34ea80f213bd8943f574"},
		// BIP 387
		"tr(" + keyA[2:] + ",multi_a(1," + keyB[2:] + "))":                                       {"5120eb5bd3894327d75093891cc3a62506df7d58ec137fcd104cdd285d67816074f3"},
		"tr(" + nums + ",multi_a(2,[00000000/111'/222]" + xprvOne + "," + xprvTwo + "/0))":       {"51202eea93581594a43c0c8423b70dc112e5651df63984d108d4fc8ccd3b63b4eafa"},
		"tr(" + nums + ",sortedmulti_a(2,[00000000/111'/222]" + xprvOne + "," + xprvTwo + "/0))": {"512016fa6a6ba7e98c54b5bf43b3144912b78a61b60b02f6a74172b8dcb35b12bc30"},
		"tr(" + nums + ",sortedmulti_a(2," + xpubOne + "/*," + xpubTwo + "/0/0/*))": {"5120abd47468515223f58a1a18edfde709a7a2aab2b696d59ecf8c34f0ba274ef772",
			"5120fe62e7ed20705bd1d3678e072bc999acb014f07795fa02cb8f25a7aa787e8cbd", "51201311093750f459039adaa2a5ed23b0f7a8ae2c2ffb07c5390ea37e2fb1050b41"},
		"rawtr(" + keyA[2:] + ")": {"5120" + keyA[2:]},
	} {
		text = public(t, text)
		sum, ok := descriptor.Checksum(text)
		if !ok {
			t.Fatalf("%s has no checksum", text)
		}
		d, err := descriptor.Parse(text+"#"+sum, mainnet)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if d.Ranged() != (len(want) > 1) || d.Branches() != 1 {
			t.Errorf("%s: ranged %t, %d branches", text, d.Ranged(), d.Branches())
		}
		for position, script := range want {
			if got := scriptsOf(t, d, 0, position); len(got) != 1 || got[0] != script {
				t.Errorf("%s, position %d: %v, expected %s", text, position, got, script)
			}
		}
	}
}

func scriptsOf(t testing.TB, d *descriptor.Descriptor, branch, position int) (texts []string) {
	t.Helper()
	scripts, _, err := d.Scripts(branch, position)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range scripts {
		texts = append(texts, hex.EncodeToString(s))
	}
	return texts
}

// combo has the scripts of the descriptors that BIP 384 lists.
func TestComboHasTheScriptsOfItsParts(t *testing.T) {
	for key, forms := range map[string][]string{
		keyA: {"pk(%)", "pkh(%)", "wpkh(%)", "sh(wpkh(%))"}, longA: {"pk(%)", "pkh(%)"},
		xpubTwo + "/<3;5>/*": {"pk(%)", "pkh(%)", "wpkh(%)", "sh(wpkh(%))"},
	} {
		combo := parse(t, "combo("+key+")")
		for branch := range combo.Branches() {
			for position := range 3 {
				if position > 0 && !combo.Ranged() {
					continue
				}
				var want []string
				for _, form := range forms {
					want = append(want, scriptsOf(t, parse(t, strings.ReplaceAll(form, "%", key)), branch, position)...)
				}
				if got := scriptsOf(t, combo, branch, position); strings.Join(got, " ") != strings.Join(want, " ") {
					t.Errorf("%s: %v, expected %v", key, got, want)
				}
			}
		}
	}
}

func parse(t testing.TB, text string) *descriptor.Descriptor {
	t.Helper()
	d, err := descriptor.Parse(text, mainnet)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return d
}

// The branches of a descriptor equal its expansion by BIP 389.
func TestBranchesAreThoseOfBIP389(t *testing.T) {
	for text, expanded := range map[string][]string{
		"pk(" + xpubTwo + "/<0;1>)":                                  {"pk(" + xpubTwo + "/0)", "pk(" + xpubTwo + "/1)"},
		"wpkh([ffffffff/13h]" + xpub382 + "/<1;3>/2/*)":              {"wpkh([ffffffff/13h]" + xpub382 + "/1/2/*)", "wpkh([ffffffff/13h]" + xpub382 + "/3/2/*)"},
		"multi(2," + xpubOne + "/<1;2>/*," + xpubTwo + "/<3;4>/0/*)": {"multi(2," + xpubOne + "/1/*," + xpubTwo + "/3/0/*)", "multi(2," + xpubOne + "/2/*," + xpubTwo + "/4/0/*)"},
		"pkh(" + xpubFour + "/<0;1;2>)":                              {"pkh(" + xpubFour + "/0)", "pkh(" + xpubFour + "/1)", "pkh(" + xpubFour + "/2)"},
		"sh(multi(2," + xpubOne + "/<1;2;3>/0/*," + xpubTwo + "/0/*," + xpubThree + "/0/0/<3;4;5>/*))": {
			"sh(multi(2," + xpubOne + "/1/0/*," + xpubTwo + "/0/*," + xpubThree + "/0/0/3/*))",
			"sh(multi(2," + xpubOne + "/2/0/*," + xpubTwo + "/0/*," + xpubThree + "/0/0/4/*))",
			"sh(multi(2," + xpubOne + "/3/0/*," + xpubTwo + "/0/*," + xpubThree + "/0/0/5/*))"},
		zpub: {"wpkh(" + zpub + "/0/*)", "wpkh(" + zpub + "/1/*)"},
	} {
		d := parse(t, text)
		if d.Branches() != len(expanded) {
			t.Errorf("%s: %d branches, expected %d", text, d.Branches(), len(expanded))
			continue
		}
		for branch, one := range expanded {
			for position := range 3 {
				want := parse(t, one)
				if position > 0 && !want.Ranged() {
					continue
				}
				got := scriptsOf(t, d, branch, position)
				if strings.Join(got, " ") != strings.Join(scriptsOf(t, want, 0, position), " ") {
					t.Errorf("%s, branch %d, position %d: %v", text, branch, position, got)
				}
			}
		}
	}
}

func TestPathsOfPositions(t *testing.T) {
	for text, want := range map[string]string{
		zpub: "1/7",
		"wpkh([deadbeef/84'/0h/0']" + zpub + "/<0;1>/*)":                   "m/84h/0h/0h/1/7",
		"wpkh(" + xpubFour + "/<0;1>/*)":                                   "m/1/7",
		"wpkh(" + xpubOne + "/<0;1>/5)":                                    "1/5",
		"wsh(multi(1," + keyA + ",[deadbeef/48h]" + xpubOne + "/<0;1>/*))": "1/7",
		"addr(3PUNyaW7M55oKWJ3kDukwk9bsKvryra15j)":                         "",
		"pkh(" + keyA + ")":                                                "",
	} {
		if got := parse(t, text).Path(1, 7); got != want {
			t.Errorf("%s: path %q, expected %q", text, got, want)
		}
	}
}

func TestChecksumsOfBIP380(t *testing.T) {
	if sum, ok := descriptor.Checksum("raw(deadbeef)"); !ok || sum != "89f8spxm" {
		t.Errorf("checksum %q %v", sum, ok)
	}
	if _, ok := descriptor.Checksum("raw(Ü)"); ok {
		t.Error("an invalid character of a descriptor has a checksum")
	}
	body := "tr(" + xpubOne + "/<0;1>/*)"
	sum, _ := descriptor.Checksum(body)
	for name, text := range map[string]string{
		"missing":        body + "#",
		"too long":       body + "#" + sum + "x",
		"too short":      body + "#" + sum[:7],
		"wrong payload":  strings.Replace(body, "/*", "/3/*", 1) + "#" + sum,
		"wrong branch":   strings.Replace(body, "0;1", "0;2", 1) + "#" + sum,
		"wrong checksum": body + "##" + sum[1:],
	} {
		wantError(t, name, text, mainnet, "bad_wallet")
		_, err := descriptor.Parse(text, mainnet)
		right, _ := descriptor.Checksum(text[:strings.IndexByte(text, '#')])
		if !strings.Contains(err.Error(), right) {
			t.Errorf("%s: the error does not contain the right checksum %s: %v", name, right, err)
		}
	}
	random := testseed.Rand(t)
	const letters = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for range 200 { // BIP 380: any one or two substitutions are detected
		broken := []byte(body)
		for range 1 + random.IntN(2) {
			broken[random.IntN(len(broken))] = letters[random.IntN(len(letters))]
		}
		if other, _ := descriptor.Checksum(string(broken)); other == sum && string(broken) != body {
			t.Errorf("%s has the checksum of %s", broken, body)
		}
	}
}

// wantError checks that a text is refused, and that the error does not repeat it.
func wantError(t *testing.T, name, text string, n *descriptor.Network, code string) {
	t.Helper()
	_, err := descriptor.Parse(text, n)
	kind, got := model.KindOf(err)
	if err == nil || kind != model.Usage || got != code {
		t.Errorf("%s: error %v, expected %s", name, err, code)
		return
	}
	for _, token := range regexp.MustCompile("[0-9A-Za-z]{20,}").FindAllString(text, -1) {
		if strings.Contains(err.Error(), token[4:20]) {
			t.Errorf("%s: the error repeats a key: %v", name, err)
		}
	}
}

func TestInvalidDescriptors(t *testing.T) {
	for name, text := range map[string]string{
		"empty":                          "",
		"address":                        "bc1qcr8te4kr609gcawutmrza0j4xv80jy8z306fyu",
		"broken key":                     zpub[:len(zpub)-1] + "t",
		"key of a test network":          upub,
		"multisig version":               multiZpub,
		"unknown expression":             "musig(" + xpubOne + "/0/*)",
		"miniscript":                     "wsh(and_v(v:pk(" + xpubOne + "/0/*),older(10)))",
		"miniscript in tr":               "tr(" + xpubOne + "/0/*,and_v(v:pk(" + xpubOne + "/0/*),older(10)))",
		"one bracket":                    "sh(wpkh(" + xpubOne + "/0/*)",
		"many brackets":                  "wpkh(" + xpubOne + "/0/*)))",
		"wrong brackets":                 "tr(" + keyA + ",{pk(" + keyA + "),pk(" + keyA + ")",
		"three parts of a tree":          "tr(" + keyA + ",{pk(" + keyA + "),pk(" + keyA + "),pk(" + keyA + ")})",
		"one part of a tree":             "tr(" + keyA + ",{pk(" + keyA + ")})",
		"three arguments of tr":          "tr(" + keyA + ",pk(" + keyA + "),pk(" + keyA + "))",
		"no key":                         "wpkh()",
		"two keys":                       "wpkh(" + keyA + "," + keyB + ")",
		"ends with a slash":              "wpkh(" + xpubOne + "/)",
		"hardened child":                 "wpkh(" + xpubOne + "/0/*h)",
		"hardened branch":                "wpkh(" + xpubOne + "/0h/*)",
		"capital H":                      "wpkh(" + xpubOne + "/0H/*)",
		"large step":                     "wpkh(" + xpubOne + "/2147483648/*)",
		"signed step":                    "wpkh(" + xpubOne + "/+1/*)",
		"no step":                        "wpkh(" + xpubOne + "//*)",
		"letters":                        "wpkh(" + xpubOne + "/1aa/*)",
		"star before the end":            "wpkh(" + xpubOne + "/*/1)",
		"two lists":                      "wpkh(" + xpubOne + "/<0;1>/<2;3>/*)",
		"same step twice":                "wpkh(" + xpubOne + "/<0;0>/*)",
		"lists of different size":        "wsh(multi(1," + xpubOne + "/<0;1>/*," + xpubTwo + "/<0;1;2>/*))",
		"empty list":                     "wpkh(" + xpubOne + "/<>/*)",
		"list of one":                    "wpkh(" + xpubOne + "/<0>/*)",
		"list without end":               "wpkh(" + xpubOne + "/<0;1/*)",
		"list without start":             "wpkh(" + xpubOne + "/0;1>/*)",
		"missing branch":                 "wpkh(" + xpubOne + "/<0;>/*)",
		"list in the origin":             "wpkh([deadbeef/<0;1>]" + xpubOne + "/0/*)",
		"star in the origin":             "wpkh([deadbeef/0h/*]" + xpubOne + "/0/*)",
		"slash in the origin":            "wpkh([deadbeef/0h/]" + xpubOne + "/0/*)",
		"short fingerprint":              "wpkh([deadbef/0h]" + xpubOne + "/0/*)",
		"long fingerprint":               "wpkh([deadbeeef/0h]" + xpubOne + "/0/*)",
		"fingerprint without hex":        "wpkh([gaaaaaaa]" + xpubOne + "/0/*)",
		"bad marker":                     "wpkh([deadbeef/0f]" + xpubOne + "/0/*)",
		"negative":                       "wpkh([deadbeef/-0]" + xpubOne + "/0/*)",
		"two origins":                    "wpkh([aaaaaaaa][aaaaaaaa]" + xpubOne + "/0/*)",
		"origin without start":           "wpkh(aaaaaaaa]" + xpubOne + "/0/*)",
		"origin without end":             "wpkh([aaaaaaaa" + xpubOne + "/0/*)",
		"origin without key":             "wpkh([deadbeef])",
		"key in hex with a path":         "wpkh(" + keyA + "/0)",
		"not a point":                    "pk(020000000000000000000000000000000000000000000000000000000000000005)",
		"hybrid key":                     "pk(06" + longA[2:] + ")",
		"short key":                      "pk(" + keyA[:64] + ")",
		"x-only key in pk":               "pk(" + keyA[2:] + ")",
		"key of 34 bytes":                "pk(" + keyA + "00)",
		"pk in pk":                       "pk(pk(" + keyA + "))",
		"pk in pkh":                      "pkh(pk(" + keyA + "))",
		"key in sh":                      "sh(" + keyA + ")",
		"sh in sh":                       "sh(sh(pkh(" + keyA + ")))",
		"uncompressed key in wpkh":       "wpkh(" + longA + ")",
		"uncompressed key in sh(wpkh)":   "sh(wpkh(" + longA + "))",
		"uncompressed key in wsh":        "wsh(pk(" + longA + "))",
		"uncompressed key in wsh(pkh)":   "wsh(pkh(" + longA + "))",
		"uncompressed key in wsh(multi)": "wsh(multi(1," + longA + "))",
		"uncompressed key in tr":         "tr(" + longA + ")",
		"uncompressed key in multi_a":    "tr(" + nums + ",multi_a(1," + longA + "))",
		"wpkh in wsh":                    "wsh(wpkh(" + keyA + "))",
		"wsh in wsh":                     "wsh(wsh(pkh(" + keyA + ")))",
		"wsh in sh(wsh)":                 "sh(wsh(wsh(pkh(" + keyA + "))))",
		"script in wpkh":                 "wpkh(wsh(pkh(" + keyA + ")))",
		"key in wsh":                     "wsh(" + keyA + ")",
		"combo in sh":                    "sh(combo(" + keyA + "))",
		"16 keys in sh":                  "sh(multi(16," + sixteen + "))",
		"four keys without hash":         "multi(1," + strings.Repeat(keyA+",", 3) + keyA + ")",
		"21 keys":                        "wsh(multi(1," + strings.Repeat(keyA+",", 20) + keyA + "))",
		"threshold in letters":           "multi(a," + keyA + "," + longA + ")",
		"threshold of 0":                 "multi(0," + keyA + "," + longA + ")",
		"threshold with a sign":          "multi(+1," + keyA + "," + longA + ")",
		"threshold above the keys":       "multi(3," + keyA + "," + longA + ")",
		"multisig without keys":          "multi(1)",
		"multi_a at the top":             "multi_a(1," + keyB + ")",
		"multi_a in sh":                  "sh(multi_a(1," + keyB + "))",
		"multi_a in wsh":                 "wsh(multi_a(1," + keyB + "))",
		"multi in tr":                    "tr(" + nums + ",multi(1," + keyB + "))",
		"script that is not hex":         "raw(asdf)",
		"empty script":                   "raw()",
		"invalid address":                "addr(asdf)",
		"raw in sh":                      "sh(raw(deadbeef))",
		"raw in wsh":                     "wsh(raw(deadbeef))",
		"addr in sh":                     "sh(addr(3PUNyaW7M55oKWJ3kDukwk9bsKvryra15j))",
		"tr in wsh":                      "wsh(tr(" + keyA[2:] + "))",
		"tr in sh":                       "sh(tr(" + keyA[2:] + "))",
		"pkh in tr":                      "tr(" + keyA[2:] + ",pkh(" + keyA + "))",
		"text after it":                  "wpkh(" + keyA + ")x",
	} {
		wantError(t, name, text, mainnet, "bad_wallet")
	}
	var many strings.Builder
	for i := range descriptor.MaxBranches + 1 {
		fmt.Fprintf(&many, ";%d", i)
	}
	wantError(t, "many branches", "wpkh("+xpubOne+"/<"+many.String()[1:]+">/*)", mainnet, "bad_wallet")
	wantError(t, "key of the main network", zpub, testnet, "bad_wallet")
	wantError(t, "key of the main network in a descriptor", "wsh(multi(1,"+xpubOne+"/*))", testnet, "bad_wallet")
	if _, err := descriptor.Parse(upub, testnet); err != nil {
		t.Error(err)
	}
	depth := strings.Repeat("{pk("+keyA+"),", 130) + "pk(" + keyA + ")" + strings.Repeat("}", 130)
	wantError(t, "deep tree", "tr("+keyA+","+depth+")", mainnet, "bad_wallet")
}

// Private keys are refused in every form, also if a character of them is wrong, and no public text is taken for one.
func TestPrivateKeysAreRefused(t *testing.T) {
	seed := strings.Repeat("abandon ", 11) + "about"
	for name, text := range map[string]string{
		"extended key":                     rootKey,
		"extended key with a typing error": rootKey[:50] + "1" + rootKey[51:],
		"in a descriptor":                  "wpkh(" + rootKey + "/0/*)",
		"beside a public key":              "wsh(multi(1," + xpubOne + "/0/*," + rootKey + "/0/*))",
		"with a wrong checksum":            "wpkh(" + rootKey + "/0/*)#00000000",
		"WIF":                              wifA,
		"WIF in a descriptor":              "pkh([deadbeef/1h]" + wifA + ")",
		"WIF with a typing error":          "K" + wifA[1:],
		"uncompressed WIF":                 longWIF,
		"WIF of a test network":            "cMzLdeGd5vEqxB8B6VFQoRopQ3sLAAvEzDAoQgvX54xwofSWj1fx",
		"words of a seed":                  seed,
	} {
		wantError(t, name, text, mainnet, "private_key")
		if !descriptor.IsMeant(text) {
			t.Errorf("%s is not meant as a wallet", name)
		}
	}
	for _, text := range []string{
		"bc1p5cyxnuxmeuwuvkwfem96lqzszd02n6xdcjrs20cac6yqjjwudpxqkedrcr", "3PUNyaW7M55oKWJ3kDukwk9bsKvryra15j", zpub, xpubOne, keyA, longA, nums,
		strings.Repeat("5", 51), "five words are no seed", "",
	} {
		if descriptor.HasPrivateKey(text) {
			t.Errorf("%s is taken for a private key", text)
		}
	}
	random := testseed.Rand(t)
	for range 20_000 { // addresses and keys in hex
		program := make([]byte, 32)
		for i := range program {
			program[i] = byte(random.Uint32())
		}
		taproot, err := address.NewAddressTaproot(program, &chaincfg.MainNetParams)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{taproot.EncodeAddress(), hex.EncodeToString(program), "addr(" + taproot.EncodeAddress() + ")"} {
			if descriptor.HasPrivateKey(text) {
				t.Fatalf("%s is taken for a private key", text)
			}
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, text := range []string{
		zpub, "tr([73c5da0a/86'/0'/0']" + xpubOne + "/<0;1>/*)", "sh(wpkh(" + xpubTwo + "/0/*))#00000000", rootKey,
		"tr(" + keyA + ",{pk(" + keyA + "),multi_a(1," + keyB + ")})", "wsh(sortedmulti(1," + xpubOne + "/<0;1>/*," + keyA + "))", "combo(" + longA + ")",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := descriptor.Parse(text, mainnet)
		if err != nil {
			if kind, _ := model.KindOf(err); kind != model.Usage {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if d.Branches() == 0 || d.Branches() > descriptor.MaxBranches {
			t.Errorf("%q: %d branches", text, d.Branches())
		}
		for branch := range d.Branches() {
			if scripts, _, err := d.Scripts(branch, 0); err != nil || len(scripts) == 0 {
				t.Errorf("%q: %x %v", text, scripts, err)
			}
			_ = d.Path(branch, 0)
		}
	})
}
