package segment

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Options control how the updates of a store are recorded.
type Options struct {
	Dir  string       // folder of the database; the log is its subfolder segments
	Mode Mode         // whether updates are recorded
	Keep int64        // bytes of segments that are kept; 0: [DefaultKeep], or the existing ones if they are more
	Log  *slog.Logger // nil: no log
}

// Mode selects whether updates are recorded. Updates that are not recorded still get numbers if earlier ones were
// recorded.
type Mode int

const (
	Continue Mode = iota // if the folder of the database has their log
	Record
	Ignore
)

// DefaultKeep is the default of Options.Keep: about two weeks of Bitcoin's blocks.
const DefaultKeep = 1 << 30

// folderName is the subfolder of a database with its log.
const folderName = "segments"

// Recorder is a store that numbers and records its updates. It has the optional interfaces of package storage; if the
// wrapped store lacks one, the methods do nothing.
type Recorder struct {
	storage.Store
	log *Log // nil: updates are only numbered

	mu    sync.Mutex // held by updates
	names map[storage.Family]string
	at    schema.Position
	doubt *pending // an update that may have happened; nil: none

	changes recording // of the running update
	most    int       // bytes of the rows of a segment
}

// pending is an update with its number.
type pending struct {
	*Segment
	size     int64
	recorded bool
}

// Attach returns the store with updates that are numbered: a [Recorder] if they are recorded or were numbered before,
// else the store itself. The error is of kind Refused (replica) for the store of a replica. No other update may run.
func Attach(ctx context.Context, s storage.Store, o Options) (storage.Store, error) {
	if lister, ok := s.(storage.FamilyLister); o.Mode != Record && ok && !lister.Has(schema.SegmentFamily.Name) {
		return s, nil
	}
	p, known, empty, err := position(ctx, s, true)
	if err != nil || !known && o.Mode != Record {
		return s, err
	}
	r, l := newRecorder(s, p), newLog(o)
	if o.Mode == Continue {
		if found, err := l.has(p); err != nil || !found {
			return r, err
		}
	}
	if o.Mode != Ignore {
		r.log = l
		err = r.open(ctx, known, empty)
	}
	return r, err
}

func newRecorder(s storage.Store, at schema.Position) *Recorder {
	r := &Recorder{Store: s, at: at, names: map[storage.Family]string{}, most: MaxContent}
	r.named(schema.SegmentFamily, schema.Schema[schema.FamilyMeta].Declaration)
	return r
}

func newLog(o Options) *Log {
	l := &Log{folder: filepath.Join(o.Dir, folderName), keep: o.Keep, log: o.Log}
	if l.log == nil {
		l.log = slog.New(slog.DiscardHandler)
	}
	l.step = stepOf(l)
	return l
}

// stepOf returns [Log.step]; tests replace it.
var stepOf = func(*Log) func(string) error { return nil }

// position reads the position of a store, whether updates are numbered, and whether the store is empty. writing: the
// error is Refused (replica) for a replica.
func position(ctx context.Context, s storage.Store, writing bool) (p schema.Position, known, empty bool, err error) {
	if err = s.Declare(schema.SegmentFamily, schema.Schema[schema.FamilyMeta].Declaration); err != nil {
		return p, false, false, err
	}
	err = s.View(ctx, func(r storage.Reader) error {
		primary, err := schema.ReadPrimary(r)
		if err != nil {
			return err
		}
		if primary != "" && writing {
			return model.Errorf(model.Refused, "replica", "the database is a replica of %s, and only birthmark replicate writes it: "+
				"birthmark replicate --promote makes it a database of its own", primary)
		}
		if p, known, err = schema.ReadPosition(r); err != nil {
			return err
		}
		_, identified, err := schema.ReadIdentity(r)
		empty = !identified
		return err
	})
	return p, known, empty, err
}

