package schema

import (
	"errors"
	"fmt"
	"sync/atomic"

	"birthmark/model"
	"birthmark/storage"
)

// State is the state of a database: the tip, the totals, and the index change in progress. Every query reads it first.
type State struct {
	Tip    model.Point // the origin before the first block
	Totals Totals      // read-only: shared with other readers
	Change *IndexChange
}

// parsedTotals are totals and the row they were decoded from.
type parsedTotals struct {
	row string
	Totals
}

// versionState is the state of the snapshots of a version, for a layout.
type versionState struct {
	version uint64
	layout  *Layout
	State
}

// StateReader reads the state of snapshots. It caches the last decoded totals, and the state of the last version of a
// store that has versions.
type StateReader struct {
	last    atomic.Pointer[parsedTotals]
	version atomic.Pointer[versionState]
}

// Read returns the state of the snapshot of r, which other readers share.
func (sr *StateReader) Read(r storage.Reader, l *Layout) (State, error) {
	v, ok := r.(storage.Versioned)
	if !ok {
		return sr.read(r, l)
	}
	version, ok := v.Version()
	if !ok {
		return sr.read(r, l)
	}
	if last := sr.version.Load(); last != nil && last.version == version && last.layout == l {
		return last.State, nil
	}
	s, err := sr.read(r, l)
	if err == nil {
		sr.version.Store(&versionState{version, l, s})
	}
	return s, err
}

func (sr *StateReader) read(r storage.Reader, l *Layout) (s State, err error) {
	rows, err := r.GetMany(FamilyMeta, [][]byte{MetaTip, MetaTotals, MetaChange})
	if err != nil {
		return s, err
	}
	tip, counted, work := rows[0], rows[1], rows[2]
	if tip != nil {
		if s.Tip, err = ParseTip(tip); err != nil {
			return s, fmt.Errorf("meta tip: %w", err)
		}
	}
	if s.Totals, err = sr.parseTotals(counted); err != nil {
		return s, fmt.Errorf("meta totals: %w", err)
	}
	if work != nil {
		if s.Change, err = l.parseChange(work); err != nil {
			return s, fmt.Errorf("meta work: %w", err)
		}
	}
	return s, nil
}

// parseTotals decodes the row, or returns the cached totals of an equal row.
func (sr *StateReader) parseTotals(row []byte) (Totals, error) {
	if row == nil {
		return Totals{}, errors.New("there are none: run check")
	}
	if last := sr.last.Load(); last != nil && last.row == string(row) {
		return last.Totals, nil
	}
	t, err := ParseTotals(row)
	if err == nil {
		sr.last.Store(&parsedTotals{string(row), t})
	}
	return t, err
}
