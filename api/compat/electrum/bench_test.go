package electrum_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testnode/bitcointest"
)

// sending is a connection of a client that sends a line again and again, and reads the answers.
type sending struct {
	net.Conn
	line  []byte
	left  int
	close func()
}

func (s *sending) Read(p []byte) (int, error) {
	if s.left == 0 {
		return 0, io.EOF
	}
	s.left--
	return copy(p, s.line), nil
}

func (s *sending) Write(p []byte) (int, error)      { return len(p), nil }
func (s *sending) SetReadDeadline(time.Time) error  { return nil }
func (s *sending) SetWriteDeadline(time.Time) error { return nil }
func (s *sending) RemoteAddr() net.Addr             { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

func (s *sending) Close() error {
	s.close()
	return nil
}

// once is a listener with one connection.
type once struct {
	net.Listener
	conn net.Conn
}

func (l *once) Accept() (net.Conn, error) {
	c := l.conn
	if l.conn = nil; c == nil {
		return nil, net.ErrClosed
	}
	return c, nil
}

// The answers that wallets wait for, without a network: scripts with 1 and with 1,000 transactions.
func BenchmarkAnswers(b *testing.B) {
	w := newWorld(b, rand.New(rand.NewPCG(1, 2)), limits())
	few, many := w.miner.scripts[1], w.miner.scripts[2]
	w.miner.chain.PayTo = w.miner.scripts[3]
	for i := range 1000 {
		coinbase := w.miner.chain.Mine().Transactions[0]
		w.miner.chain.Mine(bitcointest.Spend(coinbase, 0, wire.NewTxOut(1000, many)))
		if i == 0 {
			w.miner.chain.PayTo = few
			w.miner.chain.Mine()
			w.miner.chain.PayTo = w.miner.scripts[3]
		}
	}
	w.sync()
	for _, method := range []string{"get_balance", "get_history", "listunspent"} {
		for _, script := range []struct {
			name string
			hash string
		}{{"1", scriptHash(few)}, {"1000", scriptHash(many)}} {
			b.Run(method+script.name, func(b *testing.B) {
				var closed sync.WaitGroup
				closed.Add(1)
				line := fmt.Sprintf(`{"id":1,"method":"blockchain.scripthash.%s","params":[%q]}`+"\n", method, script.hash)
				c := &sending{line: []byte(line), left: b.N, close: sync.OnceFunc(closed.Done)}
				b.ResetTimer()
				if err := w.server.Serve(&once{conn: c}); err != nil {
					b.Fatal(err)
				}
				closed.Wait()
			})
		}
	}
}
