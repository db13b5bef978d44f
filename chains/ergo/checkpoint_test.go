package ergo

import (
	"strings"
	"testing"

	"birthmark/model"
)

// Real blocks pass the checkpoints, and other blocks at the same heights are rejected.
func TestRealBlocksPassTheCheckpoints(t *testing.T) {
	main := chainOf(t, "mainnet")
	passed := 0
	for _, f := range realFiles {
		for _, b := range realBlocks(t, nil, f.path...) {
			if err := main.CheckHeader(b, nil); err != nil {
				t.Error(err)
			}
			known := networks[0].known[b.Height]
			if known == "" {
				continue
			}
			passed++
			other := *b
			other.Hash[5]++
			err := main.CheckHeader(&other, nil)
			kind, code := model.KindOf(err)
			if kind != model.BadSource || code != "wrong_network" || !strings.Contains(err.Error(), known) ||
				!strings.Contains(err.Error(), other.Hash.String()) {
				t.Errorf("block %d with another hash: %v", b.Height, err)
			}
		}
	}
	if passed != len(networks[0].known) {
		t.Errorf("%d of %d checkpoints were met", passed, len(networks[0].known))
	}
}

func chainOf(t *testing.T, network string) *chain {
	t.Helper()
	c, err := New(network)
	if err != nil {
		t.Fatal(err)
	}
	return c.(*chain)
}
