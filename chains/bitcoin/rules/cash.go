package rules

import (
	"math/big"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/chains/bitcoin/block"
)

// Cash has the heights of the rules of difficulty of Bitcoin Cash, and the constants of the newest.
type Cash struct {
	// Split is the last block in common with Bitcoin. From there on the difficulty falls by a fifth after each block if
	// the last six took more than twelve hours (EDA, August 2017).
	Split int32
	// Window is the block from which on the difficulty follows the work of the last 144 blocks (cw-144, November 2017).
	// Both heights are of the parent of the first block with the rule.
	Window int32
	Anchor Anchor
	// HalfLife is the delay in seconds that doubles the target.
	HalfLife int64
}

// Anchor is the block to which ASERT (aserti3-2d, November 2020) relates all later ones.
type Anchor struct {
	Height int32
	Bits   uint32
	Time   int64 // of its parent
}

// Difficulty is the [Difficulty] of Bitcoin Cash.
func (c Cash) Difficulty(p *chaincfg.Params, parent blockchain.HeaderCtx, at int64) (bits uint32, ok bool) {
	switch height := parent.Height(); {
	case p.PoWNoRetargeting:
		return p.PowLimitBits, true
	case height >= c.Window && late(p, parent, at):
		return p.PowLimitBits, true
	case height >= c.Anchor.Height:
		return c.asert(p, int64(height), parent.Timestamp()), true
	case height >= c.Window:
		return window(p, parent)
	case height >= c.Split && !p.ReduceMinDifficulty && (height+1)%period(p) != 0:
		return emergency(p, parent)
	}
	return retarget(p, parent, at, period(p)-1)
}

// emergency is the rule of August 2017.
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

// window is the rule of November 2017: the target for which the work of 144 blocks would have taken a day.
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

// middle returns the header with the middle time among a header and the two before it, nil if one does not exist.
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

// worker is a header that has the work of its chain.
type worker interface{ ChainWork() block.Work }

// workBetween returns the work of the headers after first up to last.
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

// asert is the rule of November 2020: the target of the anchor, times two to the power of the delay in half-lives. The
// power of the fraction is a cubic approximation in fixed-point numbers of 16 bits.
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
