package rules

import (
	"bufio"
	"cmp"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/testseed"
)

// headers contains consecutive headers of a chain, reduced to the fields that determine the difficulty.
type headers struct {
	from int32
	list []Ancestor
}

// at returns the header at a height, or nil if there is none.
func (h *headers) at(height int32) blockchain.HeaderCtx {
	c := &chain{before: func(height int32) (a Ancestor, ok bool, err error) {
		if i := int(height - h.from); i >= 0 && i < len(h.list) {
			return h.list[i], true, nil
		}
		return a, false, nil
	}}
	return c.at(height)
}

func (h *headers) tip() blockchain.HeaderCtx { return h.at(h.from + int32(len(h.list)) - 1) }

// add appends a header whose time is the given number of seconds after that of the last header.
func (h *headers) add(seconds int64, bits uint32) {
	h.list = append(h.list, Ancestor{bits, h.list[len(h.list)-1].Time + seconds})
}

// network returns parameters with the given time between blocks.
func network(spacing time.Duration, limit uint32) *chaincfg.Params {
	return &chaincfg.Params{
		PowLimit: blockchain.CompactToBig(limit), PowLimitBits: limit,
		TargetTimePerBlock: spacing, TargetTimespan: 2016 * spacing, RetargetAdjustmentFactor: 4, MinDiffReductionTime: 2 * spacing,
	}
}

var (
	cashNet  = network(10*time.Minute, 0x1d00ffff)
	liteNet  = network(150*time.Second, 0x1e0fffff)
	mainCash = Cash{Split: 478_558, Window: 504_031, Anchor: Anchor{661_647, 0x1804dafe, 1605447844}, HalfLife: 172_800}
)

// The test vectors are runs 1 to 11 of the specification of aserti3-2d. A program of Bitcoin Cash Node (MIT licence)
// generated them.
func TestAsertVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/asert/run*")
	if err != nil || len(files) != 11 {
		t.Fatal(files, err)
	}
	checked := 0
	for _, name := range files {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		c := Cash{HalfLife: 172_800}
		var anchor uint64 // some heights need 64 bits: only the difference is used
		for lines := bufio.NewScanner(f); lines.Scan(); {
			line := lines.Text()
			_, value, _ := strings.Cut(line, ": ")
			var at int64
			var height uint64
			var bits uint32
			switch {
			case strings.Contains(line, "anchor height"):
				_, err = fmt.Sscan(value, &anchor)
			case strings.Contains(line, "anchor parent time"):
				_, err = fmt.Sscan(value, &c.Anchor.Time)
			case strings.Contains(line, "anchor nBits"):
				_, err = fmt.Sscan(value, &c.Anchor.Bits)
			case !strings.HasPrefix(line, "#") && line != "":
				var n int
				if _, err = fmt.Sscan(line, &n, &height, &at, &bits); err != nil {
					break
				}
				if got := c.asert(cashNet, int64(height-anchor), at); got != bits {
					t.Fatalf("%s, height %d, time %d: %08x, expected %08x", name, height, at, got, bits)
				}
				checked++
			}
			if err != nil {
				t.Fatalf("%s: %q: %v", name, line, err)
			}
		}
		f.Close()
	}
	if checked < 2500 {
		t.Errorf("only %d vectors", checked)
	}
}

// Headers of mainnet by their heights, from the blocks in chains/bitcoincash/testdata.
func TestAsertOfMainnet(t *testing.T) {
	for _, c := range []struct {
		height int32
		time   int64
		next   uint32
	}{
		{663_700, 1606647226, 0x180440ea}, {663_749, 1606660749, 0x1803fdae}, {663_750, 1606661025, 0x1803fc58}, {663_751, 1606661034, 0x1803f9ec},
	} {
		h := headers{c.height, []Ancestor{{0x18044000, c.time}}}
		if got, ok := mainCash.Difficulty(cashNet, h.tip(), c.time+100_000); got != c.next || !ok {
			t.Errorf("after %d: %08x, expected %08x", c.height, got, c.next)
		}
	}
}

// The expected difficulties are those of cash_difficulty_test in the tests of Bitcoin Cash Node (MIT licence).
func TestWindow(t *testing.T) {
	h := headers{504_031 - 2049, []Ancestor{{0x1c0fffff, 1269211443}}}
	bits := h.list[0].Bits
	next := func() uint32 {
		t.Helper()
		got, ok := mainCash.Difficulty(cashNet, h.tip(), h.tip().Timestamp())
		if !ok {
			t.Fatal("headers are missing")
		}
		return got
	}
	for range 2049 {
		h.add(600, bits)
	}
	bits = next()
	for _, step := range []struct {
		blocks  int
		seconds int64
		want    uint32 // 0: as before
	}{
		{10, 600, 0}, {1, 6000, 0}, {1, 2*600 - 6000, 0}, {20, 600, 0}, {1, 550, 0}, {10, 550, 0x1c0fe7b1}, {20, 10, 0x1c0db19f},
		{1, 6000, 0x1c0d9222}, {93, 6000, 0x1c2f13b9}, {1, 6000, 0x1c2ee9bf}, {192, 6000, 0x1d00ffff}, {5, 6000, 0x1d00ffff},
	} {
		want := cmp.Or(step.want, bits)
		for range step.blocks {
			h.add(step.seconds, bits)
			bits = next()
		}
		if bits != want {
			t.Fatalf("%+v: %08x, expected %08x", step, bits, want)
		}
	}
}

