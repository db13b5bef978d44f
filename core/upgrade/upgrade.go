// Package upgrade brings databases of earlier formats to the current one.
//
// Each step of steps leads from one format to the next. It reads the stored rows only, so it needs neither a source nor
// the chain, and works at the speed of a scan. Its writes are atomic and repeat nothing after an interruption: a row of
// meta has the progress. The last write of a step also stores the new format. A change of [schema.FormatVersion] adds a
// step here, with a test whose database an earlier release wrote.
package upgrade

import (
	"context"
	"encoding/binary"
	"fmt"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// metaProgress is the row of meta with the progress of a step: uvarint format|tip of meta|state of the step. Programs of
// the old format can write to the database in between: the step then begins again, as the tip differs.
var metaProgress = []byte("upgrade")

// step brings the rows of a format to the next one. It calls save with its state after each part of its work, and
// returns the writes of its end. state is what it saved last; nil at its beginning.
type step func(ctx context.Context, u *upgrader, state []byte) (finish func(storage.Reader, storage.Batch) error, err error)

// steps has a step per earlier format.
var steps = map[int]step{5: separateRawChecksum}

// Oldest is the earliest format that [Run] accepts.
const Oldest = 5

// Options control an upgrade.
type Options struct {
	Progress func(done, total uint64) // called with numbers of rows; nil: none
	Part     int                      // rows between two writes of the progress; 0: defaultPart
}

const defaultPart = 1_000_000

// Run upgrades the database of a store, and returns the format that it had. A database of the current format does not
// change. Errors: Refused with no_database, wrong_format if the format is unknown, replica for the database of a replica.
func Run(ctx context.Context, s storage.Store, o Options) (from int, err error) {
	if o.Part == 0 {
		o.Part = defaultPart
	}
	if o.Progress == nil {
		o.Progress = func(uint64, uint64) {}
	}
	declared := []storage.Declaration{schema.Schema[schema.FamilyMeta].Declaration, schema.SegmentFamily}
	if err := s.Declare(declared...); err != nil {
		return 0, err
	}
	for first := true; ; first = false {
		format, err := formatOf(ctx, s)
		if err != nil {
			return 0, err
		}
		if first {
			from = format
		}
		if format == schema.FormatVersion {
			return from, nil
		}
		do, known := steps[format]
		if !known {
			return from, model.Errorf(model.Refused, "wrong_format", "the database has format %d, this program upgrades the formats %d to %d: "+
				"use the program that wrote it", format, Oldest, schema.FormatVersion-1)
		}
		if err := (&upgrader{Store: s, Options: o, format: format}).run(ctx, do); err != nil {
			return from, fmt.Errorf("upgrade from format %d: %w", format, err)
		}
	}
}

// formatOf returns the format of the database.
func formatOf(ctx context.Context, s storage.Store) (format int, err error) {
	err = s.View(ctx, func(r storage.Reader) error {
		id, known, err := schema.ReadIdentity(r)
		if err != nil {
			return err
		}
		if !known {
			return model.Errorf(model.Refused, "no_database", "the database is empty: nothing was synced into it yet")
		}
		primary, err := schema.ReadPrimary(r)
		if primary != "" {
			return model.Errorf(model.Refused, "replica", "the database is a replica of %s: upgrade the primary, and run birthmark replicate "+
				"into a new folder", primary)
		}
		format = id.Format
		return err
	})
	return format, err
}

// upgrader runs one step.
type upgrader struct {
	storage.Store
	Options
	format int
}

func (u *upgrader) run(ctx context.Context, do step) error {
	state, err := u.saved(ctx)
	if err != nil {
		return err
	}
	finish, err := do(ctx, u, state)
	if err != nil {
		return err
	}
	return u.Update(ctx, func(r storage.Reader, b storage.Batch) error {
		if err := finish(r, b); err != nil {
			return err
		}
		b.Delete(schema.FamilyMeta, metaProgress)
		b.Put(schema.FamilyMeta, schema.MetaFormat, binary.AppendUvarint(nil, uint64(u.format+1)))
		return nil
	})
}

// head returns what the row of the progress begins with.
func (u *upgrader) head(r storage.Reader) ([]byte, error) {
	rows, err := r.GetMany(schema.FamilyMeta, [][]byte{schema.MetaTip})
	if err != nil {
		return nil, err
	}
	head := binary.AppendUvarint(nil, uint64(u.format))
	return append(binary.AppendUvarint(head, uint64(len(rows[0]))), rows[0]...), nil
}

// saved returns the saved state of the step; nil if there is none.
func (u *upgrader) saved(ctx context.Context) (state []byte, err error) {
	err = u.View(ctx, func(r storage.Reader) error {
		head, err := u.head(r)
		if err != nil {
			return err
		}
		rows, err := r.GetMany(schema.FamilyMeta, [][]byte{metaProgress})
		if err == nil && len(rows[0]) > len(head) && string(rows[0][:len(head)]) == string(head) {
			state = append(state, rows[0][len(head):]...)
		}
		return err
	})
	return state, err
}

// save stores the state of the step, which is not empty.
func (u *upgrader) save(ctx context.Context, state []byte) error {
	return u.Update(ctx, func(r storage.Reader, b storage.Batch) error {
		head, err := u.head(r)
		b.Put(schema.FamilyMeta, metaProgress, append(head, state...))
		return err
	})
}
