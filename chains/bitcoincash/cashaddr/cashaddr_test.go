package cashaddr_test

import (
	"encoding/hex"
	"fmt"
	"os"
	"strings"
	"testing"

	"birthmark/chains/bitcoincash/cashaddr"
)

// Each line of the file has an address, its kind and its hash: the 67 test vectors of the CashTokens specification,
// which have those of the CashAddr specification too (Bitcoin Cash Node, src/test/data/cashaddr_token_types.json, MIT
// licence).
func TestVectors(t *testing.T) {
	text, err := os.ReadFile("testdata/addresses.txt")
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		var address, hash string
		var kind cashaddr.Kind
		if _, err := fmt.Sscan(line, &address, &kind, &hash); err != nil {
			t.Fatal(err)
		}
		prefix, bare, _ := strings.Cut(address, ":")
		for _, text := range []string{address, bare, strings.ToUpper(address)} {
			k, got, err := cashaddr.Decode(prefix, text)
			if err != nil || k != kind || hex.EncodeToString(got) != hash {
				t.Errorf("%s is read as %d %x, %v, expected %s", text, k, got, err, line)
			}
			if got := cashaddr.Encode(prefix, k, got); got != address {
				t.Errorf("%s is written as %s", address, got)
			}
		}
	}
	if n != 67 {
		t.Errorf("%d vectors, expected 67", n)
	}
}

func TestInvalidAddresses(t *testing.T) {
	for text, want := range map[string]string{
		"bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekg3": "invalid checksum",
		"bchtest:qr7fzmep8g7h7ymfxy74lgc0v950j3r295pdnvy3hr":     "its prefix",
		"bitcoincash:qr6m7j9njldwwzlg9v7v53unlr4jkmx6eylep8ekb2": "not a character",
		"bitcoincash:": "invalid checksum",
	} {
		if _, hash, err := cashaddr.Decode("bitcoincash", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is read as %x, %v, expected %s", text, hash, err, want)
		}
	}
	if _, hash, err := cashaddr.Decode("bitcoincash", "3EBEFWPtDYWCNszQ7etoqtWmmygccayLiH"); hash != nil || err != nil {
		t.Errorf("a legacy address is read as %x, %v", hash, err)
	}
	if got := cashaddr.Encode("bitcoincash", 0, make([]byte, 21)); got != "" {
		t.Errorf("a hash of 21 bytes is written as %s", got)
	}
}
