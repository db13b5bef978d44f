package ergo

import (
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// Lengths of the epochs after which the difficulty changes. EIP-37 shortened them.
const (
	firstEpoch   = 1024
	eip37Epoch   = 128
	eip37Mainnet = 844_673 // first block of an epoch of EIP-37; the testnet had these epochs from the start
)

const blockSeconds = 120 // that a block is meant to take

// Difficulty implements [model.DifficultyReporter].
func (c *chain) Difficulty(header []byte) (float64, error) {
	h, err := sigma.ParseHeader(header)
	if err != nil {
		return 0, err
	}
	d, _ := h.Difficulty().Float64()
	return d, nil
}

// Hashes implements [model.DifficultyReporter]: the difficulty is the number of hashes.
func (c *chain) Hashes() (number float64, perSecond string) { return 1, "H/s" }

// Period implements [model.PeriodReporter]: the epoch of a block. Numbers count epochs of the length at that height.
func (c *chain) Period(height model.HeightPk, _ []byte) (model.Period, bool, error) {
	length := uint64(eip37Epoch)
	if c.net == networks[0] && height < eip37Mainnet {
		length = firstEpoch
	}
	n := uint64(max(height, firstHeight)) - firstHeight
	return model.Period{
		Name: "epoch", Number: n / length, Unit: "block", Done: n%length + 1, Length: length, Seconds: blockSeconds,
	}, true, nil
}
