package suggest

import "testing"

func TestNearestWordIsWhatWasMeant(t *testing.T) {
	known := []string{"--db", "--limit", "asset", "asset-events", "balance", "block", "check", "find", "status", "sync", "tx"}
	for word, want := range map[string]string{
		"blcok": "block", "balanse": "balance", "staus": "status", "snyc": "sync", "finds": "find", "--limt": "--limit",
		"asset-event": "asset-events", "chekc": "check", "txs": "tx", "": "", "zebra": "", "xyzzy": "", "q": "",
	} {
		if got, _ := Word(word, known); got != want {
			t.Errorf("%q: meant %q, want %q", word, got, want)
		}
	}
}
