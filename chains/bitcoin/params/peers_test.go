package params

import (
	"testing"

	"birthmark/chains/bitcoin/block"
)

// A header of block 0 without the hash of block 0 is a mistake in this program.
func TestTheHeaderOfBlock0IsChecked(t *testing.T) {
	t.Parallel()
	first := First{
		Root: "4a5e1e4baab89f3a32518a88c31bc87f618f76673e2cc77ab2127b7afdeda33b", Time: 1231006505, Bits: 0x1d00ffff,
		Nonce: 2083236893,
	}
	panics := func() (panicked bool) {
		defer func() { panicked = recover() != nil }()
		n := &Network{
			Coin: &Spec{Name: "coin", Format: &block.Bitcoin}, Name: "network", Limit: Target(first.Bits),
			Genesis: Hash("000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f"), Peers: &Peers{First: first},
		}
		n.supportPeers()
		return false
	}
	if panics() {
		t.Error("the header of Bitcoin's block 0 is refused")
	}
	if first.Nonce++; !panics() {
		t.Error("another nonce is accepted")
	}
}
