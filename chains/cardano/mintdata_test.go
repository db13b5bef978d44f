package cardano

import (
	"fmt"
	"strings"
	"testing"

	"birthmark/model"
)

func TestDescriptionsOfMintsByCIP25(t *testing.T) {
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	policy := strings.Repeat("ab", 28)
	fields := map[string]any{"name": "Owl", "image": []any{"ipfs://", "Qm1"}, "mediaType": "image/png", "traits": []any{1, "x"}}
	const want = "{image/png ipfs://Qm1 CIP-25 [{image ipfs://Qm1} {mediaType image/png} {name Owl} {traits [1,\"x\"]}]}"
	for name, c25 := range map[string]any{
		"version 1":            map[string]any{policy: map[string]any{"owl": fields}, "version": 1},
		"version 2":            map[string]any{"0x" + policy: map[string]any{"0x6f776c": fields}},
		"text policy, no name": map[string]any{policy: map[string]any{"cat": fields}},
		"no map":               "text", "nothing": nil, "a list": []any{map[string]any{policy: fields}},
	} {
		id, err := c.ParseAsset(policy + "6f776c")
		if err != nil {
			t.Fatal(err)
		}
		got := fmt.Sprint(c.(model.MintDescriber).DescribeMint(id, &model.TxDetails{Metadata: map[string]any{"721": c25}}, nil))
		expected := "{   []}"
		if strings.HasPrefix(name, "version") {
			expected = want
		}
		if got != expected {
			t.Errorf("%s: %s, expected %s", name, got, expected)
		}
	}
	for want, fields := range map[string]map[string]any{
		"ipfs://logo": {"logo": "ipfs://logo", "ticker": "OWL"}, "ipfs://image": {"logo": "ipfs://logo", "image": "ipfs://image"},
	} {
		if got := metadataOf("CIP-68", fields); got.Image != want {
			t.Errorf("the picture is %q, expected %q", got.Image, want)
		}
	}
	if got := c.(model.MintDescriber).DescribeMint([]byte("short"), nil, nil); got.Standard != "" {
		t.Errorf("%+v", got)
	}
}

// realReferenceDatum describes an asset of preview according to CIP-68: transaction 7528f187… in block 39,053.
const realReferenceDatum = "d8799fa3446e616d654367676745696d6167655835697066733a2f2f516d5a7278753966586d4e74345364474a6250415936583759567a65376e7a72745363393846547859674d71677a" +
	"4566696c65739fa3496d65646961547970654a696d6167652f6a706567446e616d654966756c6c5f73697a65437372635835697066733a2f2f516d52313476386f68626a6e5554" +
	"3756757a5654677847585451327131334a64447937554e4a57313152434b4764ffff"

func TestDescriptionsInReferenceTokensByCIP68(t *testing.T) {
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	id := func(name string) []byte {
		id, err := c.ParseAsset(strings.Repeat("ab", 28) + name)
		if err != nil {
			t.Fatal(err)
		}
		return id
	}
	for name, want := range map[string]string{
		"000de140363737": "000643b0363737", "0014df10363737": "000643b0363737", "001bc280": "000643b0", "000640a0363737": "000640a0363737",
		"6f776c": "", "": "", "000de141": "", "00001070": "",
	} {
		expected := ""
		if want != "" {
			expected = string(id(want))
		}
		if got := c.(model.AssetReferrer).ReferenceAsset(id(name)); string(got) != expected {
			t.Errorf("%s is described by %x, expected %x", name, got, expected)
		}
	}
	const image, hash = "ipfs://QmZrxu9fXmNt4SdGJbPAY6X7YVze7nzrtSc98FTxYgMqgz", "4419200012485cd57ab5ef80568a58fd2d08ccc1c5befd1b499603e2a15662b4"
	const file = `{"mediaType":"image/jpeg","name":"full_size","src":"ipfs://QmR14v8ohbjnUT7VuzVTgxGXTQ2q13JdDy7UNJW11RCKGd"}`
	const want = "{ " + image + " CIP-68 [{files [" + file + "]} {image " + image + "} {name ggg}]}"
	for how, in := range map[string]struct {
		tx   model.TxDetails
		o    *model.OutputDetails
		want string
	}{
		"inline": {model.TxDetails{}, &model.OutputDetails{Datum: &model.EncodedValue{Raw: realReferenceDatum}}, want},
		"by hash": {model.TxDetails{Datums: []model.EncodedValue{{Hash: "00", Raw: "80"}, {Hash: hash, Raw: realReferenceDatum}}},
			&model.OutputDetails{DatumHash: hash}, want},
		"unknown":        {model.TxDetails{}, &model.OutputDetails{DatumHash: hash}, "{   []}"},
		"no output":      {model.TxDetails{}, nil, "{   []}"},
		"no constructor": {model.TxDetails{}, &model.OutputDetails{Datum: &model.EncodedValue{Raw: "80"}}, "{   []}"},
		"no fields":      {model.TxDetails{}, &model.OutputDetails{Datum: &model.EncodedValue{Raw: "d87980"}}, "{   []}"},
		"no map":         {model.TxDetails{}, &model.OutputDetails{Datum: &model.EncodedValue{Raw: "d8798101"}}, "{   []}"},
		"malformed":      {model.TxDetails{}, &model.OutputDetails{Datum: &model.EncodedValue{Raw: "d8"}}, "{   []}"},
	} {
		if got := fmt.Sprint(c.(model.MintDescriber).DescribeMint(id("000643b0363737"), &in.tx, in.o)); got != in.want {
			t.Errorf("%s: %s, expected %s", how, got, in.want)
		}
	}
}
