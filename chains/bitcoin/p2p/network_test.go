package p2p

import (
	"testing"

	"birthmark/internal/testnode/bitcointest"
)

func TestAPeersChainIsDownloaded(t *testing.T) {
	c := spending(120)
	f := newFake(t, c.Blocks())
	n, _ := open(t, nil, nil, f)
	download(t, n, c.Blocks())
}

func TestALongChainComesInSeveralMessages(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(4500)
	f := newFake(t, c.Blocks())
	n, _ := open(t, nil, nil, f, newFake(t, c.Blocks()), newFake(t, c.Blocks()[:100]))
	download(t, n, c.Blocks())
}
