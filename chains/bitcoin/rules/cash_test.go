package rules

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/wire/v2"
)

var testCash = Cash{
	Split: 1_155_875, Window: 1_188_697, Anchor: Anchor{1_421_481, 0x1d00ffff, 1605445400}, HalfLife: 3_600,
}

// Each file has consecutive headers from the height in its name. Those of mainnet in August 2017 (477,790; 478,550;
// 479,790) are from the tests of Bitcoin Verde (DifficultyCalculatorTests.java, MIT licence), the others from the
// checkpoints of Horizontal Systems' bitcoin-kit-android (MIT licence). The rule of a header is checked if the headers
// that it needs are known.
func TestRealHeadersOfBitcoinCash(t *testing.T) {
	for _, c := range []struct {
		network string
		cash    Cash
		checked int
	}{
		{"mainnet", mainCash, 17 + 1 + 1 + 62}, // emergency rule, retarget, window, ASERT
		{"testnet3", testCash, 1 + 31},         // window, ASERT
	} {
		t.Run(c.network, func(t *testing.T) {
			p := *cashNet
			p.ReduceMinDifficulty = c.network == "testnet3"
			r := New(&p, c.cash.Difficulty)
			known := readHeaders(t, c.network)
			before := func(height int32) (a Ancestor, ok bool, err error) {
				h, ok := known[height]
				return Ancestor{h.Bits, h.Timestamp.Unix()}, ok, nil
			}
			checked := 0
			for height, h := range known {
				need := int32(17) // 11 for the median, and 6 for the emergency rule
				if height > c.cash.Window && height <= c.cash.Anchor.Height {
					need = 147
				}
				if _, ok := known[height-need]; !ok {
					continue
				}
				if err, failed := r.Check(&h, height, before); err != nil || failed != nil {
					t.Errorf("block %d: %v, %v", height, err, failed)
				}
				h.Bits--
				if err, _ := r.Check(&h, height, before); err == nil || !strings.Contains(err.Error(), "difficulty") {
					t.Errorf("block %d with another difficulty: %v", height, err)
				}
				checked++
			}
			if checked != c.checked {
				t.Errorf("%d headers were checked, expected %d", checked, c.checked)
			}
		})
	}
}

// readHeaders reads the headers of a network by their height. Each has the hash of the header before it, and proof of
// work.
func readHeaders(t *testing.T, network string) map[int32]wire.BlockHeader {
	t.Helper()
	files, err := filepath.Glob("testdata/cash/" + network + "/*.headers")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	known := map[int32]wire.BlockHeader{}
	for _, name := range files {
		raw, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var first, height int32
		if _, err := fmt.Sscanf(filepath.Base(name), "%d.headers", &first); err != nil {
			t.Fatal(err)
		}
		height = first
		for in := bytes.NewReader(raw); ; height++ {
			var h wire.BlockHeader
			if err := h.Deserialize(in); err == io.EOF {
				break
			} else if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			hash, last := h.BlockHash(), known[height-1]
			if blockchain.HashToBig(&hash).Cmp(blockchain.CompactToBig(h.Bits)) > 0 {
				t.Fatalf("header %d has no proof of work", height)
			}
			if height > first && h.PrevBlock != last.BlockHash() {
				t.Fatalf("header %d does not follow header %d", height, height-1)
			}
			known[height] = h
		}
	}
	return known
}

// The file has the difficulties and times of mainnet's blocks 544,120 to 544,320, from the tests of Horizontal Systems'
// bitcoin-kit-android (DAAValidatorTest.kt, MIT licence).
func TestWindowOfMainnet(t *testing.T) {
	text, err := os.ReadFile("testdata/cash/544120.txt")
	if err != nil {
		t.Fatal(err)
	}
	h := headers{from: 544_120}
	checked := 0
	for line := range strings.Lines(string(text)) {
		var a Ancestor
		if _, err := fmt.Sscanf(line, "%x %d", &a.Bits, &a.Time); err != nil {
			t.Fatal(err)
		}
		if len(h.list) >= 147 {
			if got, ok := mainCash.Difficulty(cashNet, h.tip(), a.Time); got != a.Bits || !ok {
				t.Errorf("block %d: %08x, expected %08x", h.tip().Height()+1, got, a.Bits)
			}
			checked++
		}
		h.list = append(h.list, a)
	}
	if checked != 54 {
		t.Errorf("%d blocks were checked, expected 54", checked)
	}
}
