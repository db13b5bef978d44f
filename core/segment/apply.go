package segment

import (
	"context"
	"crypto/sha256"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Apply writes a segment to the store of a replica as one update. families are the numbers of the families by name, all
// declared. The error is Refused (diverged) if the segment does not continue the database, and BadSource (bad_segment)
// if its number is not the next one.
func Apply(ctx context.Context, store storage.Store, s *Segment, families map[string]storage.Family) error {
	return store.Update(ctx, func(r storage.Reader, b storage.Batch) error {
		if err := s.check(r); err != nil {
			return err
		}
		for _, f := range s.Families {
			number, ok := families[f.Name]
			if !ok {
				return damaged("segment %d: the database has no family %.60q", s.Seq, f.Name)
			}
			for i := range f.Rows {
				if row := &f.Rows[i]; row.Deleted {
					b.Delete(number, row.Key)
				} else {
					b.Put(number, row.Key, row.Value)
				}
			}
		}
		b.Put(schema.FamilySegments, schema.SegmentPosition, schema.AppendPosition(nil, &s.Position))
		return nil
	})
}

// check returns an error if the segment is not the next update of the database.
func (s *Segment) check(r storage.Reader) error {
	at, known, err := schema.ReadPosition(r)
	if err != nil {
		return err
	}
	rows, err := r.GetMany(schema.FamilyMeta, [][]byte{schema.MetaTip, schema.MetaIndexes})
	if err != nil {
		return err
	}
	tip, err := tipOf(rows[0])
	if err != nil {
		return err
	}
	if !known {
		at.Lineage = s.Lineage
		if s.Seq == 1 && rows[1] != nil {
			return Diverged("the database is neither empty nor a copy of a primary that records segments")
		}
	}
	switch {
	case s.Lineage != at.Lineage && (s.Kind != Promotion || s.Origin != at.Lineage):
		return Diverged("segment %d has the lineage %x, the database %x", s.Seq, s.Lineage, at.Lineage)
	case s.Seq != at.Seq+1:
		return damaged("segment %d follows update %d: expected segment %d", s.Seq, at.Seq, at.Seq+1)
	case s.Previous != at.Hash:
		return Diverged("segment %d continues another update %d than the one of the database", s.Seq, at.Seq)
	case s.From != tip:
		return Diverged("segment %d continues block %d %x, the tip of the database is block %d %x",
			s.Seq, s.From.Height, s.From.Hash, tip.Height, tip.Hash)
	case s.Catalogue != sha256.Sum256(rows[1]):
		return Diverged("segment %d: the primary has other indexes than the database", s.Seq)
	}
	return nil
}

// Position returns the position of the store of a replica; known is false if its updates are not numbered, empty is true
// if it contains no database.
func Position(ctx context.Context, store storage.Store) (p schema.Position, known, empty bool, err error) {
	return position(ctx, store, false)
}

// MarkReplica records that the store belongs to a replica of a primary.
func MarkReplica(ctx context.Context, store storage.Store, primary string) error {
	var now string
	err := store.View(ctx, func(r storage.Reader) (err error) {
		now, err = schema.ReadPrimary(r)
		return err
	})
	if err != nil || now == primary {
		return err
	}
	return store.Update(ctx, func(_ storage.Reader, b storage.Batch) error {
		b.Put(schema.FamilySegments, schema.SegmentPrimary, []byte(primary))
		return nil
	})
}

// Promote makes the database of a replica a primary with a new lineage, whose first segment is a promotion. o.Dir is the
// folder of the database. It returns the new position. The error is Refused (no_replica) for other databases.
func Promote(ctx context.Context, store storage.Store, o Options) (at schema.Position, err error) {
	at, known, empty, err := position(ctx, store, false)
	if err != nil {
		return at, err
	}
	var primary string
	err = store.View(ctx, func(r storage.Reader) (err error) {
		primary, err = schema.ReadPrimary(r)
		return err
	})
	switch {
	case err != nil:
		return at, err
	case primary == "":
		return at, model.Errorf(model.Refused, "no_replica", "the database is not a replica")
	case empty || !known:
		return at, model.Errorf(model.Refused, "no_database", "the replica is empty: it has not received a segment yet")
	}
	r := newRecorder(store, at)
	r.log = newLog(o)
	err = r.promote(ctx, func(b storage.Batch) { b.Delete(schema.FamilySegments, schema.SegmentPrimary) })
	return r.at, err
}

// Layout returns the layout that a segment leads to, nil if it does not change the layout: of a chain that offers
// the indexes. before is the layout of the database; nil if it is empty.
func (s *Segment) Layout(chain model.Chain, before *schema.Layout) (*schema.Layout, error) {
	indexes, raw, files := s.Meta(schema.MetaIndexes), s.Meta(schema.MetaRaw), s.Meta(schema.MetaRawFiles)
	if before != nil && indexes == nil { // a change of the layout writes all three
		return nil, nil
	}
	l, err := schema.ParseLayout(chain, indexes, raw, files, nil)
	if err != nil {
		return nil, damaged("segment %d: %w", s.Seq, err)
	}
	return l, nil
}

// Families returns the numbers of the families of layouts by name. A nil layout has none.
func Families(layouts ...*schema.Layout) map[string]storage.Family {
	numbers := map[string]storage.Family{}
	for _, l := range layouts {
		if l == nil {
			continue
		}
		for _, d := range l.Declarations() {
			numbers[d.Name] = d.Family
		}
	}
	return numbers
}
