package cardano

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"birthmark/internal/testblocks"
	"birthmark/model"
)

// Real blocks pass the checkpoints, and other blocks at the same heights are rejected.
func TestRealBlocksPassTheCheckpoints(t *testing.T) {
	for network, path := range map[string][]string{
		"preprod": {"cardano", "pallas", "01285.chunk"},
		"preview": {"cardano", "dingo-immutable", "00259.chunk"},
	} {
		c, err := New(network)
		if err != nil {
			t.Fatal(err)
		}
		raw, err := os.ReadFile(testblocks.Path(t, path...))
		if err != nil {
			t.Fatal(err)
		}
		passed := 0
		for b, err := range c.Decode(t.Context(), bytes.NewReader(raw), nil, 0) {
			if err != nil {
				t.Fatal(err)
			}
			if err := c.(model.HeaderChecker).CheckHeader(b, nil); err != nil {
				t.Error(err)
			}
			known := networkNamed(t, network).Checkpoints[b.Height]
			if known == "" {
				continue
			}
			passed++
			other := *b
			other.Hash[5]++
			err := c.(model.HeaderChecker).CheckHeader(&other, nil)
			kind, code := model.KindOf(err)
			if kind != model.BadSource || code != "wrong_network" || !strings.Contains(err.Error(), known) ||
				!strings.Contains(err.Error(), other.Hash.String()) {
				t.Errorf("block %d with another hash: %v", b.Height, err)
			}
		}
		if passed != 1 {
			t.Errorf("%s: %d checkpoints were met, expected 1", network, passed)
		}
	}
}
