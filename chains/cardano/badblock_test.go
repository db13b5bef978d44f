package cardano

import (
	"strings"
	"testing"
)

// The error of an invalid reference script names its position.
func TestInvalidScriptsAreRejected(t *testing.T) {
	_, _, err := decodedAs(t, "mainnet", valueNames...).Block(oneOutput(t, dict{0: someAddress, 1: 1, 3: tagged(24, []byte{0x80})}))
	if err == nil || !strings.Contains(err.Error(), "reference script: offset 1: expected language") {
		t.Error(err)
	}
}
