package ouroboros

import (
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/cbor"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ouroborostest"
	"birthmark/internal/testrun"
)

// preview returns the first real blocks of the preview network.
func preview(t testing.TB) []ouroborostest.Block {
	t.Helper()
	blocks, err := ouroborostest.Chunks(testblocks.Path(t, "cardano/dingo-immutable"))
	if err != nil {
		t.Fatal(err)
	}
	return blocks
}

// describe parses headers since Shelley: [[number, slot, …], signature].
func describe(_ byte, raw []byte) (Header, error) {
	r := cbor.Walker{Data: raw}
	r.Array("header")
	r.Array("header body")
	r.Uint("number")
	h := Header{Point: Point{Slot: r.Uint("slot"), Hash: blake2b.Sum256(raw)}}
	return h, r.Err
}

func dial(t testing.TB, uri string, o Options) (*Conn, error) {
	t.Helper()
	if o.Magic == 0 {
		o.Magic = 2
	}
	if o.Timeout == 0 {
		o.Timeout = 10 * time.Minute
	}
	o.Describe = describe
	network, address, _ := strings.Cut(uri, "://")
	return Dial(t.Context(), network, address, o)
}

func TestFollowYieldsBlocksUnchanged(t *testing.T) {
	testrun.Slow(t)
	blocks := preview(t)
	n := ouroborostest.Start(t, 2, blocks)
	for _, uri := range []string{n.TCP(), n.Unix()} {
		c, err := dial(t, uri, Options{})
		if err != nil {
			t.Fatal(err)
		}
		_, tip, err := c.Intersect(t.Context(), nil)
		if err != nil || tip.Number != uint64(len(blocks)-1) {
			t.Fatal(tip, err)
		}
		got := 0
	all:
		for events, err := range c.Follow(t.Context()) {
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range events {
				if e.Kind != Forward {
					break all
				}
				if want := blocks[got]; string(e.Block[2:]) != string(want.CBOR) {
					t.Fatal("a block was changed")
				}
				got++
			}
		}
		c.Close()
	}
}
