package cardano

import (
	"encoding/hex"
	"testing"
)

// Databases of earlier releases have the address of such an output with the bytes after it.
func TestAddressesOfEarlierReleases(t *testing.T) {
	c := defined(t, "mainnet")
	if c.Revision() != 1 {
		t.Errorf("revision %d", c.Revision())
	}
	base := "01" + "9493315cd92eb5d8c4304e67b7e16ae36d61d34502694657811a2c8e" + "337b62cfff6403a06a3acbc34f8c46003c69fe79a3628cefa9c47251"
	for text, want := range map[string]bool{base: false, base + "00": true, base[:2+28*2]: false, "82d818": false} {
		value, err := hex.DecodeString(text)
		if err != nil {
			t.Fatal(err)
		}
		if c.Outdated("address", value) != want || c.Outdated("payment_credential", value) {
			t.Errorf("%s: expected %v", text, want)
		}
	}
}
