package rules

import (
	"math/big"
	"time"

	"github.com/btcsuite/btcd/blockchain"
	"github.com/btcsuite/btcd/chaincfg/v2"
)

// FullPeriods implements [Difficulty] for Litecoin. It differs from Bitcoin's rule in that the time of a period is
// measured from the last block of the previous period, so that it includes all 2016 intervals. The first period is
// measured from block 0.
func FullPeriods(p *chaincfg.Params, parent blockchain.HeaderCtx, at int64) (bits uint32, ok bool) {
	back := period(p)
	if parent.Height() < back {
		back--
	}
	return retarget(p, parent, at, back)
}

// retarget returns the difficulty by Bitcoin's rule. The time of a period is measured from the block that is back blocks
// before the last block of the period.
func retarget(p *chaincfg.Params, parent blockchain.HeaderCtx, at int64, back int32) (bits uint32, ok bool) {
	if p.PoWNoRetargeting {
		return p.PowLimitBits, true
	}
	if (parent.Height()+1)%period(p) != 0 {
		return betweenRetargets(p, parent, at), true
	}
	first := parent.RelativeAncestorCtx(back)
	if first == nil {
		return 0, false
	}
	timespan := int64(p.TargetTimespan / time.Second)
	actual := parent.Timestamp() - first.Timestamp()
	actual = min(max(actual, timespan/p.RetargetAdjustmentFactor), timespan*p.RetargetAdjustmentFactor)
	target := blockchain.CompactToBig(parent.Bits())
	target.Mul(target, big.NewInt(actual)).Div(target, big.NewInt(timespan))
	return limited(p, target), true
}

// betweenRetargets returns the difficulty of a block that does not begin a period.
func betweenRetargets(p *chaincfg.Params, parent blockchain.HeaderCtx, at int64) uint32 {
	switch {
	case !p.ReduceMinDifficulty:
		return parent.Bits()
	case late(p, parent, at):
		return p.PowLimitBits
	}
	for parent.Height()%period(p) != 0 && parent.Bits() == p.PowLimitBits {
		before := parent.Parent()
		if before == nil {
			break
		}
		parent = before
	}
	return parent.Bits()
}

// late reports whether a block of a test network may have the easiest target because of the time since its parent.
func late(p *chaincfg.Params, parent blockchain.HeaderCtx, at int64) bool {
	return p.ReduceMinDifficulty && at > parent.Timestamp()+int64(p.MinDiffReductionTime/time.Second)
}

// limited returns the compact form of target, or of the easiest target of the network if target is easier.
func limited(p *chaincfg.Params, target *big.Int) uint32 {
	if target.Cmp(p.PowLimit) > 0 {
		return p.PowLimitBits
	}
	return blockchain.BigToCompact(target)
}

// period returns the number of blocks in a difficulty period.
func period(p *chaincfg.Params) int32 { return int32(p.TargetTimespan / p.TargetTimePerBlock) }
