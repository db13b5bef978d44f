package rules

import (
	"math/big"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/chains/bitcoin/block"
)

// Cash contains the heights and the parameters of Bitcoin Cash's difficulty rules. A rule applies to the blocks above
// its height.
type Cash struct {
	// Split is the height of the last block that Bitcoin Cash and Bitcoin have in common. After it, the difficulty of a
	// block is a fifth lower than that of its parent if the last six blocks took at least twelve hours (EDA, August 2017).
	Split int32
	// Window is the height after which the difficulty depends on the work of the last 144 blocks (cw-144, November 2017).
	Window int32
	// Anchor is the block after which the difficulty depends on the time since that block (aserti3-2d, November 2020).
	// The zero Anchor is no block: the rule never applies, as on BSV.
	Anchor Anchor
	// HalfLife is the delay in seconds after which aserti3-2d doubles the target.
	HalfLife int64
}

// Anchor is the reference block of aserti3-2d.
type Anchor struct {
	Height int32
	Bits   uint32
	Time   int64 // of its parent, in Unix seconds
}

// Difficulty implements [Difficulty] for Bitcoin Cash.
func (c Cash) Difficulty(p *chaincfg.Params, parent blockchain.HeaderCtx, at int64) (bits uint32, ok bool) {
	switch height := parent.Height(); {
	case p.PoWNoRetargeting:
		return p.PowLimitBits, true
	case height >= c.Window && late(p, parent, at):
		return p.PowLimitBits, true
	case c.Anchor != Anchor{} && height >= c.Anchor.Height:
		return c.asert(p, int64(height), parent.Timestamp()), true
	case height >= c.Window:
		return window(p, parent)
	case height >= c.Split && !p.ReduceMinDifficulty && (height+1)%period(p) != 0:
		return emergency(p, parent)
	}
	return retarget(p, parent, at, period(p)-1)
}

// emergency returns the difficulty by the rule of August 2017, for a block that does not begin a difficulty period.
func emergency(p *chaincfg.Params, parent blockchain.HeaderCtx) (bits uint32, ok bool) {
	const blocks, most = 6, 12 * time.Hour
	before := parent.RelativeAncestorCtx(blocks)
	if before == nil {
		return 0, false
	}
	if blockchain.CalcPastMedianTime(parent).Sub(blockchain.CalcPastMedianTime(before)) < most {
		return parent.Bits(), true
	}
	target := blockchain.CompactToBig(parent.Bits())
	return limited(p, target.Add(target, new(big.Int).Rsh(target, 2))), true
}

// window returns the difficulty by the rule of November 2017: with its target, the work of the last 144 blocks would
// have taken one day.
func window(p *chaincfg.Params, parent blockchain.HeaderCtx) (bits uint32, ok bool) {
	const blocks = 144
	spacing := int64(p.TargetTimePerBlock / time.Second)
	first, last := middle(parent.RelativeAncestorCtx(blocks)), middle(parent)
	if first == nil || last == nil {
		return 0, false
	}
	work, ok := workBetween(first, last)
	if !ok {
		return 0, false
	}
	actual := min(max(last.Timestamp()-first.Timestamp(), blocks/2*spacing), 2*blocks*spacing)
	work.Mul(work, big.NewInt(spacing)).Div(work, big.NewInt(actual))
	target := new(big.Int).Lsh(big.NewInt(1), 256)
	return limited(p, target.Sub(target, work).Div(target, work)), true
}

// middle returns the header with the median time among h and the two headers before it, or nil if one of them does not
// exist. Equal times are ordered as in the specification.
func middle(h blockchain.HeaderCtx) blockchain.HeaderCtx {
	if h == nil {
		return nil
	}
	b := h.Parent()
	if b == nil {
		return nil
	}
	a := b.Parent()
	if a == nil {
		return nil
	}
	if a.Timestamp() > h.Timestamp() {
		a, h = h, a
	}
	if a.Timestamp() > b.Timestamp() {
		b = a
	}
	if b.Timestamp() > h.Timestamp() {
		b = h
	}
	return b
}

// worker is a header that stores the total work of its chain.
type worker interface{ ChainWork() block.Work }

// workBetween returns the total work of the headers after first, up to and including last.
func workBetween(first, last blockchain.HeaderCtx) (work *big.Int, ok bool) {
	from, has := first.(worker)
	if has {
		return last.(worker).ChainWork().Minus(from.ChainWork()), true
	}
	work = new(big.Int)
	for h := last; h.Height() > first.Height(); {
		work.Add(work, blockchain.CalcWork(h.Bits()))
		if h = h.Parent(); h == nil {
			return nil, false
		}
	}
	return work, true
}

// asert returns the difficulty by the rule of November 2020: the target of the anchor, times two to the power of the
// delay in half-lives. The fraction of the exponent is a fixed-point number of 16 bits, and its power is a cubic
// approximation. height and at are the height and the Unix time of the parent.
func (c Cash) asert(p *chaincfg.Params, height, at int64) uint32 {
	const unit = 1 << 16
	spacing := int64(p.TargetTimePerBlock / time.Second)
	delay := at - c.Anchor.Time - spacing*(height-int64(c.Anchor.Height)+1)
	exponent := delay * unit / c.HalfLife
	fraction := uint64(exponent & (unit - 1))
	factor := unit + (195_766_423_245_049*fraction+971_821_376*fraction*fraction+5_127*fraction*fraction*fraction+1<<47)>>48
	target := blockchain.CompactToBig(c.Anchor.Bits)
	target.Mul(target, new(big.Int).SetUint64(factor))
	switch shift := exponent>>16 - 16; {
	case shift > int64(p.PowLimit.BitLen()):
		return p.PowLimitBits
	case shift >= 0:
		target.Lsh(target, uint(shift))
	default:
		target.Rsh(target, uint(min(-shift, 1<<10)))
	}
	if target.Sign() == 0 {
		target.SetInt64(1)
	}
	return limited(p, target)
}
