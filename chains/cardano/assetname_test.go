package cardano

import (
	"encoding/hex"
	"strings"
	"testing"

	"birthmark/chains/cardano/address"
	"birthmark/model"
)

func TestAssetName(t *testing.T) {
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	policy := strings.Repeat("ab", address.PolicySize)
	for id, want := range map[string]string{
		policy: "", policy + "4e4654": "NFT", policy + "000de14042756464": "Budd", policy + "00": "", policy + "ff": "",
		policy + "3c623e": "<b>",
	} {
		b, err := hex.DecodeString(id)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.(model.AssetNamer).AssetName(b); got != (model.AssetName{Name: want, Group: policy, GroupIndex: "policy"}) {
			t.Errorf("%s: %+v, expected the name %q", id, got, want)
		}
	}
	if got := c.(model.AssetNamer).AssetName([]byte{0xab}); got != (model.AssetName{}) {
		t.Errorf("an id shorter than a policy: %+v", got)
	}
}
