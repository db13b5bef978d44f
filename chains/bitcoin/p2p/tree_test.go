package p2p

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/rules"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testseed"
)

// mainnetHeaders are the headers of mainnet's blocks 1 to 14131, from the test data of btcd's module.
func mainnetHeaders(t testing.TB) []*wire.BlockHeader {
	t.Helper()
	list := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/btcsuite/btcd")
	out, err := list.Output()
	if err != nil {
		t.Skipf("btcd's module is not to be found: %v", err)
	}
	file, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(out)), "blockchain", "testdata", "blk_0_to_14131.dat"))
	if err != nil {
		t.Skip("btcd's test data are not there")
	}
	var all []*wire.BlockHeader
	for len(file) > 8 && binary.LittleEndian.Uint32(file) == uint32(wire.MainNet) {
		size := binary.LittleEndian.Uint32(file[4:])
		h := &wire.BlockHeader{}
		if err := h.Deserialize(bytes.NewReader(file[8 : 8+size])); err != nil {
			t.Fatal(err)
		}
		all, file = append(all, h), file[8+size:]
	}
	if len(all) < 14_000 {
		t.Fatalf("%d blocks in btcd's test data", len(all))
	}
	return all[1:]
}

// feed adds headers to a tree in messages, like a peer.
func feed(t *tree, headers []*wire.BlockHeader) (*node, error) {
	var last *node
	for _, m := range messages(headers) {
		n, _, err := t.extend(m)
		if err != nil {
			return last, err
		}
		if n != nil {
			last = n
		}
	}
	return last, nil
}

func messages(headers []*wire.BlockHeader) [][]*wire.BlockHeader {
	return slices.Collect(slices.Chunk(headers, wire.MaxBlockHeadersPerMsg))
}

func TestFirstHeadersOfMainnetAreValid(t *testing.T) {
	headers := mainnetHeaders(t)
	tr := newTree(rules.New(&chaincfg.MainNetParams, nil), nil, 0)
	last, err := feed(tr, headers)
	if err != nil {
		t.Fatal(err)
	}
	tr.setChain(last)
	if int(last.height) != len(headers) || tr.atHeight(int64(len(headers))) != last || last.hash != headers[len(headers)-1].BlockHash() {
		t.Errorf("the tip is %d %s, expected %d", last.height, last.hash, len(headers))
	}
	if tr.lastCheckpoint == nil || tr.lastCheckpoint.height != 11111 {
		t.Errorf("the checkpoint of height 11111 was not noticed: %v", tr.lastCheckpoint)
	}
	if each := block.WorkOf(0x1d00ffff); last.work != (block.Work{Lo: uint64(len(headers)) * each.Lo}) {
		t.Errorf("its work is %v, expected %d times %v", last.work, len(headers), each)
	}
}

// An invalid header of mainnet is rejected at any position, as misbehaviour of the peer.
func TestBadHeadersOfMainnetAreRefused(t *testing.T) {
	headers := mainnetHeaders(t)[:4100]
	for name, c := range map[string]struct {
		at     int // position of the changed header
		change func(h *wire.BlockHeader)
		says   string
	}{
		"no work":                {1000, func(h *wire.BlockHeader) { h.Nonce++ }, "block hash"},
		"easier than allowed":    {1000, func(h *wire.BlockHeader) { h.Bits = 0x207fffff }, "higher than max"},
		"harder than required":   {2016, func(h *wire.BlockHeader) { h.Bits = 0x1d00fffe }, "block hash"},
		"a negative target":      {7, func(h *wire.BlockHeader) { h.Bits = 0x1d80ffff }, "too low"},
		"no target":              {7, func(h *wire.BlockHeader) { h.Bits = 0 }, "too low"},
		"another parent":         {1500, func(h *wire.BlockHeader) { h.PrevBlock[0]++ }, "does not extend"},
		"the first block itself": {0, func(h *wire.BlockHeader) { *h = chaincfg.MainNetParams.GenesisBlock.Header }, ""},
		"the one before, again":  {1500, func(h *wire.BlockHeader) { *h = *headers[1499] }, "does not extend"},
	} {
		changed := slices.Clone(headers[:c.at+1])
		h := *changed[c.at]
		c.change(&h)
		changed[c.at] = &h
		last, err := feed(newTree(rules.New(&chaincfg.MainNetParams, nil), nil, 0), changed)
		_, bad := errors.AsType[badHeader](err)
		if c.says == "" {
			if !errors.Is(err, errOrphan) {
				t.Errorf("%s: %v, expected a header without a parent", name, err)
			}
			continue
		}
		if !bad || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v, expected a bad header: %s", name, err, c.says)
		}
		if last != nil && int(last.height) > c.at {
			t.Errorf("%s: the tip is %d", name, last.height)
		}
	}
}

func TestAChainThatMissesACheckpointIsRefused(t *testing.T) {
	headers := mainnetHeaders(t)
	wrong := chainhash.Hash{1}
	p := chaincfg.MainNetParams
	p.Checkpoints = []chaincfg.Checkpoint{{Height: 5000, Hash: &wrong}}
	last, err := feed(newTree(rules.New(&p, nil), nil, 0), headers)
	if _, bad := errors.AsType[badHeader](err); !bad || !strings.Contains(err.Error(), "checkpoint") || last.height != 4000 {
		t.Errorf("%v", err)
	}
}

func headersOf(blocks []*wire.MsgBlock) []*wire.BlockHeader {
	all := make([]*wire.BlockHeader, len(blocks))
	for i, b := range blocks {
		all[i] = &b.Header
	}
	return all
}

