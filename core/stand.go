package core

import (
	"errors"
	"fmt"

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

// readStand is that of the snapshot r reads.
func (db *DB) readStand(r storage.Reader) (s stand, err error) {
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
	if s.totals, err = db.parseTotals(counted); err != nil {
		return s, fmt.Errorf("meta totals: %w", err)
	}
	if work != nil {
		if s.work, err = db.catalogue().parseWork(work); err != nil {
			return s, fmt.Errorf("meta work: %w", err)
		}
	}
	return s, nil
}

// parseTotals parses the row, or has parsed it before.
func (db *DB) parseTotals(row []byte) (totals, error) {
	if row == nil {
		return totals{}, errors.New("there are none: run check")
	}
	if last := db.lastTotals.Load(); last != nil && last.row == string(row) {
		return last.totals, nil
	}
	t, err := parseTotals(row)
	if err == nil {
		db.lastTotals.Store(&parsedTotals{string(row), t})
	}
	return t, err
}
