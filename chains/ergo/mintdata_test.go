package ergo

import (
	"encoding/hex"
	"fmt"
	"testing"

	"birthmark/model"
)

func TestDescriptionsOfMintsByEIP4(t *testing.T) {
	c, err := New("")
	if err != nil {
		t.Fatal(err)
	}
	box := func(r7, r8, r9 string) *model.OutputDetails {
		return &model.OutputDetails{Registers: map[string]model.EncodedValue{"R7": {Raw: r7}, "R8": {Raw: r8}, "R9": {Raw: r9}}}
	}
	link := fmt.Sprintf("0e%02x", len("ipfs://Qm1")) + hex.EncodeToString([]byte("ipfs://Qm1"))
	for _, o := range []struct {
		details *model.OutputDetails
		want    string
	}{
		{box("0e020101", "0e02abcd", link), "{picture ipfs://Qm1 EIP-4 [{content hash abcd} {content ipfs://Qm1}]}"},
		{box("0e020102", "", link), "{audio  EIP-4 [{content ipfs://Qm1}]}"},
		{box("0e020103", "", "05"), "{video  EIP-4 []}"},
		{box("0e020909", "", link), "{   []}"},
		{box("04", "xy", ""), "{   []}"},
		{&model.OutputDetails{}, "{   []}"},
		{nil, "{   []}"},
	} {
		if got := fmt.Sprint(c.(model.MintDescriber).DescribeMint(nil, nil, o.details)); got != o.want {
			t.Errorf("%+v: %s, expected %s", o.details, got, o.want)
		}
	}
}
