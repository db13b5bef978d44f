package bitcoin

import (
	"encoding/hex"
	"strings"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// TestNetworkParametersEqualCores compares the networks with Bitcoin Core's kernel/chainparams.cpp.
func TestNetworkParametersEqualCores(t *testing.T) {
	want := map[string]struct {
		magic, genesis string
		halving        uint32
		key, script    byte
		hrp            string
	}{
		"mainnet":  {"f9beb4d9", "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f", 210000, 0, 5, "bc"},
		"testnet3": {"0b110907", "000000000933ea01ad0ee984209779baaec3ced90fa3f408719526f8d77f4943", 210000, 111, 196, "tb"},
		"testnet4": {"1c163f28", "00000000da84f2bafbbc53dee25a72ae507ff4914b867c565be350b0da8bf043", 210000, 111, 196, "tb"},
		"signet":   {"0a03cf40", "00000008819873e925422c1ff0f99f7cc9bbb232af63a077a480a3633bee1ef6", 210000, 111, 196, "tb"},
		"regtest":  {"fabfb5da", "0f9188f13cb7b2c71f2a335e3a4fc328bf5beb436012afca590b1a11466e2206", 150, 111, 196, "bcrt"},
		"simnet":   {"161c1412", "683e86bd5c6d110d91b94b97137ba6bfe02dbbdb8e3dff722a669b5d69d77af6", 210000, 63, 123, "sb"}, // btcd's own
	}
	if len(want) != len(networks) {
		t.Errorf("%d networks, expected %d", len(networks), len(want))
	}
	for _, n := range networks {
		w := want[n.Name]
		if hex.EncodeToString(n.Magic[:]) != w.magic || block.FormatHash(n.Genesis) != w.genesis || n.Halving != w.halving ||
			n.KeyHash[0][0] != w.key || n.ScriptHash[0][0] != w.script || n.HRP != w.hrp {
			t.Errorf("%s is %x %s %d %x %x %s, expected %+v", n.Name, n.Magic, block.FormatHash(n.Genesis), n.Halving, n.KeyHash, n.ScriptHash, n.HRP, w)
		}
	}
}

func TestSupplyIsTheSumOfSubsidies(t *testing.T) {
	for _, n := range networks[:testrun.Amount(len(networks), 1)] {
		sum, last := uint64(0), model.HeightPk(70*n.Halving)
		check := map[model.HeightPk]bool{0: true, 1: true, last: true}
		for era := range model.HeightPk(70) {
			check[era*model.HeightPk(n.Halving)] = true
			check[(era+1)*model.HeightPk(n.Halving)-1] = true
		}
		for h := model.HeightPk(0); h <= last; h++ {
			if era := uint32(h) / n.Halving; era < 64 {
				sum += 5_000_000_000 >> era
			}
			if check[h] && n.Supply(h) != sum {
				t.Fatalf("%s: supply(%d) is %d, expected %d", n.Name, h, n.Supply(h), sum)
			}
		}
	}
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	if amount, exact, ok := c.Supply(6_929_999); amount != 2_099_999_997_690_000 || exact || !ok {
		t.Errorf("all there will ever be: %d, exact %v, ok %v", amount, exact, ok)
	}
	if amount, _, _ := c.Supply(model.MaxHeight); amount != 2_099_999_997_690_000 {
		t.Errorf("at the last height: %d", amount)
	}
}

func TestHeightsFromWhichWitnessesAreRequired(t *testing.T) {
	for name, want := range map[string]model.HeightPk{
		"mainnet": 481_824, "testnet3": 834_624, "testnet4": 1, "signet": 1, "regtest": model.MaxHeight, "simnet": model.MaxHeight,
	} {
		if n, err := networks.Get(Name, name); err != nil || n.Segwit != want {
			t.Errorf("%s: %d, %v, expected %d", name, n.Segwit, err, want)
		}
	}
}

func TestCompactTargets(t *testing.T) {
	// The vectors of Core's arith_uint256_tests, without the values that are not valid targets.
	for compact, want := range map[uint32]string{
		0x01123456: "12", 0x02123456: "1234", 0x03123456: "123456", 0x04123456: "12345600", 0x05009234: "92340000",
		0x20123456: "1234560000000000000000000000000000000000000000000000000000000000", 0x1d00ffff: "ffff" + strings.Repeat("0", 52),
		0x207fffff: "7fffff" + strings.Repeat("0", 58), 0x22000001: "1" + strings.Repeat("0", 62), 0x21000012: "12" + strings.Repeat("0", 60),
		0: "", 0x00123456: "", 0x01003456: "", 0x02000056: "", 0x04000000: "", 0x01803456: "", 0x04923456: "", 0x01fedcba: "",
		0xff123456: "", 0x22000100: "", 0x21010000: "", 0x23000001: "",
	} {
		got, ok := block.ExpandTarget(compact)
		if ok != (want != "") || ok && got.Text(16) != want {
			t.Errorf("%08x: %x, %v; expected %q", compact, got, ok, want)
		}
	}
}

func TestHeaderFieldsInJSON(t *testing.T) {
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	raw := unhex(t, "0100000000000000000000000000000000000000000000000000000000000000000000003ba3edfd7a7b12b27ac72c3e67768f617fc81bc3888a51323a9fb8aa4b1e5e4a29ab5f49ffff001d1dac2b7c")
	h, err := c.Header(raw)
	if want := (Header{1, "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b", "1d00ffff", 2083236893, 1}); err != nil || *h.(*Header) != want {
		t.Errorf("%+v, %v", h, err)
	}
	for _, size := range []int{0, 79, 81} {
		if _, err := c.Header(make([]byte, size)); err == nil {
			t.Errorf("a header of %d bytes: no error", size)
		}
		if _, err := c.(model.HeaderHasher).HashHeader(make([]byte, size)); err == nil {
			t.Errorf("a header of %d bytes: a hash", size)
		}
	}
	// The check of a database recomputes the hash of every block.
	hash, err := c.(model.HeaderHasher).HashHeader(raw)
	if err != nil || c.FormatHash(hash) != "000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f" {
		t.Errorf("genesis hashes to %s, %v", c.FormatHash(hash), err)
	}
	if _, err := c.Header(make([]byte, 80)); err != nil {
		t.Errorf("a header of zeros: %v", err)
	}
}
