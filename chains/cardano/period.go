package cardano

import (
	"birthmark/chains/cardano/genesis"
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

// EpochSlots returns the first slot of an epoch, and the number of its slots; ok is false if only the name of the network
// is known.
func (c *chain) EpochSlots(epoch uint64) (first, slots uint64, ok bool) {
	if c.net.IsUnnamed() {
		return 0, 0, false
	}
	first, slots = c.net.EpochSlots(epoch)
	return first, slots, true
}

// Genesis returns the hash of the Byron genesis, which precedes the first block, its time, and its outputs; nil if only the
// name of the network is known.
func (c *chain) Genesis() (hash string, unix int64, outputs []genesis.Output, err error) {
	if c.net.IsUnnamed() {
		return "", 0, nil, nil
	}
	outputs, err = c.net.Outputs()
	return c.net.ByronHash, c.net.Time(0), outputs, err
}

// SlotTime returns when a slot began, in Unix seconds; ok is false if only the name of the network is known.
func (c *chain) SlotTime(slot uint64) (unix int64, ok bool) {
	return c.net.Time(slot), !c.net.IsUnnamed()
}
