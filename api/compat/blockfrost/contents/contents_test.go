package contents

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/chains/cardano"
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

func TestFractions(t *testing.T) {
	for digits, want := range map[string]float64{
		"d81e820104": 0.25, "820104": 0.25, "d81e820500": 0, "d81e8105": 0, "d81e83010204": 0.5, "05": 0, "d81e82012105": 0,
	} {
		if got := fraction(decode(t, digits)); got != want {
			t.Errorf("%s: %v, expected %v", digits, got, want)
		}
	}
}

// Metadata of an asset are found by the text and by the bytes of policy and name (CIP-25), with the standards of
// Blockfrost: test/fixtures/metadata.ts of github.com/blockfrost/openapi has cases of these kinds.
func TestByLabel(t *testing.T) {
	policy := bytes.Repeat([]byte{0xab}, 28)
	digits := hex.EncodeToString(policy)
	asBytes := decode(t, "a1581c"+digits+"a144436f696ea0")
	asText := decode(t, "a1783a3078"+hex.EncodeToString([]byte(digits))+"a16a30783433366636393665a0") // text that begins with 0x
	good := object{"name": "A coin", "image": "ipfs://x"}
	with := func(field string, v any) object {
		m := maps.Clone(good)
		m[field] = v
		return m
	}
	v2 := func(version any, m any) object {
		return object{"0x" + digits: object{"0x436f696e": m}, "version": version}
	}
	files := func(f any) object { return object{digits: object{"Coin": with("files", f)}} }
	for _, c := range []struct {
		name     string
		label    any
		item     []byte
		shown    bool
		standard string
	}{
		{"no version", object{digits: object{"Coin": good}}, nil, true, `"CIP25v1"`},
		{"version 1.0", object{digits: object{"Coin": good}, "version": "1.0"}, nil, true, `"CIP25v1"`},
		{"name in hex", object{digits: object{"436f696e": good}}, nil, true, `"CIP25v1"`},
		{"version 2", v2(2, good), asBytes, true, `"CIP25v2"`},
		{"version 2.0", v2("2.0", good), asBytes, true, `"CIP25v2"`},
		{"version 2 without CBOR of bytes", v2(2, good), asText, false, "null"},
		{"version 2 with text", object{digits: object{"Coin": good}, "version": 2}, asBytes, true, "null"},
		{"version 2, but stated as 1", v2(1, good), asBytes, false, "null"},
		{"version 3", object{digits: object{"Coin": good}, "version": 3}, nil, false, "null"},
		{"no image", object{digits: object{"Coin": object{"name": "C"}}}, nil, true, "null"},
		{"name is a list", object{digits: object{"Coin": with("name", []any{"C"})}}, nil, true, "null"},
		{"image is a number", object{digits: object{"Coin": with("image", 1)}}, nil, true, "null"},
		{"image is a list", object{digits: object{"Coin": with("image", []any{"a", "b"})}}, nil, true, `"CIP25v1"`},
		{"image has a number", object{digits: object{"Coin": with("image", []any{"a", 1})}}, nil, true, "null"},
		{"description is a number", object{digits: object{"Coin": with("description", 1)}}, nil, true, "null"},
		{"mediaType is a list", object{digits: object{"Coin": with("mediaType", []any{"a"})}}, nil, true, "null"},
		{"files", files([]any{object{"mediaType": "a", "src": []any{"b"}}}), nil, true, `"CIP25v1"`},
		{"a file without a type", files([]any{object{"src": "b"}}), nil, true, "null"},
		{"files is a map", files(object{"mediaType": "a", "src": "b"}), nil, true, "null"},
		{"another name", object{digits: object{"Other": good}}, nil, false, "null"},
		{"names are text", object{digits: "Coin"}, nil, false, "null"},
		{"text", "text", nil, false, "null"},
	} {
		o := ByLabel(append(bytes.Clone(policy), "Coin"...), numbers(t, c.label), c.item)
		if (o.Metadata != nil) != c.shown || asJSON(t, o.Standard) != c.standard {
			t.Errorf("%s: %s, standard %s, expected %t and %s", c.name, asJSON(t, o.Metadata), asJSON(t, o.Standard), c.shown, c.standard)
		}
	}
}

type object = map[string]any

