package bitcoin

import "birthmark/model"

// Difficulty implements [model.DifficultyReporter].
func (c *chain) Difficulty(header []byte) (float64, error) {
	h, err := c.parseHeader(header)
	if err != nil {
		return 0, err
	}
	return h.Difficulty, nil
}

// hashes is the expected number of hashes at difficulty 1 (GetBlockProof of Core): 2^256 / (target + 1).
const hashes = 1 << 48 / float64(0xffff)

// Hashes implements [model.DifficultyReporter].
func (c *chain) Hashes() (number float64, perSecond string) {
	if c.net.Coin.HashRate == "" {
		return 0, ""
	}
	return hashes, c.net.Coin.HashRate
}

// Period implements [model.PeriodReporter]: the blocks between two adjustments of the difficulty.
func (c *chain) Period(height model.HeightPk, _ []byte) (model.Period, bool, error) {
	if c.net.Rules == nil || c.net.Peers != nil && !c.net.Peers.Periods {
		return model.Period{}, false, nil
	}
	length := uint64(c.net.Rules.BlocksPerRetarget())
	p := c.net.Rules.ChainParams()
	return model.Period{
		Name: "difficulty period", Number: uint64(height) / length, Unit: "block", Done: uint64(height)%length + 1, Length: length,
		Seconds: p.TargetTimePerBlock.Seconds(), Proportional: true,
	}, !p.PoWNoRetargeting, nil
}
