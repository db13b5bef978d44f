package query

import "birthmark/model"

// confirmations returns the number of blocks from height h up to the tip.
func (q *Query) confirmations(h model.HeightPk) uint32 { return uint32(q.Tip.Height-h) + 1 }

// setMoments sets the confirmations and the block times of outputs. Genesis outputs have neither.
func (q *Query) setMoments(answers []OutputAnswer, pks []model.UtxoPk) error {
	heights := make([]model.HeightPk, 0, len(pks))
	for _, pk := range pks {
		if !q.IsGenesis(pk.Tx()) {
			heights = append(heights, pk.Height())
		}
	}
	times, err := q.BlockTimes(heights)
	if err != nil {
		return err
	}
	for i, pk := range pks {
		if !q.IsGenesis(pk.Tx()) {
			answers[i].Confirmations, answers[i].BlockTime = q.confirmations(pk.Height()), times[pk.Height()]
		}
	}
	return nil
}
