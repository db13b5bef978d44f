package blockfrost

import (
	"sort"
	"time"

	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// root answers where the documentation of the API is, and the version of this program.
func root(c *call) (any, error) { return &rootValue{"https://blockfrost.io/", c.Version}, nil }

// health answers whether the database is near the tip of its source.
func health(c *call) (any, error) { return &healthValue{c.InSync()}, nil }

// clock answers the time of the server in milliseconds.
func clock(*call) (any, error) { return &clockValue{time.Now().UnixMilli()}, nil }

// genesis answers the constants of the network.
func genesis(c *call) (any, error) {
	if c.network == nil {
		return nil, errNoNetwork
	}
	return c.network, nil
}

var errNoNetwork = notImplemented("this server has the constants of public networks only")

// networks are the public networks by name.
var networks = map[string]*networkValue{
	"mainnet": {0.05, 5, "45000000000000000", 764824073, 432000, 1506203091, 129600, 1, 62, 2160},
	"preprod": {0.05, 5, "45000000000000000", 1, 432000, 1654041600, 129600, 1, 62, 2160},
	"preview": {0.05, 5, "45000000000000000", 2, 86400, 1666656000, 129600, 1, 62, 432},
}

const byronSlotSeconds = 20

// networkEras answers the eras up to that of the tip. An era begins with the epoch of its first block, and one without
// blocks ends where it begins. The last one ends with the epoch in which its safe zone after the tip ends.
func networkEras(v *view) (any, error) {
	if v.network == nil {
		return nil, errNoNetwork
	}
	first, err := v.firstBlock()
	if err != nil {
		return nil, err
	}
	tip, err := v.blockAt(v.Q.Tip.Height)
	if err != nil {
		return nil, err
	}
	bound := eraBound{}
	all := []eraValue{}
	for era := ledger.EraByron; era <= int(tip.Header[0]); era++ {
		e := eraValue{Start: bound, Parameters: v.eraParameters(era)}
		if era == int(tip.Header[0]) {
			bound, err = v.epochAfter(tip.Parsed.Slot + 1 + e.Parameters.SafeZone)
		} else {
			bound, err = v.eraStart(first, era+1)
		}
		if err != nil {
			return nil, err
		}
		e.End = bound
		all = append(all, e)
	}
	return all, nil
}

// eraParameters returns the constants of an era. The safe zone is twice the security parameter in Byron; later it is
// the number of slots in which three times as many blocks are expected.
func (v *view) eraParameters(era int) eraParameters {
	k := uint64(v.network.SecurityParam)
	if era == ledger.EraByron {
		return eraParameters{10 * k, byronSlotSeconds, 2 * k}
	}
	return eraParameters{uint64(v.network.EpochLength), v.network.SlotLength, uint64(3 * float64(k) / v.network.ActiveSlotsCoefficient)}
}

// eraStart returns where the epoch of the first block of an era, or of a later one, begins.
func (v *view) eraStart(first model.HeightPk, era int) (eraBound, error) {
	var failed error
	n := sort.Search(int(v.Q.Tip.Height-first)+1, func(i int) bool {
		row, err := v.Q.BlockRow(first + model.HeightPk(i))
		if err != nil {
			failed = err
			return true
		}
		return int(row.Header[0]) >= era
	})
	if failed != nil {
		return eraBound{}, failed
	}
	row, err := v.blockAt(first + model.HeightPk(n))
	if err != nil {
		return eraBound{}, err
	}
	return v.epochBound(*row.Parsed.Epoch)
}

// epochAfter returns the first beginning of an epoch from a slot on.
func (v *view) epochAfter(slot uint64) (eraBound, error) {
	tip, err := v.blockAt(v.Q.Tip.Height)
	if err != nil {
		return eraBound{}, err
	}
	for epoch := *tip.Parsed.Epoch; ; epoch++ {
		if b, err := v.epochBound(epoch); err != nil || b.Slot >= slot {
			return b, err
		}
	}
}

func (v *view) epochBound(epoch uint64) (eraBound, error) {
	slot, _, err := v.epochSlots(epoch)
	if err != nil {
		return eraBound{}, err
	}
	unix, _ := v.Chain.Model.(withEpochs).SlotTime(slot) // known if the epoch is
	return eraBound{unix - int64(v.network.SystemStart), slot, epoch}, nil
}