// numbers returns a value as it is read from JSON with exact numbers.
func numbers(t *testing.T, v any) (read any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(asJSON(t, v)))
	d.UseNumber()
	if err := d.Decode(&read); err != nil {
		t.Fatal(err)
	}
	return read
}

// Names of assets of each kind of token.
var nft, ft, rft = []byte{0, 0x0d, 0xe1, 0x40, 'x'}, []byte{0, 0x14, 0xdf, 0x10, 'x'}, []byte{0, 0x1b, 0xc2, 0x80, 'x'}

// The datum of a reference token is a constructor with metadata, version and extra data (CIP-68). The first cases are real
// datums with the answers of Blockfrost: test/fixtures/cip68.ts of github.com/blockfrost/blockfrost-utils.
func TestByReference(t *testing.T) {
	const coin = "a3446e616d654a426c6f636b66726f73744b6465736372697074696f6e5821426c6f636b66726f73742074657374696e672066756e6769626c6520746f6b656e48646563696d616c7302"
	const berry = "45696d6167655835697066733a2f2f516d594e795162774c4359766a503734334a6e756431626f7a6346504453584679594e59556d66516a597335415142696418634b6465736372697074696f6e40"
	const image = `"image":"ipfs://QmYNyQbwLCYvjP743Jnud1bozcFPDSXFyYNYUmfQjYs5AQ"`
	for _, c := range []struct {
		name         []byte
		datum        string
		want, extras string // empty: not found
	}{
		{ft, "d8799f" + coin + "01ff", `{"decimals":2,"description":"Blockfrost testing fungible token","name":"Blockfrost"}`, `"CIP68v1" null`},
		{nft, "d8799f" + coin + "01ff", "", ""}, // no image
		{nft, "d8799fa4446e616d65504d61747269782042657272792023393" + "9" + berry + "01ff",
			`{"description":"","id":"1863",` + image + `,"name":"Matrix Berry #99"}`, `"CIP68v1" null`},
		{nft, "d8799fa4446e616d65504d61747269782042657272792023c328" + berry + "01ff",
			`{"description":"","id":"1863",` + image + `,"name":"4d61747269782042657272792023c328"}`, `"CIP68v1" null`},
		// An image in parts, an image of indefinite length, a file, and fields of other tokens.
		{nft, "d8799fa2446e616d65414145696d6167659f426162426364ff03d87980ff", `{"image":"abcd","name":"A"}`, `"CIP68v3" "d87980"`},
		{nft, "d8799fa2446e616d65414145696d6167655f426162426364ff02ff", `{"image":"abcd","name":"A"}`, `"CIP68v2" null`},
		{nft, "d8799fa3446e616d65414145696d61676541624566696c65739fa2437372639f41634164ff496d656469615479706541" + "65ff01ff",
			`{"files":[{"mediaType":"e","src":"cd"}],"image":"b","name":"A"}`, `"CIP68v1" null`},
		{nft, "d8799fa3446e616d65414145696d616765416248646563696d616c730201ff", `{"decimals":"02","image":"b","name":"A"}`, `"CIP68v1" null`},
		{rft, "d8799fa3446e616d65414145696d616765416248646563696d616c730201ff", `{"decimals":2,"image":"b","name":"A"}`, `"CIP68v1" null`},
		{nft, "d87a9fa2446e616d65414145696d616765416201ff", `{"image":"b","name":"A"}`, `"CIP68v1" null`}, // any constructor
		// A file with a field that the standard does not have makes its list CBOR, so that the files are missing.
		{nft, "d8799fa3446e616d65414145696d61676541624566696c65739fa1416101ff01ff", "", ""},
		{nft, "d8799fa2446e616d65414145696d6167659f01ff01ff", "", ""},
		{ft, "d8799fa3446e616d6541414b6465736372697074696f6e416248646563696d616c73413201ff", "", ""},
		{nft, "d8799fa2446e616d65414145696d616765416204ff", "", ""},         // version 4
		{nft, "d8799fa2446e616d65414145696d6167654162ff", "", ""},           // no version
		{[]byte("x"), "d8799fa2446e616d65414145696d616765416201ff", "", ""}, // no token of CIP-68
		{nft, "d8799fa1446e616d65454163", "", ""},
		{nft, "02", "", ""}, {nft, "80", "", ""}, {nft, "", "", ""},
	} {
		o, found := ByReference(c.name, decode(t, c.datum))
		got := asJSON(t, o.Metadata)
		if found != (c.want != "") || found && (got != c.want || asJSON(t, o.Standard)+" "+asJSON(t, o.Extra) != c.extras) {
			t.Errorf("%s: found %t %s %s %s, expected %s %s", c.datum, found, got, asJSON(t, o.Standard), asJSON(t, o.Extra), c.want, c.extras)
		}
	}
}

