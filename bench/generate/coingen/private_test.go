package coingen_test

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/chainhash/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/core/coretest"
	"birthmark/internal/testnode/cointest"
	"birthmark/model"
)

// private is a chain of a network that anybody can start.
type private struct {
	name   string            // of the network
	node   map[string]string // fields of getblockchaininfo
	params *chaincfg.Params
	blocks int
	// version returns the version of a header, and script that of an additional output of the coinbase; nil: none.
	version func(height int) int32
	script  func(height int) []byte
	spacing time.Duration
	nonces  []uint32 // from which the nonces are searched; nil: 0
}

// mine returns the serialized blocks.
func (p *private) mine(t *testing.T) (blocks [][]byte) {
	t.Helper()
	last := p.params.GenesisBlock
	for height := 0; ; height++ {
		var raw bytes.Buffer
		if err := last.Serialize(&raw); err != nil {
			t.Fatal(err)
		}
		if blocks = append(blocks, raw.Bytes()); height == p.blocks {
			return blocks
		}
		script := binary.LittleEndian.AppendUint32([]byte{4}, uint32(height+1))
		tx := wire.NewMsgTx(1)
		tx.AddTxIn(wire.NewTxIn(&wire.OutPoint{Index: 0xffffffff}, script, nil))
		tx.AddTxOut(wire.NewTxOut(1, append([]byte{0, 20}, make([]byte, 20)...)))
		if p.script != nil {
			tx.AddTxOut(wire.NewTxOut(0, p.script(height+1)))
		}
		parent := last.BlockHash()
		header := wire.BlockHeader{
			Version: p.version(height + 1), PrevBlock: parent, MerkleRoot: tx.TxHash(), Bits: p.params.PowLimitBits,
			Timestamp: last.Header.Timestamp.Add(p.spacing),
		}
		if p.nonces != nil {
			header.Nonce = p.nonces[height]
		}
		for header.Nonce++; !mined(header.BlockHash(), p.params); header.Nonce++ {
		}
		last = wire.NewMsgBlock(&header)
		if err := last.AddTransaction(tx); err != nil {
			t.Fatal(err)
		}
	}
}

func mined(hash chainhash.Hash, p *chaincfg.Params) bool {
	h := block.Header(make([]byte, block.HeaderSize))
	binary.LittleEndian.PutUint32(h[72:], p.PowLimitBits)
	return h.Meets(model.Hash(hash)) == nil
}

// syncs syncs the chain from every kind of source into equal databases.
func (p *private) syncs(t *testing.T) {
	t.Helper()
	c := &coingen.Coin{Spec: params.Bitcoin, Network: p.name}
	network := p.network()
	blocks := p.mine(t)
	uri := writeFile(t, network, blocks)
	files := open(t, c)
	follow(t, files, uri, 0)
	coretest.Consistent(t, files)
	if files.Tip().Height != model.HeightPk(p.blocks) {
		t.Fatalf("the tip is %v, expected %d", files.Tip(), p.blocks)
	}
	serve := func() [][]byte { return blocks }
	for name, uri := range map[string]string{
		"JSON-RPC": cointest.NodeOf(t, p.node, &block.Bitcoin, false, serve),
		"REST":     cointest.NodeOf(t, p.node, &block.Bitcoin, true, serve),
		"peer":     (&cointest.Peer{Network: network, Blocks: serve}).Start(t),
	} {
		db := open(t, c)
		follow(t, db, uri, 0)
		coretest.Same(t, name, coretest.Dump(t, db), coretest.Dump(t, files))
	}
}

// writeFile writes blocks to a file and returns the URI of its folder.
func writeFile(t *testing.T, network *params.Network, blocks [][]byte) (uri string) {
	t.Helper()
	dir := t.TempDir()
	var file []byte
	for _, raw := range blocks {
		file = append(binary.LittleEndian.AppendUint32(append(file, network.Magic[:]...), uint32(len(raw))), raw...)
	}
	if err := os.WriteFile(filepath.Join(dir, "blk00000.dat"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	return "file://" + dir
}

func (p *private) network() *params.Network {
	if n, ok := params.Bitcoin.Custom(p.name); ok {
		return n
	}
	return networkOf(&coingen.Coin{Spec: params.Bitcoin, Network: p.name})
}

// Bitcoin Core's activation heights of regtest have changed between releases, and are settings. Before segwit was active,
// it made commitments without a witness nonce. Tests set its time, also to the future.
func TestRegtestChainsOfEveryRelease(t *testing.T) {
	commitment := append([]byte{0x6a, 0x24, 0xaa, 0x21, 0xa9, 0xed}, make([]byte, 32)...)
	for _, name := range []string{"regtest", "simnet"} {
		p, spacing := &chaincfg.RegressionNetParams, 240*time.Hour
		if name == "simnet" {
			p, spacing = &chaincfg.SimNetParams, 10*time.Minute
		}
		(&private{
			name: name, node: map[string]string{"chain": name}, params: p, blocks: 1400, spacing: spacing,
			version: func(height int) int32 { return []int32{2, 1, 3, 4, 0x20000000}[height/300] },
			script:  func(int) []byte { return commitment },
		}).syncs(t)
	}
}

// No coin refuses a block of a regtest network for its version.
func TestRegtestOfNoCoinHasVersions(t *testing.T) {
	for _, coin := range append([]*params.Spec{params.Bitcoin}, specs()...) {
		for _, n := range coin.Networks {
			p := n.Params
			if n.Name != "regtest" || p == nil {
				continue
			}
			if least := min(p.BIP0034Height, p.BIP0065Height, p.BIP0066Height); least <= int32(model.MaxHeight) {
				t.Errorf("%s refuses versions from block %d on", n.FullName(), least)
			}
		}
	}
}

func specs() (all []*params.Spec) {
	for _, c := range coingen.Coins {
		all = append(all, c.Spec)
	}
	return all
}

// The challenge is OP_TRUE. The name of the network, and thus of the database, is not that of the public signet.
func TestCustomSignet(t *testing.T) {
	p := &private{
		name: "signet-54d26fbd", node: map[string]string{"chain": "signet", "signet_challenge": "51"}, params: &chaincfg.SigNetParams, blocks: 4, spacing: 10 * time.Minute,
		nonces:  []uint32{1_727_755, 1_401_251, 2_785_995, 1_383_108},
		version: func(int) int32 { return 1 },
	}
	p.syncs(t)
	blocks := p.mine(t)
	node := cointest.NodeOf(t, p.node, &block.Bitcoin, false, func() [][]byte { return blocks })
	for _, other := range []string{"signet", "signet-00000000"} {
		for _, uri := range []string{writeFile(t, p.network(), blocks), node} {
			db := open(t, &coingen.Coin{Spec: params.Bitcoin, Network: other})
			if err := sync(t, db, uri); err == nil || !strings.Contains(err.Error(), "signet_challenge") {
				t.Errorf("%s accepts %s of another signet: %v", other, uri, err)
			}
		}
	}
	for _, name := range []string{"signet-", "signet-54d26fb", "signet-54D26FBD", "signet-54d26fbd0", "testnet-54d26fbd"} {
		if _, ok := params.Bitcoin.Custom(name); ok {
			t.Errorf("%s is a network", name)
		}
	}
}
