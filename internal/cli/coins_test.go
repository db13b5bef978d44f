package cli

import (
	"cmp"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/core/query"
	"birthmark/internal/testnode/cointest"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
)

// A chain of every coin is synced by JSON-RPC, and from a peer if the coin has rules for peers. Its node gets the chain
// in equal parts. A sync of each part is killed, and every second one is completed afterwards. Then the node switches to a
// fork, and a last sync is killed. After each kill the database is a consistent prefix of the chain. The result equals
// that of a sync from block files. BIRTHMARK_ROUNDS is the number of blocks. More than a thousand have ten parts,
// otherwise two.
func TestGeneratedChainsOfEveryCoinWithKillsAndForks(t *testing.T) {
	slow(t)
	t.Parallel()
	seed := testseed.New(t)
	blocks := testrun.Rounds(t, 150)
	parts := 2
	if blocks > 1000 {
		parts = 10
	}
	run := func(c *coingen.Coin, network *params.Network) {
		name := c.Spec.Name
		if network != nil {
			name += " from a peer"
		}
		t.Run(name, func(t *testing.T) {
			k := newCoinKills(t, c, network, seed, blocks)
			made, fork := k.made.Blocks(), k.fork.Blocks()
			for i := range parts {
				k.serve(made[:1+(len(made)-1)*(i+1)/parts])
				k.kill(t)
				if i%2 == 0 {
					k.sync(t, 0)
				}
			}
			k.sync(t, 0)
			consistent(t, k.db)
			k.serve(fork)
			k.kill(t)
			k.sync(t, 0)
			consistent(t, k.db)
			same(t, k.db, k.fromFiles(t))
			t.Logf("%d blocks, %d of %d syncs killed, with these blocks: %v", len(fork), len(k.tips), parts+1, k.tips)
			if least := parts - parts/5; len(k.tips) < least {
				t.Errorf("%d syncs were killed, expected at least %d", len(k.tips), least)
			}
		})
	}
	for _, c := range coingen.Coins {
		run(c, nil)
		for _, n := range c.Spec.Networks {
			if n.Name == c.Network && n.Peers != nil {
				run(c, n)
			}
		}
	}
}

// coinKills is a node of a coin, and a database that is synced from it.
type coinKills struct {
	rng        *rand.Rand
	coin       *coingen.Coin
	made, fork *coingen.Chain
	db         string
	args       []string // arguments of sync, without the source
	url        string
	tips       []int // heights of the database after each kill; -1: none

	mu       sync.Mutex
	blocks   [][]byte
	requests int           // in the current sync
	at       int           // the number of the request at which the process is killed; 0: none
	hold     time.Duration // how long that request waits before the kill
	most     time.Duration // maximum of hold
	least    int           // the minimum of requests of a completed sync; 0: none
	process  *os.Process
}

// newCoinKills makes a chain and a node with it: a peer of a network, or one with JSON-RPC if that is nil.
func newCoinKills(t *testing.T, c *coingen.Coin, network *params.Network, seed uint64, blocks int) *coinKills {
	depth := min(25, blocks/4)
	o := coingen.Options{Seed: seed, TxsPerBlock: 4}
	k := &coinKills{
		rng: rand.New(rand.NewPCG(seed, 3)), coin: c, made: coingen.New(c, o), fork: coingen.Replay(c, o, blocks-depth),
		db: filepath.Join(t.TempDir(), "db"), args: []string{"--chain", c.Spec.Name, "--network", c.Network},
		most: 50 * time.Millisecond,
	}
	if blocks > 1000 {
		k.most = 2 * time.Second
	}
	for range blocks {
		k.made.Next()
	}
	for range depth + 3 {
		k.fork.Next()
	}
	if network != nil {
		k.url = (&cointest.Peer{Network: network, Blocks: k.request}).Start(t)
	} else {
		k.url = cointest.Node(t, c.Spec.Format, false, k.request)
	}
	return k
}

// serve sets the blocks of the node.
func (k *coinKills) serve(blocks [][]byte) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.blocks = blocks
}

// request returns the blocks of the node. The request with the number at kills the process. It waits before, so that the
// process can write blocks that it has.
func (k *coinKills) request() [][]byte {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.requests++; k.requests == k.at {
		time.Sleep(k.hold)
		_ = k.process.Kill()
	}
	return k.blocks
}

// kill runs a sync that is killed at one of its requests, and checks the database.
func (k *coinKills) kill(t *testing.T) {
	t.Helper()
	k.hold = time.Duration(k.rng.Int64N(int64(k.most)))
	if !k.sync(t, 1+k.rng.IntN(cmp.Or(k.least, 3))) {
		return
	}
	k.tips = append(k.tips, -1)
	if !exists(filepath.Join(k.db, "CURRENT")) {
		return // killed before the database was created
	}
	var status query.StatusAnswer
	if ask(t, &status, "status", "--db", k.db); status.Tip == nil {
		return
	}
	consistent(t, k.db)
	height := int(status.Tip.Height)
	k.tips[len(k.tips)-1] = height
	for _, c := range []*coingen.Chain{k.made, k.fork} {
		if blocks := c.Blocks(); height < len(blocks) {
			if hash := k.coin.Spec.Format.HashOf(blocks[height]); status.Tip.Hash == block.FormatHash(hash) {
				return
			}
		}
	}
	t.Errorf("block %d is %s, which is on neither chain", height, status.Tip.Hash)
}

// sync runs a sync that is killed at the request with this number, unless it is 0. It reports whether it was killed.
func (k *coinKills) sync(t *testing.T, at int) (killed bool) {
	t.Helper()
	args := append([]string{"sync", "--json", "--memory", "64MiB", "--db", k.db, "--source", k.url}, k.args...)
	cmd, stdout, stderr := process(t, -1, args...)
	k.mu.Lock()
	err := cmd.Start() // its first request waits for the lock
	k.requests, k.at, k.process = 0, at, cmd.Process
	k.mu.Unlock()
	if err != nil {
		t.Fatal(err)
	}
	if err = cmd.Wait(); err != nil && err.Error() != "signal: killed" {
		t.Fatalf("sync: %v\n%s%s", err, stdout, stderr)
	}
	if err == nil {
		k.mu.Lock()
		k.least = min(k.requests, cmp.Or(k.least, k.requests))
		k.mu.Unlock()
	}
	return err != nil
}

// fromFiles returns the digest of a database of the fork that is synced from block files.
func (k *coinKills) fromFiles(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "blk00000.dat"), append(k.made.File(), k.fork.File()...), 0o600); err != nil {
		t.Fatal(err)
	}
	db := filepath.Join(dir, "db")
	ask(t, nil, append([]string{"sync", "--db", db, "--source", "file://" + dir}, k.args...)...)
	consistent(t, db)
	return digestOf(t, db)
}