// open opens the log, and begins a lineage if the database has none or is not in the folder of its log.
func (r *Recorder) open(ctx context.Context, known, empty bool) error {
	if !known {
		r.at = schema.Position{Lineage: newLineage()}
		if err := r.log.open(r.at); err != nil || empty {
			return err
		}
		return r.skip(ctx, r.Store.Update, func(storage.Reader, storage.Batch) error { return nil })
	}
	if found, err := r.log.has(r.at); err != nil {
		return err
	} else if found {
		return r.log.open(r.at)
	}
	return r.promote(ctx, nil)
}

// promote begins a lineage that continues the current one. also adds other changes.
func (r *Recorder) promote(ctx context.Context, also func(storage.Batch)) error {
	before, lineage := r.at, newLineage()
	if err := r.log.open(schema.Position{Lineage: lineage, Seq: before.Seq, Hash: before.Hash}); err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.record(ctx, func(rd storage.Reader, b *recording) (*Segment, error) {
		if also != nil {
			also(b.Batch)
		}
		s, err := r.segment(rd, b)
		if err != nil {
			return nil, err
		}
		s.Kind, s.Origin, s.Lineage = Promotion, before.Lineage, lineage
		return s, nil
	})
}

func newLineage() (l schema.Lineage) {
	rand.Read(l[:])
	return l
}

// Log returns the log; nil if updates are only numbered.
func (r *Recorder) Log() *Log { return r.log }

// Declare implements [storage.Store].
func (r *Recorder) Declare(ds ...storage.Declaration) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.named(ds...)
	return r.Store.Declare(ds...)
}

func (r *Recorder) named(ds ...storage.Declaration) {
	for _, d := range ds {
		r.names[d.Family] = d.Name
	}
}

// Recording reports whether updates are recorded, so that ordinary updates should be preferred to bulk ones.
func (r *Recorder) Recording() bool { return r.log != nil }

