package cardano

import (
	"slices"
	"strings"

	"birthmark/model"
)

// network is what tells one Cardano network from another. The figures are those of its genesis files.
type network struct {
	name    string
	magic   uint32 // of the handshake, and of Byron's addresses where testnet is set
	testnet bool   // addresses say that they are of one

	start      int64  // unix time of slot 0
	byronSlots uint64 // slots of Byron, 20 seconds each; all later ones take a second
	byronEpoch uint64 // slots in an epoch of Byron
	epoch      uint64 // slots in an epoch since
}

const (
	byronSlotSeconds = 20
	byronEpochSlots  = 21_600 // ten times mainnet's k of 2,160
)

// networks are those whose names are known, the default first. On preview Byron ended before its first slot.
var networks = []*network{
	{name: "mainnet", magic: 764824073, start: 1506203091, byronSlots: 208 * byronEpochSlots, byronEpoch: byronEpochSlots, epoch: 432_000},
	{name: "preprod", magic: 1, testnet: true, start: 1654041600, byronSlots: 4 * byronEpochSlots, byronEpoch: byronEpochSlots, epoch: 432_000},
	{name: "preview", magic: 2, testnet: true, start: 1666656000, byronEpoch: 4_320, epoch: 86_400},
}

// Networks are the names of the networks that need no genesis files, the default first.
func Networks() []string {
	names := make([]string, len(networks))
	for i, n := range networks {
		names[i] = n.name
	}
	return names
}

func networkByName(name string) (*network, error) {
	i := slices.IndexFunc(networks, func(n *network) bool { return n.name == name })
	if i < 0 {
		return nil, model.Errorf(model.Usage, "unknown_network",
			"unknown network %q of cardano: expected %s", name, strings.Join(Networks(), ", "))
	}
	return networks[i], nil
}

// time is when a slot began, in unix seconds.
func (n *network) time(slot uint64) int64 {
	byron := min(slot, n.byronSlots)
	return n.start + int64(byron*byronSlotSeconds+slot-byron)
}

// epochOf is the epoch that has a slot.
func (n *network) epochOf(slot uint64) uint64 {
	if slot < n.byronSlots {
		return slot / n.byronEpoch
	}
	return n.byronSlots/n.byronEpoch + (slot-n.byronSlots)/n.epoch
}