// Branches arrive in random order and in pieces of random size. The tree equals a map of parents.
func TestTreeEqualsAMapOfParents(t *testing.T) {
	r := testseed.Rand(t)
	for range 20 {
		trunk := bitcointest.NewChain()
		chains := []*bitcointest.Chain{trunk}
		for range 12 {
			from := chains[r.IntN(len(chains))]
			c := from.Fork(r.IntN(from.Height() + 1))
			c.MineEmpty(1 + r.IntN(40))
			chains = append(chains, c)
		}
		tr := newTree(rules.New(regtest, nil), nil, 0)
		genesis := tr.base.hash
		parents := map[chainhash.Hash]chainhash.Hash{}
		var came []chainhash.Hash
		for range 60 {
			c := chains[1+r.IntN(len(chains)-1)]
			blocks := c.Blocks()[1:]
			from := r.IntN(len(blocks))
			piece := headersOf(blocks[from : from+1+r.IntN(len(blocks)-from)])
			_, known := parents[piece[0].PrevBlock]
			last, err := feed(tr, piece)
			if known = known || piece[0].PrevBlock == genesis; !known {
				if !errors.Is(err, errOrphan) {
					t.Fatalf("headers without a parent: %v", err)
				}
				continue
			}
			if err != nil || last.hash != piece[len(piece)-1].BlockHash() {
				t.Fatalf("%v, %v", last, err)
			}
			for _, h := range piece {
				if _, ok := parents[h.BlockHash()]; !ok {
					parents[h.BlockHash()] = h.PrevBlock
					came = append(came, h.BlockHash())
				}
			}
			tip := tr.find(&came[r.IntN(len(came))])
			old := append([]*node(nil), tr.chain...)
			tr.setChain(tip)
			path := pathOf(parents, tip.hash)
			if len(tr.chain) != len(path)+1 || int(tip.height) != len(path) || tip.work != (block.Work{Lo: 2 * uint64(len(path))}) {
				t.Fatalf("a tip of height %d, %d on the chain, work %v: expected %d", tip.height, len(tr.chain), tip.work, len(path))
			}
			for i, hash := range path {
				if n := tr.atHeight(int64(i) + 1); n.hash != hash || n.height != int32(i)+1 || tr.fork(n) != n {
					t.Fatalf("height %d is %v, expected %s", i+1, n, hash)
				}
			}
			for i, hash := range tr.locator(tip) {
				if i == 0 && *hash != tip.hash || *hash != genesis && !slices.Contains(path, *hash) {
					t.Fatalf("entry %d of the locator is %s", i, hash)
				}
			}
			before := old[len(old)-1]
			if at := tr.fork(before); at != old[at.height] || int(at.height)+1 < len(tr.chain) && int(at.height)+1 < len(old) && tr.chain[at.height+1] == old[at.height+1] {
				t.Fatalf("the chains part at %d", at.height)
			}
		}
		if tr.count != len(parents)+1 {
			t.Errorf("%d nodes, expected %d", tr.count, len(parents)+1)
		}
	}
}

// pathOf returns the hashes from the first block, excluded, to tip.
func pathOf(parents map[chainhash.Hash]chainhash.Hash, tip chainhash.Hash) []chainhash.Hash {
	var path []chainhash.Hash
	for {
		parent, ok := parents[tip]
		if !ok {
			slices.Reverse(path)
			return path
		}
		path, tip = append(path, tip), parent
	}
}

func TestPruningKeepsTheBestChain(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(50)
	tr := newTree(rules.New(regtest, nil), nil, 0)
	tip, err := feed(tr, headersOf(c.Blocks()[1:]))
	if err != nil {
		t.Fatal(err)
	}
	tr.setChain(tip)
	work := tip.work
	for i := range 100_100 { // the tree does not check proof of work
		h := &wire.BlockHeader{PrevBlock: tr.base.hash, Bits: regtest.PowLimitBits, Nonce: uint32(i)}
		hash := h.BlockHash()
		tr.add(h, &hash, tr.base)
	}
	if !tr.prune() || tr.count != 51 || tr.prune() {
		t.Fatalf("%d nodes are left", tr.count)
	}
	for h, b := range c.Blocks() {
		hash := b.BlockHash()
		if n := tr.atHeight(int64(h)); n.hash != hash || tr.find(&hash) != n || n.height != int32(h) || h > 0 && n.parent != tr.atHeight(int64(h)-1) {
			t.Fatalf("height %d is %v", h, n)
		}
	}
	if tr.atHeight(50).work != work {
		t.Errorf("work %v, was %v", tr.atHeight(50).work, work)
	}
}

func TestNumberOfHeadersIsLimited(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(1)
	tr := newTree(rules.New(regtest, nil), nil, 0)
	tr.clock = func() time.Time {
		return regtest.GenesisBlock.Header.Timestamp.Add(-100_000*secondsPerHeader*time.Second + time.Hour)
	}
	for tr.count < tr.maxHeaders() {
		tr.insert(node{hash: chainhash.Hash{byte(tr.count), byte(tr.count >> 8)}})
	}
	if _, _, err := tr.extend(headersOf(c.Blocks()[1:])); err == nil || !strings.Contains(err.Error(), "maximum number of headers") {
		t.Errorf("%v", err)
	}
}

func BenchmarkHeaders(b *testing.B) {
	headers := messages(mainnetHeaders(b))
	n := 0
	for b.Loop() {
		tr := newTree(rules.New(&chaincfg.MainNetParams, nil), nil, 0)
		for _, m := range headers {
			if _, _, err := tr.extend(m); err != nil {
				b.Fatal(err)
			}
		}
		n += tr.count
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "headers/s")
	b.ReportAllocs()
}
