package electrum

import (
	"testing"

	"birthmark/api/compat/wallet"
)

// A panic while a status is computed does not keep other connections waiting for it.
func TestAPanicInAStatusKeepsNobodyWaiting(t *testing.T) {
	key := wallet.Key{1}
	h := &hub{watched: map[wallet.Key]*watched{key: {}}}
	func() {
		defer func() {
			if recover() == nil {
				t.Error("a status without a view did not panic")
			}
		}()
		_, _ = h.statusOf(t.Context(), nil, key, 0)
	}()
	if h.watched[key].busy != nil {
		t.Error("the status is still being computed")
	}
}