// The expected difficulties are those of retargeting_test in the tests of Bitcoin Cash Node (MIT licence).
func TestEmergency(t *testing.T) {
	const easy = 0x1c7fffff
	h := headers{480_000, []Ancestor{{easy, 1269211443}}}
	for range 99 {
		h.add(600, easy)
	}
	bits := uint32(easy)
	for i := range 15 {
		h.add(7200, bits)
		got, ok := mainCash.Difficulty(cashNet, h.tip(), 0)
		want := bits
		if i >= 10 {
			target := blockchain.CompactToBig(bits)
			want = min(blockchain.BigToCompact(target.Mul(target, big.NewInt(5)).Div(target, big.NewInt(4))), 0x1d00ffff)
		}
		if got != want || !ok {
			t.Fatalf("block %d: %08x, expected %08x", i, got, want)
		}
		bits = got
	}
	before := headers{400_000, h.list} // there is no such rule before the split
	if got, _ := mainCash.Difficulty(cashNet, before.at(400_000+112), 0); got != h.list[112].Bits {
		t.Errorf("before the split: %08x", got)
	}
}

// The first three retargets are those of the tests of Litecoin Core (pow_tests.cpp, MIT licence).
func TestFullPeriods(t *testing.T) {
	for _, c := range []struct {
		height       int32
		first, last  int64
		bits, expect uint32
	}{
		{280_223, 1358118740, 1358378777, 0x1c0ac141, 0x1c093f8d},
		{2_015, 1317972665, 1318480354, 0x1e0ffff0, 0x1e0fffff},
		{578_591, 1401682934, 1401757934, 0x1b075cf1, 0x1b01d73c},
		{1_001_951, 1463690315, 1464900315, 0x1b015318, 0x1b054c60},
	} {
		back := int32(2016)
		if c.height == 2_015 {
			back = 2015
		}
		h := headers{c.height - back, make([]Ancestor, back+1)}
		h.list[0].Time, h.list[back] = c.first, Ancestor{c.bits, c.last}
		if got, ok := FullPeriods(liteNet, h.tip(), 0); got != c.expect || !ok {
			t.Errorf("after %d: %08x, expected %08x", c.height, got, c.expect)
		}
		h.from, h.list = h.from+1, h.list[1:]
		if got, ok := FullPeriods(liteNet, h.tip(), 0); ok {
			t.Errorf("after %d without the block before the period: %08x", c.height, got)
		}
	}
}

// short returns parameters whose periods have ten blocks.
func short(p *chaincfg.Params, r *rand.Rand) *chaincfg.Params {
	q := *p
	q.TargetTimespan, q.ReduceMinDifficulty = 10*p.TargetTimePerBlock, r.IntN(2) == 0
	return &q
}

// grow appends blocks with random times to a chain. It checks that d returns the same difficulties as required.
func grow(t *testing.T, r *rand.Rand, p *chaincfg.Params, h *headers, blocks int, d Difficulty, required func(at int64) uint32) {
	t.Helper()
	spacing := int64(p.TargetTimePerBlock / time.Second)
	pace := spacing
	for range blocks {
		if r.IntN(15) == 0 {
			pace = 1 + r.Int64N(3*spacing)
		}
		seconds := pace + r.Int64N(pace+1) - r.Int64N(pace+1)
		at := h.tip().Timestamp() + seconds
		got, ok := d(p, h.tip(), at)
		if want := required(at); got != want || !ok {
			t.Fatalf("height %d: %08x, %v, expected %08x", h.tip().Height()+1, got, ok, want)
		}
		h.add(seconds, got)
	}
}

// Before the split, headers are valid if they are valid by the rules of btcd. A header with another difficulty is
// invalid, as is a header whose time is not after the median of the times before it.
func TestRetargetsMatchBtcd(t *testing.T) {
	r := testseed.Rand(t)
	for range 20 {
		p := short(cashNet, r)
		c := Cash{Split: 1 << 30, Window: 1 << 30, Anchor: Anchor{Height: 1 << 30}}
		h := &headers{0, []Ancestor{{0x1c7fffff, 1_500_000_000}}}
		ours, theirs := New(p, c.Difficulty), New(p, nil)
		grow(t, r, p, h, 300, c.Difficulty, func(at int64) uint32 {
			bits, _ := c.Difficulty(p, h.tip(), at)
			for _, change := range []uint32{0, 1} {
				header := wire.BlockHeader{Version: 4, Bits: bits ^ change, Timestamp: time.Unix(at, 0)}
				mine := ours.CheckContext(&header, h.tip(), ours, true)
				if other := theirs.CheckContext(&header, h.tip(), theirs, true); (mine == nil) != (other == nil) || change == 1 && mine == nil {
					t.Fatalf("height %d, change %d: %v, btcd: %v", h.tip().Height()+1, change, mine, other)
				}
			}
			return bits
		})
	}
}

