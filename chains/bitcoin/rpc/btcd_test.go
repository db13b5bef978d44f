package rpc

import (
	"bytes"
	"context"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/blocksource"
	"birthmark/chains/nodehttp"
	"birthmark/internal/testnode/btcdtest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// btcd is a node with properties that [btcdtest.Node] lacks: TLS with its own certificate, and simnet, where its
// database survives a restart.
type btcd struct {
	t   *testing.T
	dir string
	rpc string // host and port
	p2p string
	cmd *exec.Cmd
	log bytes.Buffer
}

func startBtcd(t *testing.T) *btcd {
	b := &btcd{t: t, dir: t.TempDir()}
	b.rpc, b.p2p = freeAddress(t), freeAddress(t)
	b.start()
	t.Cleanup(b.stop)
	return b
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

func (b *btcd) start() {
	b.t.Helper()
	b.log.Reset()
	miner, err := address.NewAddressWitnessPubKeyHash(make([]byte, 20), &chaincfg.SimNetParams)
	if err != nil {
		b.t.Fatal(err)
	}
	b.cmd = exec.Command(btcdtest.Binary(b.t), "--configfile="+os.DevNull, "--simnet", "--nodnsseed", "--datadir="+b.dir, "--logdir="+b.dir,
		"--listen="+b.p2p, "--rpclisten="+b.rpc, "--rpcuser=user", "--rpcpass="+password, "--rpccert="+b.cert(), "--rpckey="+filepath.Join(b.dir, "rpc.key"),
		"--miningaddr="+miner.EncodeAddress())
	b.cmd.Stdout, b.cmd.Stderr = &b.log, &b.log
	if err := b.cmd.Start(); err != nil {
		b.t.Fatal(err)
	}
}

// stop kills the node if it is running.
func (b *btcd) stop() {
	_ = b.cmd.Process.Kill()
	_ = b.cmd.Wait()
}

// end shuts the node down cleanly.
func (b *btcd) end() {
	b.t.Helper()
	if err := b.cmd.Process.Signal(os.Interrupt); err != nil {
		b.t.Fatal(err)
	}
	if err := b.cmd.Wait(); err != nil {
		b.t.Fatal(err)
	}
}

func (b *btcd) cert() string { return filepath.Join(b.dir, "rpc.cert") }

// call makes a call that changes the node. It fails the test on an error.
func (b *btcd) call(c *Client, method string, params ...any) (result json.RawMessage) {
	b.t.Helper()
	body, err := json.Marshal(map[string]any{"jsonrpc": "1.0", "id": 1, "method": method, "params": append([]any{}, params...)})
	if err != nil {
		b.t.Fatal(err)
	}
	var text []byte
	q := nodehttp.Request{Body: body, Header: credentials{"user", password}.header(), Waits: true}
	if err := c.http.Do(b.t.Context(), q, func(r *http.Response) (err error) {
		text, err = io.ReadAll(r.Body)
		return err
	}); err != nil {
		b.t.Fatal(err)
	}
	var reply struct {
		Result json.RawMessage
		Error  *rpcError
	}
	if err := json.Unmarshal(text, &reply); err != nil || reply.Error != nil {
		b.t.Fatalf("%s: %s, %v", method, text, err)
	}
	return reply.Result
}

// client returns a client of the node, after waiting until the node responds.
func (b *btcd) client(auth string) *Client {
	b.t.Helper()
	genesis, begun := model.Hash(*chaincfg.SimNetParams.GenesisHash), time.Now()
	for {
		c, err := New(Options{URL: "https://" + auth + b.rpc + "?cert=" + b.cert(), Network: network("simnet", genesis)})
		if err == nil {
			b.t.Cleanup(func() { c.Close() })
			b.up(c)
			return c
		}
		written, _ := os.ReadFile(b.cert())
		if whole, _ := pem.Decode(written); whole != nil || time.Since(begun) > testrun.Patience {
			b.t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond) // the node creates its certificate at the first start
	}
}

// up waits until the node responds.
func (b *btcd) up(c *Client) {
	b.t.Helper()
	ctx, cancel := context.WithTimeout(b.t.Context(), testrun.Patience)
	defer cancel()
	for blocksource.IsTemporary(c.Connect(ctx)) {
		time.Sleep(20 * time.Millisecond)
	}
	if ctx.Err() != nil {
		b.t.Fatal("btcd does not start")
	}
}

// chain returns the node's chain as c reads it. Each block must be the child of the previous one.
func chainOf(ctx context.Context, c *Client) ([][]byte, error) {
	tip, err := c.Tip(ctx)
	if err != nil {
		return nil, err
	}
	hashes, err := c.Hashes(ctx, 0, int(tip.Height)+100)
	if err != nil {
		return nil, err
	}
	if len(hashes) != int(tip.Height)+1 || hashes[tip.Height] != tip.Hash {
		return nil, fmt.Errorf("%d hashes, the tip is %d", len(hashes), tip.Height)
	}
	var blocks [][]byte
	for len(blocks) < len(hashes) {
		var points []model.Point
		for h := len(blocks); h < min(len(hashes), len(blocks)+200); h++ {
			points = append(points, model.Point{Height: model.HeightPk(h), Hash: hashes[h]})
		}
		part, err := c.Raw(ctx, points, 20_000)
		if err != nil {
			return nil, err
		}
		blocks = append(blocks, part...)
	}
	for h := 1; h < len(blocks); h++ {
		if model.Hash(blocks[h][4:36]) != hashes[h-1] {
			return nil, fmt.Errorf("block %d is not the child of the previous block", h)
		}
	}
	return blocks, nil
}

// A real node over TLS with its own certificate: all methods, a reorganization, and a restart. It costs one build of
// btcd and some seconds.
func TestARealNode(t *testing.T) {
	if testing.Short() {
		t.Skip("builds and starts btcd")
	}
	b := startBtcd(t)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("log of btcd:\n%s", b.log.String())
		}
	})
	ctx := t.Context()
	c := b.client("user:" + password + "@")
	b.call(c, "generate", 700)
	chain, err := chainOf(ctx, c)
	if err != nil || len(chain) != 701 {
		t.Fatalf("%d blocks, %v", len(chain), err)
	}
	if hashes, err := c.Hashes(ctx, 701, 5); err != nil || len(hashes) != 0 {
		t.Errorf("a height above the tip: %v, %v", hashes, err)
	}
	if _, err := c.Raw(ctx, []model.Point{{Height: 5, Hash: model.Hash{1}}}, 1); !errors.Is(err, blocksource.ErrMoved) {
		t.Errorf("an unknown block: %v", err)
	}
	_, err = c.Unspent(ctx)
	if kind, code := model.KindOf(err); kind != model.NotFound || code != "not_offered" {
		t.Errorf("the count of unspent outputs: %v", err)
	}
	expect(t, b.client("user:wrong@").Connect(ctx), "unauthorized", false, `wrong password for user "user" of `+b.rpc)
	expect(t, b.client("").Connect(ctx), "unauthorized", false, "requires a user and a password")
	other := b.client("user:" + password + "@")
	other.options.Network = network("mainnet", model.Hash(*chaincfg.MainNetParams.GenesisHash))
	expect(t, other.Connect(ctx), "wrong_network", false, "is a node of bitcoin simnet, its block 0 is "+block.FormatHash(c.options.Network.Genesis))

	// A reorganization ends Changed.
	tip := model.Point{Height: 700, Hash: block.Header(chain[700]).Hash()}
	changed := make(chan error)
	go func() { changed <- c.Changed(ctx, tip) }()
	first := model.Point{Height: 696, Hash: block.Header(chain[696]).Hash()}
	if gone, err := c.Invalidated(ctx, first); gone || err != nil {
		t.Errorf("block %d is on the best chain: invalidated %t, %v", first.Height, gone, err)
	}
	b.call(c, "invalidateblock", block.FormatHash(first.Hash))
	if gone, err := c.Invalidated(ctx, first); !gone || err != nil {
		t.Errorf("block %d was invalidated: %t, %v", first.Height, gone, err)
	}
	b.call(c, "generate", 9)
	if err := <-changed; err != nil {
		t.Error(err)
	}
	fork, err := chainOf(ctx, c)
	if err != nil || len(fork) != 705 || bytes.Equal(fork[696], chain[696]) {
		t.Fatalf("%d blocks after the fork, %v", len(fork), err)
	}
	if err := sameBlocks(fork[:696], chain[:696]); err != nil {
		t.Error(err)
	}

	b.end()
	_, err = c.Tip(ctx)
	expect(t, err, "unreachable", true, b.rpc+" is unreachable: ")
	b.start()
	b.up(c)
	again, err := chainOf(ctx, c)
	if err == nil {
		err = sameBlocks(again, fork)
	}
	if err != nil {
		t.Error(err)
	}
}
