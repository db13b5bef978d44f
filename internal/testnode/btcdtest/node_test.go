package btcdtest_test

import (
	"bytes"
	"net"
	"testing"

	"birthmark/internal/testnode/btcdtest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

func TestRestartKeepsTheChain(t *testing.T) {
	testrun.Slow(t)
	n := btcdtest.Start(t)
	mined := n.Generate(t, 20)
	stale := mined[10]
	n.Invalidate(t, stale)
	if tip := n.Tip(t); tip != (model.Point{Height: 10, Hash: mined[9]}) {
		t.Fatalf("the tip is %v after block 11 was marked as invalid", tip)
	}
	n.Generate(t, 3)
	before := n.Blocks(t)

	for _, again := range []struct {
		name string
		end  func(testing.TB)
	}{{"killed", n.Kill}, {"stopped", n.Stop}, {"restarted", nil}} {
		if again.end != nil {
			again.end(t)
			for _, addr := range []string{n.RPC, n.P2P} {
				if conn, err := net.Dial("tcp", addr); err == nil {
					conn.Close()
					t.Errorf("%s: %s accepts connections", again.name, addr)
				}
			}
		}
		n.Restart(t)
		if after := n.Blocks(t); len(after) != 14 || !bytes.Equal(bytes.Join(after, nil), bytes.Join(before, nil)) {
			t.Fatalf("%s: %d blocks differ from the %d blocks before", again.name, len(after), len(before))
		}
	}
	if count, err := n.Client.GetBlockCount(); err != nil || count != 13 {
		t.Errorf("its client returns %d, %v", count, err)
	}
	n.Generate(t, 1)
}