// Update implements [storage.Store].
func (r *Recorder) Update(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	if r.log == nil {
		return r.skip(ctx, r.Store.Update, fn)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.record(ctx, func(rd storage.Reader, b *recording) (*Segment, error) {
		if err := fn(rd, b); err != nil || b.empty() {
			return nil, err
		}
		return r.segment(rd, b)
	})
}

// UpdateBulk implements [storage.BulkUpdater]. The update is not recorded.
func (r *Recorder) UpdateBulk(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	bulk, ok := r.Store.(storage.BulkUpdater)
	if !ok {
		return r.Update(ctx, fn)
	}
	return r.skip(ctx, bulk.UpdateBulk, fn)
}

type updater func(context.Context, func(storage.Reader, storage.Batch) error) error

// skip numbers an update without recording it.
func (r *Recorder) skip(ctx context.Context, update updater, fn func(storage.Reader, storage.Batch) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.settle(ctx); err != nil {
		return err
	}
	next := &pending{Segment: &Segment{Position: schema.Position{Lineage: r.at.Lineage, Seq: r.at.Seq + 1}}}
	rand.Read(next.Hash[:])
	err := update(ctx, func(rd storage.Reader, b storage.Batch) error {
		if err := fn(rd, b); err != nil {
			return err
		}
		b.Put(schema.FamilySegments, schema.SegmentPosition, schema.AppendPosition(nil, &next.Position))
		return nil
	})
	return r.finish(ctx, next, err)
}

// record writes an update whose segment fn returns, nil for no changes. mu is held.
func (r *Recorder) record(ctx context.Context, fn func(storage.Reader, *recording) (*Segment, error)) error {
	if err := r.settle(ctx); err != nil {
		return err
	}
	var next *pending
	err := r.Store.Update(ctx, func(rd storage.Reader, b storage.Batch) error {
		changes := r.changes.reuse(b, r.most)
		s, err := fn(rd, changes)
		if err != nil || s == nil {
			return err
		}
		next = &pending{Segment: s}
		var encoded []byte
		if err = errTooLarge; !changes.tooLarge {
			encoded, err = s.Encode()
		}
		if err != nil {
			r.log.log.Warn("an update is too large for a segment: replicas must be restored from a copy", "seq", s.Seq, "error", err)
			rand.Read(s.Hash[:])
		} else {
			s.Families = nil // they refer to memory of the next update
			next.recorded, next.size = true, int64(len(encoded))
			if err := r.log.write(s.Seq, encoded); err != nil {
				return model.Errorf(model.Internal, "internal", "record segment %d: %w", s.Seq, err)
			}
		}
		b.Put(schema.FamilySegments, schema.SegmentPosition, schema.AppendPosition(nil, &s.Position))
		return nil
	})
	if next == nil {
		return err
	}
	return r.finish(ctx, next, err)
}

// finish settles an update that was written, or failed with err. mu is held.
func (r *Recorder) finish(ctx context.Context, next *pending, err error) error {
	if err != nil {
		r.doubt = next
		_ = r.settle(context.WithoutCancel(ctx)) // on failure, the next update calls it again and returns its error
		return err
	}
	return r.written(next)
}

// written registers an update that happened. The database has it, so that a failure is no error of the update: the next
// one returns it. mu is held.
func (r *Recorder) written(next *pending) error {
	switch {
	case r.log == nil:
	case !next.recorded:
		r.log.skip(next.Position)
	default:
		if err := r.log.complete(next.Segment, next.size); err != nil {
			r.doubt = next
			r.log.log.Error("cannot complete a segment", "seq", next.Seq, "error", err)
			return nil
		}
	}
	r.at, r.doubt = next.Position, nil
	return nil
}

// settle finds out whether the update in doubt happened, and completes or removes its segment. mu is held.
func (r *Recorder) settle(ctx context.Context) error {
	next := r.doubt
	if next == nil {
		return nil
	}
	at := r.at
	err := r.Store.View(ctx, func(rd storage.Reader) (err error) {
		p, known, err := schema.ReadPosition(rd)
		if known {
			at = p
		}
		return err
	})
	switch {
	case err != nil:
		return err
	case at == next.Position:
		if err := r.written(next); err != nil || r.doubt == nil {
			return err
		}
		return model.Errorf(model.Internal, "internal", "segment %d cannot be completed: see the log", next.Seq)
	case r.log != nil && next.recorded:
		if err := r.log.discard(next.Seq); err != nil {
			return err
		}
	}
	r.doubt = nil
	return nil
}

// segment returns the segment of an update.
func (r *Recorder) segment(rd storage.Reader, b *recording) (*Segment, error) {
	s := &Segment{Position: schema.Position{Lineage: r.at.Lineage, Seq: r.at.Seq + 1}, Previous: r.at.Hash, Made: time.Now()}
	rows, err := rd.GetMany(schema.FamilyMeta, [][]byte{schema.MetaTip, schema.MetaIndexes})
	if err != nil {
		return nil, err
	}
	s.Catalogue = sha256.Sum256(rows[1])
	if s.From, err = tipOf(rows[0]); err != nil {
		return nil, err
	}
	if b.tooLarge { // it gets a number only
		return s, nil
	}
	for f, changes := range b.families {
		if len(changes) == 0 {
			continue
		}
		s.Families = append(s.Families, Family{r.names[f], b.rows(f)})
	}
	slices.SortFunc(s.Families, func(a, b Family) int { return strings.Compare(a.Name, b.Name) })
	s.To = s.From
	if row := s.find(metaName, schema.MetaTip); row != nil {
		if s.To, err = tipOf(row.Value); err != nil { // none: deleted
			return nil, err
		}
	}
	switch {
	case s.To == s.From:
		s.Kind = Catalogue
	case s.To.IsOrigin() || !s.From.IsOrigin() && s.To.Height < s.From.Height:
		s.Kind = Rollback
	}
	return s, nil
}

// tipOf parses the row of a tip; none is the origin.
func tipOf(row []byte) (model.Point, error) {
	if len(row) == 0 {
		return model.Point{}, nil
	}
	return schema.ParseTip(bytes.Clone(row))
}
