package explorer

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/api/served"
	"birthmark/chains"
)

func servedChains(t *testing.T, names ...string) (all []*served.Chain) {
	t.Helper()
	for _, name := range names {
		c, err := chains.New(name, "mainnet")
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, &served.Chain{Name: name, Model: c})
	}
	return all
}

func labelFile(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "labels.txt")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// An address of any served chain has its label, in the format that pages use.
func TestLabelsNameAddresses(t *testing.T) {
	got, err := ReadLabels(labelFile(t, "\ufeff\n  # Miners\n12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S\t Satoshi, the first \r\n"+
		"BC1QW508D6QEJXTDG4Y5R3ZARVARY0C5XW7KV8F3T4 Sample\n9gBChAr3CyZ1rpXAxB46Dmh6C5LVokg3ojj81CY5ezCBrhnt499 Erg & co"),
		servedChains(t, "bitcoin", "ergo"))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S":                  "Satoshi, the first",
		"bc1qw508d6qejxtdg4y5r3zarvary0c5xw7kv8f3t4":          "Sample",
		"9gBChAr3CyZ1rpXAxB46Dmh6C5LVokg3ojj81CY5ezCBrhnt499": "Erg & co",
	}
	if len(got) != len(want) {
		t.Errorf("%v, expected %v", got, want)
	}
	for address, name := range want {
		if got[address] != name {
			t.Errorf("%s is %q, expected %q", address, got[address], name)
		}
	}
}

func TestWrongLabelsAreRefused(t *testing.T) {
	const address = "12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3S"
	for text, want := range map[string]string{
		address: ":1: expected an address, a space and a name",
		"\n" + address + " " + strings.Repeat("x", 61): ":2: expected an address, a space and a name of 1 to 60 characters",
		address + " a\x00b":                            ":1: expected an address, a space and a name",
		"12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3T X":         ":1: \"12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3T\" is not an address of a served chain: ",
		address + " A\n" + address + " B":              ":2: " + address + " has two names, \"A\" and \"B\"",
	} {
		if got, err := ReadLabels(labelFile(t, text), servedChains(t, "bitcoin")); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v %v, expected %q", text, got, err, want)
		}
	}
	if _, err := ReadLabels("/no/such.txt", servedChains(t, "bitcoin")); err == nil || !strings.Contains(err.Error(), "no such file") {
		t.Errorf("a missing file: %v", err)
	}
}
