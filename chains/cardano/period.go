package cardano

import (
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// Period implements [model.PeriodReporter]: the epoch of the slot of a block.
func (c *chain) Period(_ model.HeightPk, header []byte) (model.Period, bool, error) {
	h, err := ledger.ParseHeader(c.net, header)
	if err != nil || h.Epoch == nil {
		return model.Period{}, false, err
	}
	first, slots := c.net.EpochSlots(*h.Epoch)
	seconds := float64(c.net.Time(first+slots)-c.net.Time(first)) / float64(slots)
	return model.Period{
		Name: "epoch", Number: *h.Epoch, Unit: "slot", Done: h.Slot - first + 1, Length: slots, Seconds: seconds,
	}, true, nil
}
