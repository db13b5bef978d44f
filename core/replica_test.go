package core_test

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

// recorded attaches a recorder to a store whose log is in a folder.
func recorded(t testing.TB, s storage.Store, dir string) *segment.Recorder {
	t.Helper()
	r, err := segment.Attach(t.Context(), s, segment.Options{Dir: dir, Mode: segment.Record})
	if err != nil {
		t.Fatal(err)
	}
	return r.(*segment.Recorder)
}

// shipped returns the segment of a log with a number.
func shipped(t testing.TB, l *segment.Log, seq uint64) *segment.Segment {
	t.Helper()
	b, err := l.Read(seq)
	if err != nil {
		t.Fatalf("segment %d: %v", seq, err)
	}
	s, err := segment.Decode(b)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// replica is a database that applies the segments of a log.
type replica struct {
	t     testing.TB
	chain model.Chain
	store storage.Store
	db    *core.DB // nil while the replica is empty
}

// follow applies all segments that the replica lacks.
func (p *replica) follow(l *segment.Log) {
	p.t.Helper()
	newest, _ := l.State()
	at, _, _, err := segment.Position(p.t.Context(), p.store)
	if err != nil {
		p.t.Fatal(err)
	}
	for seq := at.Seq + 1; seq <= newest.Seq; seq++ {
		if err := p.apply(shipped(p.t, l, seq)); err != nil {
			p.t.Fatalf("segment %d: %v", seq, err)
		}
	}
	if at, _, _, err = segment.Position(p.t.Context(), p.store); err != nil || at != newest.Position {
		p.t.Fatalf("at %+v, expected %+v (%v)", at, newest.Position, err)
	}
}

func (p *replica) apply(s *segment.Segment) error {
	if p.db != nil {
		return p.db.Apply(p.t.Context(), s)
	}
	if err := core.Create(p.t.Context(), p.store, p.chain, s); err != nil {
		return err
	}
	return p.open()
}

func (p *replica) open() (err error) {
	p.db, err = core.Open(p.t.Context(), p.store, core.Options{Chain: p.chain})
	return err
}

// allRows returns every row of a database, including families that do not depend on the chain alone.
func allRows(t testing.TB, s storage.Store, chain model.Chain) (rows dumped) {
	t.Helper()
	err := s.View(t.Context(), func(r storage.Reader) error {
		l, err := schema.ReadLayout(r, chain)
		if err != nil {
			return err
		}
		for _, d := range append(l.Declarations(), schema.SegmentFamily) {
			for kv, err := range r.Scan(d.Family, nil, nil, false) {
				if err != nil {
					return err
				}
				rows = append(rows, fmt.Sprintf("%s %s -> %s", d.Name, hex.EncodeToString(kv.Key), hex.EncodeToString(kv.Value)))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// reorganize syncs from a source that replaces the newest n blocks.
func (l *changing) reorganize(n int) {
	l.t.Helper()
	keep := max(1, len(l.chain)-n)
	old := len(l.chain) - keep
	l.chain, l.grown = l.chain[:keep:keep], l.grown[:keep+1]
	var blocks []*model.Block
	for range old + 1 {
		l.forks++ // hashes of blocks differ only between forks with different numbers
		g := l.grown[len(l.grown)-1].Fork(l.forks)
		blocks, l.grown = append(blocks, g.Next()), append(l.grown, g)
	}
	common := point(l.chain, keep-1)
	l.chain = append(l.chain, blocks...)
	sync(l.t, l.db, events(common, having(blocks, l.db.Indexes()...)), core.SyncOptions{BulkWeight: -1})
}

// step changes a database at random.
func (l *changing) step(rng *rand.Rand, reattach func() storage.Store) {
	l.t.Helper()
	ctx := l.t.Context()
	changed := []string{"label", schema.RawFilesName}
	if l.v.Raw {
		changed[1] = schema.RawName
	}
	name := changed[rng.IntN(len(changed))]
	states, err := l.db.IndexStatesWithRaw(ctx)
	if err != nil {
		l.t.Fatal(err)
	}
	var at *query.IndexState // of the index with that name, or of the one that is being changed
	for i := range states {
		x := &states[i]
		if len(x.Adding) > 0 || x.Dropping {
			at = x
			break
		}
		if strings.HasPrefix(name, x.Name) {
			at = x
		}
	}
	switch {
	case len(l.chain) < 3 || rng.IntN(3) == 0:
		l.grow(1+rng.IntN(6), 1+rng.IntN(4))
	case rng.IntN(4) == 0:
		l.rollback(1 + rng.IntN(5))
	case rng.IntN(4) == 0:
		l.reorganize(1 + rng.IntN(5))
	case rng.IntN(5) == 0:
		l.store = reattach()
		l.reopen(nil, nil)
	case at == nil:
		var o model.IndexOptions
		if name == "label" {
			o = model.IndexOptions{Balance: rng.IntN(2) == 0, Prefix: rng.IntN(2) == 0}
		}
		if err := l.db.AddIndex(ctx, name, o); err != nil {
			l.t.Fatal(err)
		}
	case len(at.Adding) > 0 || at.Dropping:
		l.build(rng.IntN(4)-1, 20+rng.IntN(200))
	default:
		if err := l.db.DropIndex(ctx, at.Name); err != nil {
			l.t.Fatal(err)
		}
	}
}

// After each segment, a replica has the rows of the primary, byte for byte: blocks, rollbacks, orphaned blocks, indexes
// and raw transactions that are added and dropped, and restarts of both.
func TestAReplicaEqualsItsPrimary(t *testing.T) {
	everyStore(t, func(t *testing.T, v modeltest.Variant, s storage.Store) {
		if _, bulk := s.(inBulk); bulk {
			t.Skip("updates in bulk are not recorded")
		}
		rng, dir := testseed.Rand(t), t.TempDir()
		r := recorded(t, s, dir)
		names := []string{"address", "tag"}
		if v.Boxes {
			names = append(names, "box")
		}
		l := openChanging(t, v, r, rng.Uint64(), names, map[string]model.IndexOptions{"tag": everything4})
		l.db.SetRollbackRows(40)
		p := &replica{t: t, chain: v.Chain("one"), store: memory.New()}
		if err := p.store.Declare(schema.SegmentFamily); err != nil {
			t.Fatal(err)
		}
		for i := range amount(80, 30) {
			l.step(rng, func() storage.Store { r = recorded(t, s, dir); return r })
			l.db.SetRollbackRows(40)
			if rng.IntN(3) > 0 {
				continue
			}
			p.follow(r.Log())
			if p.db.Tip() != l.db.Tip() {
				t.Fatalf("step %d: tip %v, expected %v", i, p.db.Tip(), l.db.Tip())
			}
			same(t, fmt.Sprintf("step %d", i), allRows(t, p.store, p.chain), allRows(t, s, p.chain))
			if rng.IntN(5) == 0 {
				if err := p.open(); err != nil {
					t.Fatal(err)
				}
			}
			if rng.IntN(5) == 0 {
				consistent(t, p.db)
			}
		}
		p.follow(r.Log())
		same(t, "at the end", dump(t, p.db), dump(t, l.db))
		consistent(t, p.db)
	})
}

// If any read or write fails while a segment is applied, the replica has the state before or after it, and continues.
func TestAFailureWhileASegmentIsApplied(t *testing.T) {
	testrun.Slow(t)
	rng := testseed.Rand(t)
	v := modeltest.Variants()[0]
	s := memory.New()
	r := recorded(t, s, t.TempDir())
	l := openChanging(t, v, r, rng.Uint64(), []string{"address", "tag"}, nil)
	for range 40 {
		l.step(rng, func() storage.Store { return r })
	}
	faulty := storetest.NewFaulty(memory.New())
	p := &replica{t: t, chain: v.Chain("one"), store: faulty}
	newest, _ := r.Log().State()
	failures := 0
	for seq := uint64(1); seq <= newest.Seq; seq++ {
		for fail := 1; ; fail++ {
			faulty.FailAt(fail)
			err := p.apply(shipped(t, r.Log(), seq))
			faulty.FailAt(0)
			if err == nil {
				break
			}
			failures++
			if code(err) == "open_again" || errors.Is(err, storetest.ErrInjected) || p.db == nil {
				if at, known, _, err := segment.Position(t.Context(), faulty); err != nil {
					t.Fatal(err)
				} else if known {
					if err := p.open(); err != nil {
						t.Fatal(err)
					}
					if at.Seq == seq {
						break
					}
				}
				continue
			}
			t.Fatalf("segment %d, failure at step %d: %v", seq, fail, err)
		}
	}
	if failures < 100 {
		t.Errorf("%d failures", failures)
	}
	same(t, "at the end", allRows(t, faulty, p.chain), allRows(t, s, p.chain))
	consistent(t, p.db)
}

// Segments that are missing, repeated, out of order, of another primary, or damaged change nothing.
func TestWrongSegmentsAreRefused(t *testing.T) {
	rng := testseed.Rand(t)
	v := modeltest.Variants()[0]
	make := func() (*changing, *segment.Log) {
		r := recorded(t, memory.New(), t.TempDir())
		l := openChanging(t, v, r, 7, []string{"address"}, nil)
		l.grow(10, 1)
		return l, r.Log()
	}
	_, log := make()
	_, other := make() // the same blocks with another lineage
	p := &replica{t: t, chain: v.Chain("one"), store: memory.New()}
	for seq := uint64(1); seq <= 5; seq++ {
		if err := p.apply(shipped(t, log, seq)); err != nil {
			t.Fatal(err)
		}
	}
	before := allRows(t, p.store, p.chain)
	refuse := func(what string, s *segment.Segment, want string) {
		t.Helper()
		if err := p.apply(s); code(err) != want {
			t.Errorf("%s: %v, expected %s", what, err, want)
		}
		same(t, what, allRows(t, p.store, p.chain), before)
	}
	refuse("repeated", shipped(t, log, 5), "bad_segment")
	refuse("old", shipped(t, log, 1), "bad_segment")
	refuse("a gap", shipped(t, log, 7), "bad_segment")
	refuse("another lineage", shipped(t, other, 6), "diverged")
	forged := shipped(t, log, 6)
	forged.Previous[3] ^= 1
	refuse("another history", forged, "diverged")
	forged = shipped(t, log, 6)
	forged.From.Hash[3] ^= 1
	refuse("another tip", forged, "diverged")
	forged = shipped(t, log, 6)
	forged.Catalogue[3] ^= 1
	refuse("other indexes", forged, "diverged")
	forged = shipped(t, log, 6)
	forged.Families[0].Name = "unknown"
	refuse("an unknown family", forged, "bad_segment")

	encoded, err := log.Read(6)
	if err != nil {
		t.Fatal(err)
	}
	for i := range encoded {
		b := append([]byte{}, encoded...)
		b[i] ^= 1 << rng.IntN(8)
		if _, err := segment.Decode(b); code(err) != "bad_segment" {
			t.Fatalf("byte %d of %d: %v", i, len(b), err)
		}
		if _, err := segment.Decode(encoded[:i]); code(err) != "bad_segment" {
			t.Fatalf("cut after %d bytes: %v", i, err)
		}
	}
	for seq := uint64(6); seq <= 11; seq++ {
		if err := p.apply(shipped(t, log, seq)); err != nil {
			t.Fatal(err)
		}
	}
	consistent(t, p.db)
	stranger := &replica{t: t, chain: v.Chain("one"), store: memory.New()}
	if stranger.db, err = core.Open(context.Background(), stranger.store, core.Options{Chain: stranger.chain}); err != nil {
		t.Fatal(err)
	}
	if err := stranger.store.Declare(schema.SegmentFamily); err != nil {
		t.Fatal(err)
	}
	if err := stranger.apply(shipped(t, log, 1)); code(err) != "diverged" {
		t.Errorf("another database: %v", err)
	}
}

// While segments are applied, queries see the tips of the primary in order, each with its blocks.
func TestReadersOfAReplica(t *testing.T) {
	rng := testseed.Rand(t)
	v := modeltest.Variants()[3]
	r := recorded(t, memory.New(), t.TempDir())
	l := openChanging(t, v, r, rng.Uint64(), []string{"address", "tag"}, nil)
	type state struct {
		tip    model.Point
		blocks uint64
	}
	order := map[uint64]state{} // states by update number of the primary
	for range 60 {
		l.step(rng, func() storage.Store { return r })
		at, _ := r.Log().State()
		status, err := l.db.Status(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		order[at.Seq] = state{l.db.Tip(), status.Totals.Blocks}
	}
	newest, _ := r.Log().State()
	p := &replica{t: t, chain: v.Chain("one"), store: memory.New()}
	if err := p.apply(shipped(t, r.Log(), 1)); err != nil {
		t.Fatal(err)
	}
	done, read := make(chan struct{}), make(chan int)
	go func() {
		n, last := 0, uint64(0)
		defer func() { read <- n }()
		for {
			select {
			case <-done:
				return
			default:
			}
			// The position and the tip are read in one snapshot of the store, the answer in a later snapshot of the
			// database.
			before, _, _, err := segment.Position(context.Background(), p.store)
			if err != nil {
				t.Error(err)
				return
			}
			var seen state
			err = p.db.View(context.Background(), func(q *query.View) error {
				status, err := q.Status(context.Background())
				if err == nil {
					seen = state{q.Tip, status.Totals.Blocks}
				}
				return err
			})
			if err != nil {
				t.Error(err)
				return
			}
			after, _, _, err := segment.Position(context.Background(), p.store)
			if err != nil {
				t.Error(err)
				return
			}
			if before.Seq < last {
				t.Errorf("update %d after update %d", before.Seq, last)
			}
			if want, known := order[before.Seq]; known && before == after && seen != want {
				t.Errorf("update %d shows %+v, expected %+v", before.Seq, seen, want)
			}
			last = after.Seq
			n++
		}
	}()
	for seq := uint64(2); seq <= newest.Seq; seq++ {
		if err := p.apply(shipped(t, r.Log(), seq)); err != nil {
			t.Error(err)
			break
		}
	}
	close(done)
	if n := <-read; n == 0 {
		t.Error("nothing was read")
	}
	same(t, "at the end", dump(t, p.db), dump(t, l.db))
	consistent(t, p.db)
}

// Derived assets are not added to a database that replicas follow: the segments of the steps would not be those of blocks.
func TestAssetsAreNotAddedWhileReplicasFollow(t *testing.T) {
	s := recorded(t, memory.New(), t.TempDir())
	l := openPlain(t, s, 3, []string{"address"}, nil)
	l.grow(5, 2)
	err := l.db.AddIndex(t.Context(), "tokens", model.IndexOptions{})
	if code(err) != "bad_option" || !strings.Contains(err.Error(), "replicas follow the database") {
		t.Errorf("%v", err)
	}
	consistent(t, l.db)
}
