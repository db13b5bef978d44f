package events

import (
	"context"
	"sync"

	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/model"
)

// position is how far a subscriber has come.
type position struct {
	at     model.Point       // last complete block
	known  []model.Point     // the locator of at
	id     string            // of at
	within *changes.Position // last event of the block after at; nil: none
}

// cachedPositions is the size of the cache. Subscribers at the tip are at one or two positions.
const cachedPositions = 32

// positions returns positions, and caches recent ones, which take some tens of reads.
type positions struct {
	ids ids

	mu   sync.Mutex
	kept [cachedPositions]position
	next int
}

// of returns the position at p, a block of the view's chain or the origin. It is the same in every view with that block.
func (ps *positions) of(ctx context.Context, v *query.View, p model.Point) (position, error) {
	if found, ok := ps.find(p); ok {
		return found, nil
	}
	known, err := changes.Locator(ctx, v.Queries, p)
	if err != nil {
		return position{}, err
	}
	made := position{at: p, known: known, id: ps.ids.id(known)}
	ps.mu.Lock()
	defer ps.mu.Unlock()
	ps.kept[ps.next%cachedPositions] = made
	ps.next++
	return made, nil
}

func (ps *positions) find(p model.Point) (position, bool) {
	ps.mu.Lock()
	defer ps.mu.Unlock()
	for _, kept := range ps.kept {
		if kept.id != "" && kept.at == p {
			return kept, true
		}
	}
	return position{}, false
}
