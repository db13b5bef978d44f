package ouroborostest

import (
	"testing"

	"github.com/blinklabs-io/gouroboros/ledger"
	pcommon "github.com/blinklabs-io/gouroboros/protocol/common"
)

// Connections end at once, and the node is there again at the same addresses.
func TestANodeGoesAndComesBack(t *testing.T) {
	for side, toNode := range sides {
		t.Run(side, func(t *testing.T) {
			a := made(t, ledger.BlockTypeConway, 0, 3, "a")
			n := Start(t, magic, a)
			for _, goes := range []func(){n.Disconnect, n.Stop} {
				c := connected(t, n, toNode)
				c.sync(t, pcommon.NewPointOrigin())
				c.hears(t, "back to 0 of 2")
				c.hears(t, whatOf(toNode, a)...)
				goes()
				c.isCutOff(t)
			}
			if _, err := connect(t, n, toNode); err == nil {
				t.Error("a node that is stopped accepts connections")
			}
			if err := n.Restart(); err != nil {
				t.Fatal(err)
			}
			connected(t, n, toNode)
		})
	}
}
