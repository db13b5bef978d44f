package cashtoken_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoincash"
	"birthmark/chains/bitcoincash/cashtoken"
)

// Each line of the file has a prefix, and the ids and amounts of its tokens, none if it is invalid. They are the 117
// vectors of the CashTokens specification (Bitcoin Cash Node, src/test/data/token_tests_prefix_*.json, MIT licence).
// Some commitments are longer than the consensus rules permit.
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/prefixes.txt")
	if err != nil {
		t.Fatal(err)
	}
	tokens, invalid, long := 0, 0, 0
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		prefix, err := hex.DecodeString(fields[0])
		if err != nil {
			t.Fatal(err)
		}
		lock, want := "Q", strings.Join(fields[1:], " ")
		switch {
		case len(prefix) > 1+32+1+1+128+9:
			want, long = "", long+1
		case want == "":
			lock, invalid = "", invalid+1 // some lack bytes
		}
		value, rest, assets := cashtoken.Split(1000, append(prefix, lock...))
		var got []string
		for _, a := range assets {
			text := cashtoken.Format(a.ID)
			if id, ok := cashtoken.Parse(text); !ok || string(id) != string(a.ID) {
				t.Errorf("asset %s is read as %x", text, id)
			}
			got = append(got, fmt.Sprintf("%s %d", text, a.Amount))
			tokens++
		}
		if strings.Join(got, " ") != want || value != 1000 || want != "" && string(rest) != lock || want == "" && len(rest) != len(prefix)+len(lock) {
			t.Errorf("prefix %x: %q and script %x, expected %q", prefix, got, rest, want)
		}
	}
	if tokens < 60 || invalid != 55 || long == 0 {
		t.Errorf("%d tokens, %d invalid prefixes, %d long ones", tokens, invalid, long)
	}
}

func TestInvalidIDs(t *testing.T) {
	category := strings.Repeat("bb", 32)
	for _, text := range []string{"", category[2:], category + "03", category + "0", category + "00" + strings.Repeat("cc", 129)} {
		if id, ok := cashtoken.Parse(text); ok {
			t.Errorf("%s is read as %x", text, id)
		}
	}
}

// The first transaction of the package's real ones is of block 898,374, from the tests of Knuth (MIT licence). Six of its outputs have
// tokens, fungible ones and NFTs: without them, every script is a standard one.
func TestRealTransaction(t *testing.T) {
	text, err := os.ReadFile("../testdata/txs.txt")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(strings.Fields(string(text))[1])
	if err != nil {
		t.Fatal(err)
	}
	format := bitcoincash.Spec.Format
	parts, err := format.Parts(raw)
	if err != nil || len(parts.Outputs) != 7 {
		t.Fatalf("%+v, %v", parts, err)
	}
	for i, script := range parts.Outputs {
		if kind, _ := format.Classify(script); kind != block.PubKeyHash && kind != block.ScriptHash {
			t.Errorf("output %d has the script %x", i, script)
		}
	}
}
