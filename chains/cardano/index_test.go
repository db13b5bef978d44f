package cardano

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	"github.com/fxamacker/cbor/v2"
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// oneOutput returns a block of one transaction with one output.
func oneOutput(t testing.TB, output any) []byte {
	t.Helper()
	return handmade(t, ledger.EraConway, list{txBody(dict{1: list{output}})}, list{dict{}}, dict{}, list{})
}

// shownKeys returns the keys of an output in order, as name and hex digits.
func shownKeys(o *model.Output, names []string) string {
	var s []string
	for _, k := range o.Keys {
		s = append(s, fmt.Sprintf("%s %x", names[k.Index], k.Value))
	}
	return strings.Join(s, ", ")
}

func TestIndexValuesOfOutputs(t *testing.T) {
	a, b := strings.Repeat("0a", 28), strings.Repeat("0b", 28)
	part := func(head byte, size int) []byte {
		whole := append(append([]byte{head}, filled(28, 0x0a)...), filled(28, 0x0b)...)
		return whole[:size]
	}
	native := raw(t, list{0, filled(28, 0x0e)})
	nativeHash := address.Hash224(append([]byte{0}, native...))
	plutusHash := address.Hash224([]byte("\x03code"))
	inline := blake2b.Sum256([]byte{0x80})
	held := dict{cbor.ByteString(policyB): dict{cbor.ByteString("x"): 1, cbor.ByteString("y"): 2}, cbor.ByteString(policyA): dict{cbor.ByteString(""): 3}, cbor.ByteString(filled(28, 0xee)): dict{cbor.ByteString("none"): 0}}
	for name, c := range map[string]struct {
		output any
		want   string // the keys after the address
	}{
		"keys":              {list{part(0x01, 57), 1}, "payment_credential 00" + a + ", stake_credential 00" + b},
		"script and key":    {list{part(0x11, 57), 1}, "payment_credential 01" + a + ", stake_credential 00" + b},
		"key and script":    {list{part(0x20, 57), 1}, "payment_credential 00" + a + ", stake_credential 01" + b},
		"scripts":           {list{part(0x31, 57), 1}, "payment_credential 01" + a + ", stake_credential 01" + b},
		"pointer":           {list{append(part(0x41, 29), 1, 2, 3), 1}, "payment_credential 00" + a},
		"script's pointer":  {list{append(part(0x51, 29), 1, 2, 3), 1}, "payment_credential 01" + a},
		"enterprise":        {list{part(0x61, 29), 1}, "payment_credential 00" + a},
		"enterprise script": {list{part(0x71, 29), 1}, "payment_credential 01" + a},
		"byron":             {list{filled(40, 0x82), 1}, ""},
		"reward":            {list{part(0xe1, 29), 1}, "stake_credential 00" + a},
		"reward of script":  {list{part(0xf1, 29), 1}, "stake_credential 01" + a},
		"too short":         {list{part(0x01, 20), 1}, ""},
		"datum hash":        {list{part(0x61, 29), 1, filled(32, 0x1d)}, "payment_credential 00" + a + ", datum_hash " + strings.Repeat("1d", 32)},
		"datum hash in map": {dict{0: part(0x61, 29), 1: 1, 2: list{0, filled(32, 0x1d)}}, "payment_credential 00" + a + ", datum_hash " + strings.Repeat("1d", 32)},
		"inline datum":      {dict{0: part(0x61, 29), 1: 1, 2: list{1, tagged(24, []byte{0x80})}}, "payment_credential 00" + a + ", datum_hash " + hex.EncodeToString(inline[:])},
		"native script":     {dict{0: part(0x61, 29), 1: 1, 3: tagged(24, []byte(raw(t, list{0, native})))}, "payment_credential 00" + a + ", script_hash " + hex.EncodeToString(nativeHash)},
		"plutus script":     {dict{0: part(0x61, 29), 1: 1, 3: tagged(24, []byte(raw(t, list{3, []byte("code")})))}, "payment_credential 00" + a + ", script_hash " + hex.EncodeToString(plutusHash)},
		"policies":          {list{part(0x61, 29), list{1, held}}, "payment_credential 00" + a + ", policy " + hex.EncodeToString(policyA) + ", policy " + hex.EncodeToString(policyB)},
	} {
		block := decoded(t, oneOutput(t, c.output), valueNames...)
		got := shownKeys(&block.Txs[0].Outputs[0], valueNames)
		first, rest, _ := strings.Cut(got, ", ")
		if !strings.HasPrefix(first, "address ") || rest != c.want {
			t.Errorf("%s: %s, expected an address and %s", name, got, c.want)
		}
	}
}
