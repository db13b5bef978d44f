package genesis

import (
	"math"
	"math/bits"
	"strings"
	"time"

	"birthmark/chains/adapter"
	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// Network has the parameters of a Cardano network, from its genesis files.
type Network struct {
	address.Network

	start      int64         // Unix time of slot 0
	ByronSlots uint64        // slots of Byron, at the start of the chain
	byronSlot  time.Duration // duration of a Byron slot, at most 2^32 ms
	ByronEpoch uint64        // slots in an epoch of Byron
	slot       time.Duration // duration of a later slot, at most [maxSlotLength]
	epochSlots uint64        // slots in a later epoch
	Supply     uint64        // maximum supply in lovelace

	ByronHash, shelleyHash string   // of the genesis files
	genesis                []Output // from genesis files; nil if none were read

	Checkpoints adapter.Checkpoints
}

const (
	// SecurityParam is k of mainnet, the most blocks a node rolls back. That of no network is larger.
	SecurityParam = 2160

	ByronEpochSlots = 21_600 // ten times mainnet's k of 2,160
	publicByronSlot = 20 * time.Second
	publicSupply    = 45_000_000_000_000_000
	maxSlotLength   = time.Hour
)

// networks are the networks with a name, the default first. On preview Byron ended before its first slot.
var networks = adapter.Networks[*Network]{
	{Network: address.Mainnet, start: 1506203091, ByronSlots: 208 * ByronEpochSlots, ByronEpoch: ByronEpochSlots, byronSlot: publicByronSlot, epochSlots: 432_000, slot: time.Second, Supply: publicSupply,
		ByronHash: "5f20df933584822601f9e3f8c024eb5eb252fe8cefb24d1317dc3d432e940ebb", shelleyHash: "1a3be38bcbb7911969283716ad7aa550250226b76a61fc51cc9a9a35d9276d81",
		Checkpoints: adapter.Checkpoints{
			21_586:    "3bd04916b6bc2ad849d519cfae4ffe3b1a1660c098dbcd3e884073dd54bc8911",
			4_803_226: "ec52fac705fe3ee7d2e068e11b9028183dd6ca6bdbababf59d725c3021124565",
		}},
	{Network: address.Preprod, start: 1654041600, ByronSlots: 4 * ByronEpochSlots, ByronEpoch: ByronEpochSlots, byronSlot: publicByronSlot, epochSlots: 432_000, slot: time.Second, Supply: publicSupply,
		ByronHash: "d4b8de7a11d929a323373cbab6c1a9bdc931beffff11db111cf9d57356ee1937", shelleyHash: "162d29c4e1cf6b8a84f2d692e67a3ac6bc7851bc3e6e4afe64d15778bed8bd86",
		Checkpoints: adapter.Checkpoints{911_275: "501a67d6b7d11ee12a69f87c3c799515af638620b123a11e668a39b8c17e42b6"}},
	{Network: address.Preview, start: 1666656000, ByronEpoch: 4_320, byronSlot: publicByronSlot, epochSlots: 86_400, slot: time.Second, Supply: publicSupply,
		ByronHash: "83de1d7302569ad56cf9139a41e2e11346d4cb4a31c00142557b6ab3fa550761", shelleyHash: "363498d1024f84bb39d3fa9593ce391483cb40d479b87233f868d6e57c3a400d",
		Checkpoints: adapter.Checkpoints{50_939: "6070bd7d3b28d2bcc241c7c91e48e82f8b3ab4fc4370b9e3233ee2069dde75e2"}},
}

// Public reports whether the network is one of [Names].
func (n *Network) Public() bool {
	_, public := networks.Find(n.Name)
	return public
}

// String returns the name of the network.
func (n *Network) String() string { return n.Name }

// Names returns the names of the networks that need no genesis files, the default first.
func Names() []string { return networks.Names() }

// ByName returns a network by its name; "" is mainnet. Of an unnamed network only the name is known. An error is of kind
// [model.Usage], code unknown_network.
func ByName(name string) (*Network, error) {
	if n, ok := networks.Find(name); ok {
		return n, nil
	}
	if n, ok := unnamed(name); ok {
		return n, nil
	}
	return nil, model.Errorf(model.Usage, "unknown_network", "unknown network %s of cardano: expected %s, or the folder of its genesis files",
		adapter.Quote(name), strings.Join(Names(), ", "))
}

// Time returns when a slot began, in whole Unix seconds. It saturates for slots beyond the range of int64.
func (n *Network) Time(slot uint64) int64 {
	byron := min(slot, n.ByronSlots)
	high, low := bits.Mul64(byron, uint64(n.byronSlot))
	more, since := bits.Mul64(slot-byron, uint64(n.slot))
	low, carry := bits.Add64(low, since, 0)
	seconds := uint64(math.MaxUint64)
	if high += more + carry; high < uint64(time.Second) {
		seconds, _ = bits.Div64(high, low, uint64(time.Second))
	}
	return n.start + int64(min(seconds, math.MaxInt64/2))
}

// Epoch returns the epoch of a slot.
func (n *Network) Epoch(slot uint64) uint64 {
	if slot < n.ByronSlots {
		return slot / n.ByronEpoch
	}
	return n.ByronSlots/n.ByronEpoch + (slot-n.ByronSlots)/n.epochSlots
}

// EpochSlots returns the first slot of an epoch, and the number of its slots.
func (n *Network) EpochSlots(epoch uint64) (first, slots uint64) {
	if byron := n.ByronSlots / n.ByronEpoch; epoch >= byron {
		return n.ByronSlots + (epoch-byron)*n.epochSlots, n.epochSlots
	}
	return epoch * n.ByronEpoch, n.ByronEpoch
}
