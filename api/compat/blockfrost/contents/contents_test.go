package contents

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"testing"
)

func decode(t *testing.T, digits string) []byte {
	t.Helper()
	b, err := hex.DecodeString(digits)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// Metadata of an asset is found by the text and by the bytes of policy and name (CIP-25). Without a name and an image it has
// no standard.
func TestByLabel(t *testing.T) {
	policy := bytes.Repeat([]byte{0xab}, 28)
	id := append(bytes.Clone(policy), "Coin"...)
	digits := hex.EncodeToString(policy)
	good := map[string]any{"name": "A coin", "image": "ipfs://x"}
	for _, c := range []struct{ label, want string }{
		{asJSON(t, map[string]any{digits: map[string]any{"Coin": good}}), `"CIP25v1"`},
		{asJSON(t, map[string]any{"0x" + digits: map[string]any{"0x436f696e": good}}), `"CIP25v2"`},
		{asJSON(t, map[string]any{digits: map[string]any{"Coin": map[string]any{"ticker": "C"}}}), `null`},
		{asJSON(t, map[string]any{digits: map[string]any{"Other": good}}), ""},
		{`"text"`, ""},
	} {
		var label any
		if err := json.Unmarshal([]byte(c.label), &label); err != nil {
			t.Fatal(err)
		}
		o, found := ByLabel(id, map[string]any{"721": label})
		if found != (c.want != "") || found && asJSON(t, o.Standard) != c.want {
			t.Errorf("%s: found %t, standard %s, expected %q", c.label, found, asJSON(t, o.Standard), c.want)
		}
	}
}

// The datum of a reference token is a constructor 0 with metadata, version and extra data (CIP-68).
func TestByReference(t *testing.T) {
	o, found := ByReference(decode(t, "d8799fa1446e616d65454163"))
	if found {
		t.Errorf("a malformed datum: %s", asJSON(t, o))
	}
	o, found = ByReference(decode(t, "d8799fa1446e616d65454120636f6e02d87980ff"))
	want := `{"onchain_metadata":{"name":"A con"},"onchain_metadata_standard":"CIP68v2","onchain_metadata_extra":"d87980"}`
	if !found || asJSON(t, o) != want {
		t.Errorf("found %t: %s, expected %s", found, asJSON(t, o), want)
	}
	if _, found := ByReference(decode(t, "d87a9fa001ff")); found {
		t.Error("constructor 1 is not a reference token")
	}
}

// Native scripts have the form of cardano-cli.
func TestTimelock(t *testing.T) {
	key := "581c" + hex.EncodeToString(bytes.Repeat([]byte{7}, 28))
	for _, c := range []struct{ code, want string }{
		{"8200" + key, `{"keyHash":"` + key[4:] + `","type":"sig"}`},
		{"8201828200" + key + "82051903e8", `{"scripts":[{"keyHash":"` + key[4:] + `","type":"sig"},{"slot":1000,"type":"before"}],"type":"all"}`},
		{"820281820405", `{"scripts":[{"slot":5,"type":"after"}],"type":"any"}`},
		{"83030180", `{"required":1,"scripts":[],"type":"atLeast"}`},
		{"8209", "null"}, {"820481", "null"},
	} {
		if got := asJSON(t, Timelock(decode(t, c.code))); got != c.want {
			t.Errorf("%s: %s, expected %s", c.code, got, c.want)
		}
	}
}

// Keys of mainnet's genesis have the names that Blockfrost shows: for example those of the blocks 5999 and 100.
func TestByronLeader(t *testing.T) {
	for key, want := range map[string]string{
		"9a6fa343c8c6c36de1a3556feb411bfdf8708d5af88de8626d0fc6bfa4eebb6d" +
			"99ab83d90d66531ad9122d3f9cb4bc9d05b26448672532a68da796f9328431fd": "ByronGenesis-8e8a7b0f4a23f07a",
		"1bc97a2fe02c297880ce8ecfd997fe4c1ec09ee10feeee9f686760166b05281d" +
			"6283468ffd93becb0c956ccddd642df9b1244c915911185fa49355f6f22bfab9": "ByronGenesis-52df0f2c5539b2b1",
	} {
		if got := byronLeader(decode(t, key)); got != want {
			t.Errorf("%s: %s, expected %s", key, got, want)
		}
	}
}
