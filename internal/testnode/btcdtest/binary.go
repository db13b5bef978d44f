package btcdtest

import (
	"sync"
	"testing"

	"birthmark/internal/testnode/toolbuild"
)

const btcdModule = "github.com/btcsuite/btcd"

var built = sync.OnceValues(func() (string, error) { return toolbuild.Build("tools", btcdModule) })

// Binary returns the path of btcd, built without changes from the version in tools/go.mod. A cold build takes about a
// minute.
func Binary(t testing.TB) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatalf("btcd: %v", err)
	}
	return path
}