// The difficulties of random chains equal those of a simple model, which sums over the whole window.
func TestDifficultiesMatchModel(t *testing.T) {
	r := testseed.Rand(t)
	for range 10 {
		p := short(liteNet, r)
		h := &headers{0, []Ancestor{{0x1e0ffff0, 1_400_000_000}}}
		grow(t, r, p, h, 300, FullPeriods, func(at int64) uint32 { return modelOfPeriods(p, h.list, at) })
	}
	for range 5 {
		p := *cashNet
		p.ReduceMinDifficulty = r.IntN(2) == 0
		c := Cash{Split: 10, Window: 0, Anchor: Anchor{Height: 1 << 30}}
		h := &headers{5000, []Ancestor{{0x1b0fffff, 1_400_000_000}}}
		for range 200 {
			h.add(r.Int64N(1200), 0x1b0fffff-uint32(r.IntN(1000)))
		}
		grow(t, r, &p, h, 400, c.Difficulty, func(at int64) uint32 { return modelOfWindow(&p, h.list, at) })
	}
}

func isLate(p *chaincfg.Params, chain []Ancestor, at int64) bool {
	return p.ReduceMinDifficulty && at-chain[len(chain)-1].Time > 2*int64(p.TargetTimePerBlock/time.Second)
}

func modelOfPeriods(p *chaincfg.Params, chain []Ancestor, at int64) uint32 {
	n := len(chain)
	if n%10 != 0 {
		if isLate(p, chain, at) {
			return p.PowLimitBits
		}
		for i := n - 1; ; i-- {
			if !p.ReduceMinDifficulty || i%10 == 0 || chain[i].Bits != p.PowLimitBits {
				return chain[i].Bits
			}
		}
	}
	span := chain[n-1].Time - chain[max(0, n-11)].Time
	whole := 10 * int64(p.TargetTimePerBlock/time.Second)
	target := blockchain.CompactToBig(chain[n-1].Bits)
	target.Mul(target, big.NewInt(min(max(span, whole/4), whole*4))).Div(target, big.NewInt(whole))
	if target.Cmp(p.PowLimit) > 0 {
		return p.PowLimitBits
	}
	return blockchain.BigToCompact(target)
}

func modelOfWindow(p *chaincfg.Params, chain []Ancestor, at int64) uint32 {
	if isLate(p, chain, at) {
		return p.PowLimitBits
	}
	middle := func(end int) int { // median of the three blocks up to end, as in the sorting network of the specification
		a, b, c := end-2, end-1, end
		if chain[a].Time > chain[c].Time {
			a, c = c, a
		}
		if chain[a].Time > chain[b].Time {
			b = a
		}
		if chain[b].Time > chain[c].Time {
			b = c
		}
		return b
	}
	first, last := middle(len(chain)-1-144), middle(len(chain)-1)
	work, one := new(big.Int), big.NewInt(1)
	two256 := new(big.Int).Lsh(one, 256)
	for _, a := range chain[first+1 : last+1] {
		target := blockchain.CompactToBig(a.Bits)
		work.Add(work, new(big.Int).Div(two256, target.Add(target, one)))
	}
	span := min(max(chain[last].Time-chain[first].Time, 72*600), 288*600)
	work.Mul(work, big.NewInt(600)).Div(work, big.NewInt(span))
	target := new(big.Int).Div(two256, work)
	if target.Sub(target, one).Cmp(p.PowLimit) > 0 {
		return p.PowLimitBits
	}
	return blockchain.BigToCompact(target)
}

// A header is invalid if headers that determine its difficulty are missing. No rule panics on a random chain.
func TestHeadersWithMissingAncestorsAreInvalid(t *testing.T) {
	r := testseed.Rand(t)
	c := Cash{Split: 100, Window: 4200, Anchor: Anchor{8200, 0x1c00ffff, 1_400_000_000}, HalfLife: 172_800}
	for range 3000 {
		h := headers{r.Int32N(9000), nil}
		for range 1 + r.IntN(160) {
			h.list = append(h.list, Ancestor{0x1c00ffff, 1_400_000_000 + r.Int64N(1_000_000)})
		}
		for _, d := range []Difficulty{c.Difficulty, FullPeriods} {
			rules := New(cashNet, d)
			bits, ok := d(cashNet, h.tip(), 1_500_000_000)
			header := wire.BlockHeader{Version: 4, Bits: bits, Timestamp: time.Unix(1_500_000_000, 0)}
			if err := rules.CheckContext(&header, h.tip(), rules, true); (err == nil) != ok {
				t.Fatalf("%d headers from %d: %v, %v", len(h.list), h.from, ok, err)
			}
		}
	}
}
