package coingen_test

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"birthmark/bench/generate/coingen"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/core"
	"birthmark/internal/testnode/cointest"
	"birthmark/internal/testrun"
	"birthmark/model"
)

// meets reports whether a header has the proof of work of a coin.
func meets(f *block.Format, header []byte) bool {
	if f.Work != nil {
		return f.Work(header, nil) == nil
	}
	return block.Header(header).Meets(f.HashOf(header)) == nil
}

// lastHeader changes the last header of a message, and then its nonce until it has the proof of work or lacks it.
func lastHeader(f *block.Format, has bool, change func(header []byte)) func(string, []byte) []byte {
	return func(command string, payload []byte) []byte {
		if command != "headers" || len(payload) < block.HeaderSize {
			return payload
		}
		header := payload[len(payload)-1-block.HeaderSize : len(payload)-1]
		change(header)
		for nonce := uint32(0); meets(f, header) != has; nonce++ {
			binary.LittleEndian.PutUint32(header[76:], nonce)
		}
		return payload
	}
}

// A peer of any coin that lies or stalls is dropped. The chain comes from another peer; if there is none,
// the error names the lie.
func TestLyingPeersOfEveryCoin(t *testing.T) {
	for _, c := range coingen.Coins {
		if networkOf(c).Peers == nil {
			continue
		}
		made := coingen.New(c, coingen.Options{Seed: 5})
		for range 30 {
			made.Next()
		}
		blocks, f := made.Blocks(), c.Spec.Format
		noWork := "block hash"
		if f.Work != nil {
			noWork = "proof of work"
		}
		for name, lie := range map[string]struct {
			says string // empty: it has no end
			lie  func(command string, payload []byte) []byte
		}{
			"a wrong target": {"its difficulty is 207ffffe, expected 207fffff", lastHeader(f, true, func(h []byte) { h[72]-- })},
			"no work":        {noWork, lastHeader(f, false, func([]byte) {})},
			"an early time":  {"median", lastHeader(f, true, func(h []byte) { binary.LittleEndian.PutUint32(h[68:], 1) })},
			"another block": {"merkle root", func(command string, payload []byte) []byte {
				if command == "block" {
					payload = bytes.Clone(payload)
					payload[block.HeaderSize+1+4+1+36+1+3] ^= 1 // in the script of the coinbase
				}
				return payload
			}},
			"no blocks": {"", func(command string, payload []byte) []byte {
				if command == "block" {
					return nil
				}
				return payload
			}},
		} {
			t.Run(c.Spec.Name+" "+name, func(t *testing.T) {
				t.Parallel()
				if lie.says == "" {
					testrun.Slow(t) // it waits until the peer is considered stalled
				}
				serve := func() [][]byte { return blocks }
				bad := (&cointest.Peer{Network: networkOf(c), Blocks: serve, Lie: lie.lie}).Start(t)
				good := (&cointest.Peer{Network: networkOf(c), Blocks: serve}).Start(t)
				db := open(t, c)
				follow(t, db, bad+","+strings.TrimPrefix(good, "p2p://"), 0)
				if db.Tip() != made.Tip() {
					t.Errorf("the tip is %v, expected %v", db.Tip(), made.Tip())
				}
				if lie.says != "" {
					failsWith(t, c, bad, lie.says)
				}
			})
		}
	}
}

// failsWith checks that a sync from a source fails with an error with these words.
func failsWith(t *testing.T, c *coingen.Coin, uri, says string) {
	t.Helper()
	db := open(t, c)
	src, err := db.Chain().Open(t.Context(), model.SourceOptions{URI: uri, Indexes: db.Indexes(), Raw: true, Wait: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if err := core.Sync(t.Context(), db, src, core.SyncOptions{}); err == nil || !strings.Contains(err.Error(), says) {
		t.Errorf("%v, expected %q", err, says)
	}
}

// A chain with another block at a checkpoint is refused, as that of Bitcoin is by Bitcoin Cash; a peer of another coin is
// not understood.
func TestPeersOfOtherChains(t *testing.T) {
	cash, _ := coingen.Find("bitcoin-cash")
	o := coingen.Options{Seed: 5}
	made, other := coingen.New(cash, o), coingen.Replay(cash, o, 20)
	for range 30 {
		made.Next()
	}
	for range 25 {
		other.Next()
	}
	split := params.New(func() params.Spec {
		spec, n := *cash.Spec, *networkOf(cash)
		n.Checkpoints = map[model.HeightPk]string{20: block.FormatHash(cash.Spec.Format.HashOf(made.Blocks()[20]))}
		spec.Networks = []*params.Network{&n}
		return spec
	}())
	checked := &coingen.Coin{Spec: split, Network: cash.Network}
	ours := (&cointest.Peer{Network: networkOf(cash), Blocks: made.Blocks}).Start(t)
	theirs := (&cointest.Peer{Network: networkOf(cash), Blocks: other.Blocks}).Start(t)
	db := open(t, checked)
	follow(t, db, theirs+","+strings.TrimPrefix(ours, "p2p://"), 0)
	if db.Tip() != made.Tip() {
		t.Errorf("the tip is %v, expected %v: the longer chain has another block at a checkpoint", db.Tip(), made.Tip())
	}
	failsWith(t, checked, theirs, "checkpoint")

	lite, _ := coingen.Find("litecoin")
	failsWith(t, lite, ours, "peer of litecoin regtest")
}

// Public networks with peers have seeds, and every network has a port and a magic. Litecoin's difficulty has periods.
func TestNetworksWithPeers(t *testing.T) {
	ports := map[string]bool{}
	for _, c := range coingen.Coins {
		for _, n := range c.Spec.Networks {
			if n.Peers == nil {
				continue
			}
			if public := n.Name != "regtest"; len(n.Params.DNSSeeds) == 0 == public || n.Params.DefaultPort == "" || n.Rules == nil {
				t.Errorf("%s: %d seeds, port %q", n.FullName(), len(n.Params.DNSSeeds), n.Params.DefaultPort)
			}
			if n.Params.Net == 0 || c.Spec.BlockType == 0 || len(n.Params.Checkpoints) != len(n.Checkpoints) {
				t.Errorf("%s: magic %08x, %d of %d checkpoints", n.FullName(), uint32(n.Params.Net), len(n.Params.Checkpoints), len(n.Checkpoints))
			}
			ports[n.Params.DefaultPort] = true
			_, has, err := cointest.Open(t, c.Spec, n.Name).(model.PeriodReporter).Period(5000, nil)
			if has != (c.Spec.Name == "litecoin" && n.Name != "regtest") || err != nil {
				t.Errorf("%s has periods of difficulty: %v, %v", n.FullName(), has, err)
			}
		}
	}
	if len(ports) < 7 {
		t.Errorf("ports %v", ports)
	}
}

// Test networks accept blocks of the least difficulty after twice the time between blocks (GetNextWorkRequired of the coins'
// nodes).
func TestBlocksOfLeastDifficultyAreTwiceAsLate(t *testing.T) {
	easy := 0
	for _, c := range coingen.Coins {
		for _, n := range c.Spec.Networks {
			if p := n.Params; p != nil && p.ReduceMinDifficulty {
				easy++
				if p.MinDiffReductionTime != 2*p.TargetTimePerBlock {
					t.Errorf("%s: %s after blocks every %s", n.FullName(), p.MinDiffReductionTime, p.TargetTimePerBlock)
				}
			}
		}
	}
	if easy == 0 {
		t.Error("no network has such blocks")
	}
}
