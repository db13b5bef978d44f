package events

import (
	"context"
	"sync"

	"birthmark/core/query"
	"birthmark/model"
)

// place is how far a client is.
type place struct {
	at     model.Point     // the last block it was told of, or rolled back to
	known  []model.Point   // the locator of at
	id     string          // of at
	within *query.Position // of the block behind at; nil: it was told nothing of it
}

// keptPlaces is how many are remembered: clients at the tip are all at one place, or at the one before.
const keptPlaces = 32

// places makes places. The newest are remembered, for they cost some tens of reads.
type places struct {
	ids ids

	mu   sync.Mutex
	kept [keptPlaces]place
	next int
}

// of is the place at p, a block of the view's chain or the origin. What is below a block never changes, so it is the same in
// every view.
func (ps *places) of(ctx context.Context, v *query.View, p model.Point) (place, error) {
	if found, ok := ps.find(p); ok {
		return found, nil
	}
	known, err := v.FollowLocator(ctx, p)
	if err != nil {
		return place{}, err
	}
	made := place{at: p, known: known, id: ps.ids.id(known)}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.kept[ps.next%keptPlaces] = made
	ps.next++
	return made, nil
}

func (ps *places) find(p model.Point) (place, bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, kept := range ps.kept {
		if kept.id != "" && kept.at == p {
			return kept, true
		}
	}
	return place{}, false
}
