package electrum_test

import (
	"log/slog"
	"net"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testseed"
)

// Clients that close their connection while a long answer is sent are no errors of the server, and no warnings.
func TestClientsThatLeaveAreNoErrorsInTheLog(t *testing.T) {
	log, o, opts := new(lockedBuffer), &observer{}, limits()
	opts.LongAnswers, opts.Observer = 1, o
	opts.Log = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	w := newWorld(t, testseed.Rand(t), opts)
	long := w.miner.scripts[0]
	w.miner.chain.PayTo = w.miner.scripts[1]
	made := []*wire.MsgTx{bitcointest.Spend(w.miner.chain.Mine().Transactions[0], 0, wire.NewTxOut(1000, long))}
	for len(made) < 2000 { // each spends the one before
		made = append(made, bitcointest.Spend(made[len(made)-1], 0, wire.NewTxOut(1000, long)))
	}
	w.miner.chain.Mine(made...)
	w.sync()
	const clients = 5
	release := w.server.HoldPlaces() // no long answer is sent before all clients have left
	for range clients {
		c := connect(t, w.addr)
		var result any
		c.call(&result, "server.ping")
		c.send(`{"id":1,"method":"blockchain.scripthash.get_history","params":[%q]}`, scriptHash(long))
		if err := c.Conn.(*net.TCPConn).SetLinger(0); err != nil {
			t.Fatal(err)
		}
		c.Close()
	}
	release()
	for end := time.Now().Add(patience); o.connected.Load() > 0; time.Sleep(time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d connections of clients that left", o.connected.Load())
		}
	}
	text := log.String()
	for line := range strings.Lines(text) {
		if strings.Contains(line, "level=ERROR") || strings.Contains(line, "level=WARN") {
			t.Errorf("the log has %s", line)
		}
	}
	if n := strings.Count(text, "electrum: disconnected"); n != clients {
		t.Errorf("%d disconnections, expected %d: %.2000s", n, clients, text)
	}
	if !strings.Contains(text, "the client left during a request") {
		t.Errorf("no request failed: %.2000s", text)
	}
}
