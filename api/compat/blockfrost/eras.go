package blockfrost

import (
	"sort"

	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/chains/cardano/ledger"
	"birthmark/model"
)

// eraBound is the beginning or the end of an era. Time is in seconds since the start of the network.
type eraBound struct {
	Time  int64  `json:"time"`
	Slot  uint64 `json:"slot"`
	Epoch uint64 `json:"epoch"`
}

type eraParameters struct {
	EpochLength uint64 `json:"epoch_length"`
	SlotLength  int    `json:"slot_length"`
	SafeZone    uint64 `json:"safe_zone"` // slots in which no hard fork can happen
}

type eraJSON struct {
	Start      eraBound      `json:"start"`
	End        eraBound      `json:"end"`
	Parameters eraParameters `json:"parameters"`
}

const byronSlotSeconds = 20

// networkEras answers the eras up to that of the tip. An era begins with the epoch of its first block, and one without
// blocks ends where it begins. The last one ends with the epoch in which its safe zone after the tip ends.
func networkEras(q *request) error {
	if q.Network == nil {
		return exchange.NotImplemented("this server has the constants of public networks only")
	}
	first, err := q.firstBlock()
	if err != nil {
		return err
	}
	tip, err := q.Block(q.Q.Tip.Height)
	if err != nil {
		return err
	}
	bound := eraBound{}
	all := []eraJSON{}
	for era := ledger.EraByron; era <= int(tip.Header[0]); era++ {
		e := eraJSON{Start: bound, Parameters: q.eraParameters(era)}
		if era == int(tip.Header[0]) {
			bound, err = q.epochAfter(tip.Parsed.Slot + 1 + e.Parameters.SafeZone)
		} else {
			bound, err = q.eraStart(first, era+1)
		}
		if err != nil {
			return err
		}
		e.End = bound
		all = append(all, e)
	}
	q.Answer = all
	return nil
}

// eraParameters returns the constants of an era. The safe zone is twice the security parameter in Byron; later it is the
// number of slots in which three times as many blocks are expected.
func (q *request) eraParameters(era int) eraParameters {
	k := uint64(q.Network.SecurityParam)
	if era == ledger.EraByron {
		return eraParameters{10 * k, byronSlotSeconds, 2 * k}
	}
	return eraParameters{uint64(q.Network.EpochLength), q.Network.SlotLength, uint64(3 * float64(k) / q.Network.ActiveSlotsCoefficient)}
}

// eraStart returns where the epoch of the first block of an era, or of a later one, begins.
func (q *request) eraStart(first model.HeightPk, era int) (eraBound, error) {
	var failed error
	n := sort.Search(int(q.Q.Tip.Height-first)+1, func(i int) bool {
		row, err := q.Q.BlockRow(first + model.HeightPk(i))
		if err != nil {
			failed = err
			return true
		}
		return int(row.Header[0]) >= era
	})
	if failed != nil {
		return eraBound{}, failed
	}
	row, err := q.Block(first + model.HeightPk(n))
	if err != nil {
		return eraBound{}, err
	}
	return q.epochBound(*row.Parsed.Epoch)
}

// epochAfter returns the first beginning of an epoch from a slot on.
func (q *request) epochAfter(slot uint64) (eraBound, error) {
	tip, err := q.Block(q.Q.Tip.Height)
	if err != nil {
		return eraBound{}, err
	}
	for epoch := *tip.Parsed.Epoch; ; epoch++ {
		if b, err := q.epochBound(epoch); err != nil || b.Slot >= slot {
			return b, err
		}
	}
}

func (q *request) epochBound(epoch uint64) (eraBound, error) {
	slot, _, err := q.EpochSlots(epoch)
	if err != nil {
		return eraBound{}, err
	}
	unix, _ := q.Chain.Model.(exchange.Epochs).SlotTime(slot) // known if the epoch is
	return eraBound{unix - int64(q.Network.SystemStart), slot, epoch}, nil
}
