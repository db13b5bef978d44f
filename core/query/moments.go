package query

import "birthmark/model"

// confirmations returns the number of blocks from height h up to the tip.
func (q *Query) confirmations(h model.HeightPk) uint32 { return uint32(q.Tip.Height-h) + 1 }
