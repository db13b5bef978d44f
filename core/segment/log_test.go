package segment_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/memory"
)

func attach(t *testing.T, s storage.Store, o segment.Options) *segment.Recorder {
	t.Helper()
	r, err := segment.Attach(t.Context(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return r.(*segment.Recorder)
}

// put writes a row, and the rows of meta that a database must have.
func put(s storage.Store, n uint64) error {
	return s.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
		b.Put(schema.FamilyMeta, schema.MetaFormat, []byte{schema.FormatVersion})
		b.Put(schema.FamilyMeta, schema.MetaIndexes, []byte{0})
		b.Put(schema.FamilyMeta, fmt.Appendf(nil, "row %d", n), make([]byte, 100))
		return nil
	})
}

func position(t *testing.T, s storage.Store) schema.Position {
	t.Helper()
	p, _, _, err := segment.Position(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// agree checks that the log and the store have the same position, and that the log has no pending file.
func agree(t *testing.T, what string, l *segment.Log, s storage.Store, dir string) {
	t.Helper()
	state, _ := l.State()
	if p := position(t, s); state.Position != p && state.Seq+p.Seq > 0 {
		t.Fatalf("%s: the log is at %+v, the store at %+v", what, state.Position, p)
	}
	var before model.Hash
	for seq := state.First; seq <= state.Seq; seq++ {
		b, err := l.Read(seq)
		if err != nil {
			t.Fatalf("%s: segment %d: %v", what, seq, err)
		}
		at, previous, err := segment.Header(b)
		if err != nil || at.Seq != seq || at.Lineage != state.Lineage || seq > state.First && previous != before {
			t.Fatalf("%s: segment %d: %+v after %x, %v", what, seq, at, before, err)
		}
		before = at.Hash
	}
	if pending, _ := filepath.Glob(filepath.Join(dir, "segments", "*", "*.pending")); len(pending) > 0 {
		t.Fatalf("%s: the pending file %v is left", what, pending)
	}
}

var errKilled = errors.New("killed")

// If the process ends at any step of recording an update, the log and the database agree when it is opened again, and
// no segment is lost.
func TestAKillAtEveryStepOfTheLog(t *testing.T) {
	steps, seen := 0, map[string]bool{}
	for kill := 1; ; kill++ {
		dir, s := t.TempDir(), memory.New()
		left := kill
		restore := segment.SetSteps(func(name string) error {
			if left--; left <= 0 { // a killed process does nothing
				if left == 0 {
					seen[name] = true
				}
				return errKilled
			}
			return nil
		})
		r := attach(t, s, segment.Options{Dir: dir, Mode: segment.Record, Keep: 500})
		died := false
		for n := uint64(1); n <= 4 && !died; n++ {
			died = put(r, n) != nil || left <= 0
		}
		restore()
		if !died {
			break
		}
		steps++
		what := fmt.Sprintf("killed at step %d", kill)
		before := position(t, s)
		again := attach(t, s, segment.Options{Dir: dir, Mode: segment.Record, Keep: 1 << 20})
		agree(t, what, again.Log(), s, dir)
		if state, _ := again.Log().State(); before.Seq > 0 && (state.Lineage != before.Lineage || state.Seq != before.Seq || state.First > state.Seq) {
			t.Fatalf("%s: %+v, the store was at %+v", what, state, before)
		}
		if err := put(again, 9); err != nil {
			t.Fatal(err)
		}
		agree(t, what+", and continued", again.Log(), s, dir)
	}
	if steps < 12 || !seen["write"] || !seen["write half"] || !seen["update"] || !seen["rename"] || !seen["prune"] {
		t.Errorf("%d steps, %v", steps, seen)
	}
}

// A failed update leaves no segment. A segment that could not be completed is completed by the next update.
func TestFailedUpdates(t *testing.T) {
	dir, s := t.TempDir(), memory.New()
	fail := ""
	defer segment.SetSteps(func(name string) error {
		if name == fail {
			return errors.New("the disk is full")
		}
		return nil
	})()
	r := attach(t, s, segment.Options{Dir: dir, Mode: segment.Record})
	if err := put(r, 1); err != nil {
		t.Fatal(err)
	}
	for _, fail = range []string{"write", "write half", "update"} {
		before := position(t, s)
		if err := put(r, 2); err == nil {
			t.Errorf("%s: no error", fail)
		}
		if now := position(t, s); now != before {
			t.Errorf("%s: at %+v, was at %+v", fail, now, before)
		}
	}
	fail = "rename"
	if err := put(r, 2); err != nil {
		t.Errorf("the database lacks the update: %v", err)
	}
	if state, _ := r.Log().State(); state.Seq != 1 {
		t.Errorf("an incomplete segment is visible: %+v", state)
	}
	if err := put(r, 3); err == nil {
		t.Error("the next update does not report the failure")
	}
	fail = ""
	if err := put(r, 3); err != nil {
		t.Error(err)
	}
	agree(t, "afterwards", r.Log(), s, dir)
	if state, _ := r.Log().State(); state.Seq != 3 || state.First != 1 {
		t.Errorf("%+v", state)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := put(r, 4); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("a closed store: %v", err)
	}
}

// bulk is a store with bulk updates.
type bulk struct{ storage.Store }

func (s bulk) UpdateBulk(ctx context.Context, fn func(storage.Reader, storage.Batch) error) error {
	return s.Store.Update(ctx, fn)
}

// Bulk updates and large updates have a number and no segment. Old segments are removed.
func TestGaps(t *testing.T) {
	dir, s := t.TempDir(), bulk{memory.New()}
	r := attach(t, s, segment.Options{Dir: dir, Mode: segment.Record})
	for n := range uint64(3) {
		if err := put(r, n); err != nil {
			t.Fatal(err)
		}
	}
	state, changed := r.Log().State()
	if state.Seq != 3 || state.First != 1 {
		t.Fatalf("%+v", state)
	}
	err := r.UpdateBulk(t.Context(), func(_ storage.Reader, b storage.Batch) error {
		b.Put(schema.FamilyMeta, []byte("bulk"), nil)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	<-changed
	if state, _ = r.Log().State(); state.Seq != 4 || state.First != 5 {
		t.Errorf("after an update in bulk: %+v", state)
	}
	if _, err := r.Log().Read(4); !errors.Is(err, segment.ErrMissing) {
		t.Errorf("segment 4: %v", err)
	}
	r.SetMost(200)
	if err := put(r, 8); err != nil {
		t.Fatal(err)
	}
	r.SetMost(10)
	if err := put(r, 9); err != nil {
		t.Fatal(err)
	}
	if state, _ = r.Log().State(); state.Seq != 6 || state.First != 7 {
		t.Errorf("after a large update: %+v", state)
	}
	agree(t, "with gaps", r.Log(), s, dir)
	again := attach(t, s, segment.Options{Dir: dir, Mode: segment.Record})
	if reopened, _ := again.Log().State(); reopened != state {
		t.Errorf("opened again: %+v, was %+v", reopened, state)
	}

	one, err := again.Log().Read(1)
	if err != nil {
		t.Fatal(err)
	}
	few := attach(t, s, segment.Options{Dir: dir, Mode: segment.Record, Keep: int64(3 * len(one))})
	for n := range uint64(10) {
		if err := put(few, 100+n); err != nil {
			t.Fatal(err)
		}
	}
	if state, _ = few.Log().State(); state.Seq != 16 || state.First < 13 || state.First > 15 || state.Bytes > int64(3*len(one)) {
		t.Errorf("with a limit: %+v", state)
	}
}

// A database that is opened without recording continues its numbers, so that a replica notices missing segments.
func TestUpdatesWithoutRecordingAreNumbered(t *testing.T) {
	dir, s := t.TempDir(), memory.New()
	r := attach(t, s, segment.Options{Dir: dir, Mode: segment.Record})
	if err := put(r, 1); err != nil {
		t.Fatal(err)
	}
	before := position(t, s)
	quiet := attach(t, s, segment.Options{Dir: dir, Mode: segment.Ignore})
	if quiet.Log() != nil {
		t.Error("the store records segments")
	}
	if err := put(quiet, 2); err != nil {
		t.Fatal(err)
	}
	if now := position(t, s); now.Seq != before.Seq+1 || now.Lineage != before.Lineage || now.Hash == before.Hash {
		t.Errorf("position %+v after %+v", now, before)
	}
	again := attach(t, s, segment.Options{Dir: dir, Mode: segment.Record})
	if err := put(again, 3); err != nil {
		t.Fatal(err)
	}
	if state, _ := again.Log().State(); state.Lineage != before.Lineage || state.Seq != 3 || state.First != 3 {
		t.Errorf("%+v", state)
	}
}

// A database that is in another folder than its log, or older than its log, gets a new lineage that continues the old
// one.
func TestACopyGetsANewLineage(t *testing.T) {
	for what, change := range map[string]func(t *testing.T, dir string, s storage.Store) string{
		"a copy":     func(t *testing.T, _ string, _ storage.Store) string { return t.TempDir() },
		"older rows": func(t *testing.T, dir string, s storage.Store) string { return older(t, dir, s, 2) },
		"other rows": func(t *testing.T, dir string, s storage.Store) string { return older(t, dir, s, 3) },
	} {
		t.Run(what, func(t *testing.T) {
			dir, s := t.TempDir(), memory.New()
			r := attach(t, s, segment.Options{Dir: dir, Mode: segment.Record})
			for n := range uint64(3) {
				if err := put(r, n); err != nil {
					t.Fatal(err)
				}
			}
			dir = change(t, dir, s)
			before := position(t, s)
			again := attach(t, s, segment.Options{Dir: dir, Mode: segment.Record})
			state, _ := again.Log().State()
			from, ok := again.Log().Continues()
			if state.Lineage == before.Lineage || state.Seq != before.Seq+1 || !ok || from != before {
				t.Errorf("at %+v, continues %+v %t, was at %+v", state, from, ok, before)
			}
			agree(t, what, again.Log(), s, dir)
			folders, err := os.ReadDir(filepath.Join(dir, "segments"))
			if err != nil || len(folders) != 1 || folders[0].Name() != segment.FolderName(state.Lineage) {
				t.Errorf("%v %v", folders, err)
			}
			third := attach(t, s, segment.Options{Dir: dir, Mode: segment.Record})
			if now, _ := third.Log().State(); now != state {
				t.Errorf("opened again: %+v, was %+v", now, state)
			}
			if now, ok := third.Log().Continues(); !ok || now != from {
				t.Errorf("continues %+v, was %+v", now, from)
			}
		})
	}
}

// older sets the position of a store to an earlier number, or to other rows.
func older(t *testing.T, dir string, s storage.Store, seq uint64) string {
	t.Helper()
	p := position(t, s)
	p.Seq, p.Hash = seq, model.Hash{1}
	err := s.Update(t.Context(), func(_ storage.Reader, b storage.Batch) error {
		b.Put(schema.FamilySegments, schema.SegmentPosition, schema.AppendPosition(nil, &p))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// Other commands cannot write to a replica before its promotion, which starts a new lineage.
func TestPromotion(t *testing.T) {
	primary, s := memory.New(), memory.New()
	r := attach(t, primary, segment.Options{Dir: t.TempDir(), Mode: segment.Record})
	if err := put(r, 1); err != nil {
		t.Fatal(err)
	}
	b, err := r.Log().Read(1)
	if err != nil {
		t.Fatal(err)
	}
	one, err := segment.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	families := map[string]storage.Family{"meta": schema.FamilyMeta}
	if p := position(t, s); p != (schema.Position{}) {
		t.Errorf("an empty store is at %+v", p)
	}
	dir := t.TempDir()
	if _, err := segment.Promote(t.Context(), s, segment.Options{Dir: dir}); codeOf(err) != "no_replica" {
		t.Errorf("promoted: %v", err)
	}
	if err := segment.MarkReplica(t.Context(), s, "http://primary"); err != nil {
		t.Fatal(err)
	}
	if _, err := segment.Promote(t.Context(), s, segment.Options{Dir: dir}); codeOf(err) != "no_database" {
		t.Errorf("promoted: %v", err)
	}
	if err := segment.Apply(t.Context(), s, one, families); err != nil {
		t.Fatal(err)
	}
	before := position(t, s)
	for _, mode := range []segment.Mode{segment.Continue, segment.Record, segment.Ignore} {
		if _, err := segment.Attach(t.Context(), s, segment.Options{Dir: dir, Mode: mode}); codeOf(err) != "replica" {
			t.Errorf("attached: %v", err)
		}
	}
	at, err := segment.Promote(t.Context(), s, segment.Options{Dir: dir})
	if err != nil || at.Seq != before.Seq+1 || at.Lineage == before.Lineage || at != position(t, s) {
		t.Fatalf("promoted to %+v, was at %+v: %v", at, before, err)
	}
	promoted := attach(t, s, segment.Options{Dir: dir, Mode: segment.Record})
	if from, ok := promoted.Log().Continues(); !ok || from != before {
		t.Errorf("continues %+v, %t", from, ok)
	}
	agree(t, "promoted", promoted.Log(), s, dir)
	// Another replica at the same update can continue with the new lineage.
	if b, err = promoted.Log().Read(at.Seq); err != nil {
		t.Fatal(err)
	}
	two, err := segment.Decode(b)
	if err != nil || two.Kind != segment.Promotion || two.Rows() != 0 {
		t.Fatalf("%+v, %v", two, err)
	}
	if err := segment.Apply(t.Context(), primary, two, families); err != nil {
		t.Error(err)
	}
	if p := position(t, primary); p != at {
		t.Errorf("at %+v, expected %+v", p, at)
	}
}

func codeOf(err error) string {
	_, code := model.KindOf(err)
	return code
}

// Decoding returns the rows that were encoded.
func TestEncodingRoundTrip(t *testing.T) {
	rng := testseed.Rand(t)
	dir, s := t.TempDir(), memory.New()
	r := attach(t, s, segment.Options{Dir: dir, Mode: segment.Record})
	if err := r.Declare(schema.Schema[schema.FamilyTxPk].Declaration); err != nil {
		t.Fatal(err)
	}
	model := map[string]string{}
	for range 30 {
		err := r.Update(t.Context(), func(_ storage.Reader, b storage.Batch) error {
			for range rng.IntN(60) {
				key := fmt.Sprintf("%0*b", rng.IntN(5), rng.IntN(32)) // some are empty, many are repeated
				if rng.IntN(3) == 0 {
					b.Delete(schema.FamilyTxPk, []byte(key))
					delete(model, key)
				} else {
					value := fmt.Sprintf("%0*d", rng.IntN(300), rng.IntN(9))[:rng.IntN(2)]
					b.Put(schema.FamilyTxPk, []byte(key), []byte(value))
					model[key] = value
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	state, _ := r.Log().State()
	got := map[string]string{}
	for seq := uint64(1); seq <= state.Seq; seq++ {
		b, err := r.Log().Read(seq)
		if err != nil {
			t.Fatal(err)
		}
		s, err := segment.Decode(b)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range s.Families {
			for _, row := range f.Rows {
				if row.Deleted {
					delete(got, string(row.Key))
				} else {
					got[string(row.Key)] = string(row.Value)
				}
			}
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(model) {
		t.Errorf("%v, expected %v", got, model)
	}
}

func FuzzDecode(f *testing.F) {
	s := &segment.Segment{Families: []segment.Family{{Name: "meta", Rows: []segment.Row{{Key: []byte("a"), Value: []byte("b")}, {Key: []byte("b"), Deleted: true}}}}}
	b, err := s.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		if s, err := segment.Decode(segment.Resealed(b)); err == nil && s.Rows() > 0 && len(s.Families) == 0 {
			t.Error("rows without families")
		}
	})
}