// The fixtures of Blockfrost have the answers that its own code gives. BIRTHMARK_BLOCKFROST_TESTS is the folder that
// tools/interop/blockfrost/fixtures.mjs writes.
func TestFixturesOfMetadata(t *testing.T) {
	folder := os.Getenv("BIRTHMARK_BLOCKFROST_TESTS")
	if folder == "" {
		t.Skip("BIRTHMARK_BLOCKFROST_TESTS is not set")
	}
	raw, err := os.ReadFile(filepath.Join(folder, "metadata.json"))
	if err != nil {
		t.Fatal(err)
	}
	var all struct {
		CIP25 []struct {
			Name string
			Data struct {
				PolicyID string  `json:"policy_id"`
				Name     *string `json:"asset_name"`
				Metadata any     `json:"onchain_metadata"`
				CBOR     string  `json:"onchain_metadata_cbor"`
			}
			Response struct {
				Metadata any     `json:"onchainMetadata"`
				Standard *string `json:"validCIPversion"`
			}
		}
		Datums []struct {
			Description, Payload string
			Options              struct{ Standard string }
			Result               *struct {
				Metadata object
				Version  json.Number
				Extra    *string
			}
		}
	}
	if err := json.Unmarshal(raw, &all); err != nil {
		t.Fatal(err)
	}
	for _, c := range all.CIP25 {
		id := c.Data.PolicyID
		if c.Data.Name != nil {
			id += *c.Data.Name
		}
		_, items := Labels(decode(t, c.Data.CBOR))
		o := ByLabel(decode(t, id), numbers(t, c.Data.Metadata), items[LabelMints])
		if asJSON(t, o.Metadata) != asJSON(t, c.Response.Metadata) || asJSON(t, o.Standard) != asJSON(t, c.Response.Standard) {
			t.Errorf("%s: %.200s %s, expected %.200s %s", c.Name, asJSON(t, o.Metadata), asJSON(t, o.Standard),
				asJSON(t, c.Response.Metadata), asJSON(t, c.Response.Standard))
		}
	}
	kinds := map[string]fields{"nft": cip68["000de140"], "ft": cip68["0014df10"], "rft": cip68["001bc280"]}
	for _, c := range all.Datums {
		parts, _ := constructorFields(decode(t, c.Payload))
		if c.Result == nil {
			if len(parts) > 1 {
				t.Errorf("%s: read", c.Description)
			}
			continue
		}
		m, ok := readable(parts[0], kinds[c.Options.Standard])
		if !ok || asJSON(t, m) != asJSON(t, c.Result.Metadata) || (len(parts) > 2) != (c.Result.Extra != nil) {
			t.Errorf("%s: %t %s, expected %s", c.Description, ok, asJSON(t, m), asJSON(t, c.Result.Metadata))
		}
	}
	if len(all.CIP25) == 0 || len(all.Datums) == 0 {
		t.Error("no fixtures")
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
		{"8209", "null"}, {"820481", "null"}, {"82", "null"}, {"820181820405", `{"scripts":[{"slot":5,"type":"after"}],"type":"all"}`},
	} {
		if got := asJSON(t, Timelock(decode(t, c.code))); got != c.want {
			t.Errorf("%s: %s, expected %s", c.code, got, c.want)
		}
	}
	for _, levels := range []int{cardano.MaxNesting/2 - 1, cardano.MaxNesting / 2, cardano.MaxNesting/2 + 1} {
		got := asJSON(t, Timelock(decode(t, strings.Repeat("820181", levels)+"820405")))
		if readable := strings.Contains(got, "after"); readable != (2*levels <= cardano.MaxNesting) {
			t.Errorf("%d scripts in each other: the inner one is readable: %t", levels, readable)
		}
		if scripts := strings.Count(got, `"scripts"`); scripts != min(levels, cardano.MaxNesting/2+1) {
			t.Errorf("%d scripts in each other: %d are readable", levels, scripts)
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
