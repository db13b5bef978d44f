package core

import (
	"errors"
	"fmt"
	"sync/atomic"

	"birthmark/model"
	"birthmark/storage"
)

// stand is what meta says of the chain: how far it goes, how much there is of everything, and what is being added or
// dropped. Every question reads it first.
type stand struct {
	tip    model.Point // the origin before the first block
	totals totals      // not to be changed: others have the same
	work   *indexWork
}

// parsedTotals are totals and the row they were parsed from.
type parsedTotals struct {
	row string
	totals
}

// stateReader reads the state of snapshots. It remembers the totals that it parsed last.
type stateReader struct{ last atomic.Pointer[parsedTotals] }

// read returns the state of the snapshot of r.
func (sr *stateReader) read(r storage.Reader, c *catalogue) (s stand, err error) {
	rows, err := r.GetMany(familyMeta, [][]byte{metaTip, metaTotals, metaWork})
	if err != nil {
		return s, err
	}
	tip, counted, work := rows[0], rows[1], rows[2]
	if tip != nil {
		if s.tip, err = parseTip(tip); err != nil {
			return s, fmt.Errorf("meta tip: %w", err)
		}
	}
	if s.totals, err = sr.parseTotals(counted); err != nil {
		return s, fmt.Errorf("meta totals: %w", err)
	}
	if work != nil {
		if s.work, err = c.parseWork(work); err != nil {
			return s, fmt.Errorf("meta work: %w", err)
		}
	}
	return s, nil
}

// parseTotals parses the row, or has parsed it before.
func (sr *stateReader) parseTotals(row []byte) (totals, error) {
	if row == nil {
		return totals{}, errors.New("there are none: run check")
	}
	if last := sr.last.Load(); last != nil && last.row == string(row) {
		return last.totals, nil
	}
	t, err := parseTotals(row)
	if err == nil {
		sr.last.Store(&parsedTotals{string(row), t})
	}
	return t, err
}
