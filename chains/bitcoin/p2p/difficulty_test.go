package p2p

import (
	"errors"
	"math/big"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/rules"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testseed"
)

// retargeting is regtest with a difficulty that changes every ten blocks.
func retargeting() *chaincfg.Params {
	p := *regtest
	p.PoWNoRetargeting, p.ReduceMinDifficulty = false, false
	p.TargetTimePerBlock, p.TargetTimespan = 10*time.Minute, 100*time.Minute
	return &p
}

// required computes the target of the next header by the textbook rules: the oracle for btcd's computation.
func required(p *chaincfg.Params, chain []*wire.BlockHeader, at time.Time) uint32 {
	last := chain[len(chain)-1]
	if len(chain)%10 != 0 {
		if !p.ReduceMinDifficulty {
			return last.Bits
		}
		if at.Sub(last.Timestamp) > 20*time.Minute {
			return p.PowLimitBits
		}
		i := len(chain) - 1
		for i%10 != 0 && chain[i].Bits == p.PowLimitBits {
			i--
		}
		return chain[i].Bits
	}
	first := chain[len(chain)-10]
	span := min(max(int64(last.Timestamp.Sub(first.Timestamp)/time.Second), 1500), 24000)
	from := last.Bits
	if p.EnforceBIP94 {
		from = first.Bits
	}
	target := expand(from)
	target.Mul(target, big.NewInt(span)).Div(target, big.NewInt(6000))
	if target.Cmp(p.PowLimit) > 0 {
		target.Set(p.PowLimit)
	}
	return compact(target)
}

func expand(bits uint32) *big.Int {
	return new(big.Int).Lsh(big.NewInt(int64(bits&0x7fffff)), uint(8*(bits>>24-3)))
}

func compact(n *big.Int) uint32 {
	b := n.Bytes()
	if b[0]&0x80 != 0 {
		b = append([]byte{0}, b...)
	}
	m := append(slices.Clone(b), 0, 0, 0)
	return uint32(len(b))<<24 | uint32(m[0])<<16 | uint32(m[1])<<8 | uint32(m[2])
}

// mined returns the next header of a chain with its proof of work.
func mined(chain []*wire.BlockHeader, at time.Time, bits uint32) *wire.BlockHeader {
	b := wire.NewMsgBlock(&wire.BlockHeader{Version: 0x20000000, PrevBlock: chain[len(chain)-1].BlockHash(), Timestamp: at, Bits: bits})
	bitcointest.Work(b)
	return &b.Header
}

func TestDifficultyFollowsTheRulesOfEachNetwork(t *testing.T) {
	r := testseed.Rand(t)
	testnet3, testnet4 := retargeting(), retargeting()
	testnet3.ReduceMinDifficulty, testnet3.MinDiffReductionTime = true, 20*time.Minute
	testnet4.ReduceMinDifficulty, testnet4.MinDiffReductionTime, testnet4.EnforceBIP94 = true, 20*time.Minute, true
	for name, p := range map[string]*chaincfg.Params{"mainnet": retargeting(), "testnet3": testnet3, "testnet4": testnet4} {
		tr := newTree(rules.New(p, nil), nil, 0)
		chain := []*wire.BlockHeader{&p.GenesisBlock.Header}
		targets := map[uint32]bool{}
		pace := int64(1)
		for len(chain) < 300 {
			if len(chain)%10 == 0 {
				pace = 1 + r.Int64N(20)
			}
			if expand(chain[len(chain)-1].Bits).BitLen() < 248 {
				pace = 25 // hard enough for a test
			}
			at := chain[len(chain)-1].Timestamp.Add(time.Duration(60*pace+r.Int64N(120)) * time.Second)
			bits := required(p, chain, at)
			targets[bits] = true
			for _, wrong := range []uint32{bits - 1, bits + 1} {
				if expand(wrong).Cmp(p.PowLimit) > 0 || wrong&0x800000 != 0 {
					continue
				}
				if _, err := feed(tr, []*wire.BlockHeader{mined(chain, at, wrong)}); err == nil || !strings.Contains(err.Error(), "difficulty") {
					t.Fatalf("%s: height %d with target %08x instead of %08x: %v", name, len(chain), wrong, bits, err)
				}
			}
			h := mined(chain, at, bits)
			if _, err := feed(tr, []*wire.BlockHeader{h}); err != nil {
				t.Fatalf("%s: height %d: %v", name, len(chain), err)
			}
			chain = append(chain, h)
		}
		if len(targets) < 10 {
			t.Errorf("%s: %d targets only", name, len(targets))
		}
	}
}

func TestTimesOfHeadersAreBounded(t *testing.T) {
	c := bitcointest.NewChain()
	c.MineEmpty(20)
	headers := headersOf(c.Blocks()[1:])
	now := headers[19].Timestamp
	chain := append([]*wire.BlockHeader{&regtest.GenesisBlock.Header}, headers...)
	median := chain[len(chain)-6].Timestamp // of the last eleven
	strict := *regtest                      // without the exception for the clocks of tests
	strict.PoWNoRetargeting = false
	for _, c := range []struct {
		at   time.Time
		want func(error) bool
	}{
		{median, func(err error) bool { _, bad := errors.AsType[badHeader](err); return bad }},
		{median.Add(time.Second), func(err error) bool { return err == nil }},
		{now.Add(2 * time.Hour), func(err error) bool { return err == nil }},
		{now.Add(2*time.Hour + time.Second), func(err error) bool {
			_, bad := errors.AsType[badHeader](err)
			return !bad && errors.Is(err, errFuture)
		}},
	} {
		tr := newTree(rules.New(&strict, nil), nil, 0)
		tr.clock = func() time.Time { return now }
		if _, err := feed(tr, headers); err != nil {
			t.Fatal(err)
		}
		if _, err := feed(tr, []*wire.BlockHeader{mined(chain, c.at, regtest.PowLimitBits)}); !c.want(err) {
			t.Errorf("a header of %s, the median is %s, it is %s: %v", c.at, median, now, err)
		}
	}
}
