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
	if got := c.(model.MintDescriber).DescribeMint([]byte("short"), nil, nil); got.Standard != "" {
		t.Errorf("%+v", got)
	}
}
