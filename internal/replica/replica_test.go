package replica_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"birthmark/api/compat/answertest"
	"birthmark/api/segments"
	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/internal/replica"
	"birthmark/internal/snapshot/target"
	"birthmark/internal/testrun"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/memory"
)

func TestMain(m *testing.M) { testrun.Main(m) }

// primary is a store that records its updates.
type primary struct {
	t     *testing.T
	store storage.Store
	rec   *segment.Recorder
	n     int
}

func attach(t *testing.T, s storage.Store) *primary { return attachKeeping(t, s, 0) }

// attachKeeping is attach for a log that keeps a number of bytes.
func attachKeeping(t *testing.T, s storage.Store, keep int64) *primary {
	t.Helper()
	r, err := segment.Attach(t.Context(), s, segment.Options{Dir: t.TempDir(), Mode: segment.Record, Keep: keep})
	if err != nil {
		t.Fatal(err)
	}
	return &primary{t: t, store: s, rec: r.(*segment.Recorder)}
}

// write makes n updates.
func (p *primary) write(n int) {
	p.t.Helper()
	for range n {
		p.n++
		err := p.rec.Update(p.t.Context(), func(_ storage.Reader, b storage.Batch) error {
			b.Put(schema.FamilyMeta, schema.MetaFormat, []byte{schema.FormatVersion})
			b.Put(schema.FamilyMeta, schema.MetaIndexes, []byte{0})
			b.Put(schema.FamilyMeta, fmt.Appendf(nil, "row %d", p.n), make([]byte, 50))
			return nil
		})
		if err != nil {
			p.t.Fatal(err)
		}
	}
}

func (p *primary) at() schema.Position {
	state, _ := p.rec.Log().State()
	return state.Position
}

func (p *primary) publisher(to string) *replica.Publisher {
	p.t.Helper()
	files, err := target.Open(to, target.Options{})
	if err != nil {
		p.t.Fatal(err)
	}
	return &replica.Publisher{Log: p.rec.Log(), To: files, Logs: slog.New(slog.DiscardHandler), Tip: func() model.Point { return model.Point{Height: 7} }}
}

// publish publishes everything.
func (p *primary) publish(to string) error {
	p.t.Helper()
	ctx, cancel := context.WithCancel(p.t.Context())
	defer cancel()
	pub, ended := p.publisher(to), make(chan error, 1)
	go func() { ended <- pub.Run(ctx) }()
	for pub.Published() < p.at().Seq {
		select {
		case err := <-ended:
			return err
		case <-time.After(time.Millisecond):
		}
	}
	cancel()
	return <-ended
}

// follower applies what a feed sends to a store.
type follower struct {
	t     *testing.T
	store storage.Store
	last  segments.Frame // the last state
}

func newFollower(t *testing.T) *follower {
	f := &follower{t: t, store: memory.New()}
	f.at()
	return f
}

func (f *follower) at() schema.Position {
	f.t.Helper()
	p, _, _, err := segment.Position(f.t.Context(), f.store)
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

func (f *follower) frame(frame segments.Frame) error {
	if frame.Segment == nil {
		f.last = frame
		return nil
	}
	s, err := segment.Decode(frame.Segment)
	if err != nil {
		return err
	}
	return segment.Apply(f.t.Context(), f.store, s, map[string]storage.Family{"meta": schema.FamilyMeta})
}

// once applies what the feed has.
func (f *follower) once(feed replica.Feed) error {
	f.t.Helper()
	return feed.Follow(f.t.Context(), f.at(), false, f.frame)
}

func open(t *testing.T, from, key string) replica.Feed {
	t.Helper()
	feed, err := replica.Open(from, key, target.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return feed
}

// server serves the segments of a primary; wrap changes the handler.
func (p *primary) server(wrap func(http.Handler) http.Handler) string {
	h := segments.Handler(segments.Options{Log: p.rec.Log(), Tip: func() model.Point { return model.Point{Height: 7} }, Errors: slog.New(slog.DiscardHandler)})
	if wrap != nil {
		h = wrap(h)
	}
	s := httptest.NewServer(h)
	p.t.Cleanup(s.Close)
	return s.URL + "/v1/one"
}

func wantCode(t *testing.T, what string, err error, code string) {
	t.Helper()
	if _, got := model.KindOf(err); got != code {
		t.Errorf("%s: %v, expected %s", what, err, code)
	}
}

// Both feeds end with the replica at the position of the primary, from the beginning and from later.
func TestFeedsSendAllSegments(t *testing.T) {
	p, to, bucket := attach(t, memory.New()), t.TempDir(), bucket(t)
	p.write(5)
	for name, feed := range map[string]replica.Feed{
		"HTTP": open(t, p.server(nil), ""), "folder": open(t, "file://"+to, ""), "bucket": open(t, bucket, ""),
	} {
		f := newFollower(t)
		for range 3 {
			for _, to := range []string{to, bucket} {
				if err := p.publish(to); err != nil {
					t.Fatal(err)
				}
			}
			if err := f.once(feed); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if f.at() != p.at() || f.last.Seq != p.at().Seq || f.last.Height != 7 {
				t.Errorf("%s: at %+v with %+v, expected %+v", name, f.at(), f.last, p.at())
			}
			p.write(3)
		}
	}
}

// A panic ends the stream of one replica, and leaves nothing of it. Another one continues, and the next one begins.
func TestAPanicEndsItsStreamAlone(t *testing.T) {
	p := attach(t, memory.New())
	p.write(3)
	var armed atomic.Bool
	s := httptest.NewServer(answertest.Limited(t, 2, segments.Handler(segments.Options{
		Log: p.rec.Log(), Errors: slog.New(slog.DiscardHandler), Tip: func() model.Point {
			if armed.CompareAndSwap(true, false) {
				panic("injected")
			}
			return model.Point{Height: 7}
		},
	})))
	defer http.DefaultClient.CloseIdleConnections()
	defer s.Close()
	stream := func() io.ReadCloser {
		t.Helper()
		a, err := s.Client().Get(s.URL)
		if err != nil || a.StatusCode != http.StatusOK {
			t.Fatal(a, err)
		}
		return a.Body
	}
	// reads reports whether a stream gets to the newest update.
	reads := func(r io.Reader, newest uint64) bool {
		for {
			f, err := segments.ReadFrame(r)
			if err != nil || f.Segment == nil && f.Seq == newest {
				return err == nil
			}
		}
	}
	streams := []io.ReadCloser{stream(), stream()}
	for _, r := range streams {
		if !reads(r, p.at().Seq) {
			t.Fatal("a stream ends")
		}
	}
	armed.Store(true)
	p.write(1)
	newest, going := p.at().Seq, make(chan bool, len(streams))
	for _, r := range streams {
		go func() { going <- reads(r, newest) }()
	}
	if a, b := <-going, <-going; a == b {
		t.Errorf("after a panic in one of two streams: first %t, second %t", a, b)
	}
	again := stream()
	if !reads(again, newest) {
		t.Error("no stream after the panic")
	}
	for _, r := range append(streams, again) {
		r.Close()
	}
}

// A feed that is followed sends new segments until its context ends.
func TestFeedsFollow(t *testing.T) {
	p, to := attach(t, memory.New()), t.TempDir()
	p.write(1)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	published := make(chan error, 1)
	go func() { published <- p.publisher(to).Run(ctx) }()
	feeds := []replica.Feed{open(t, p.server(nil), ""), open(t, to, "")}
	var seqs [2]atomic.Uint64
	ended := make(chan error, 2)
	for i, feed := range feeds {
		go func() {
			f := newFollower(t)
			for ctx.Err() == nil { // the folder has no lineage yet
				err := feed.Follow(ctx, f.at(), true, func(frame segments.Frame) error {
					err := f.frame(frame)
					seqs[i].Store(f.at().Seq)
					return err
				})
				if _, code := model.KindOf(err); ctx.Err() == nil && code != "unreachable" {
					t.Error(err)
					break
				}
			}
			ended <- nil
		}()
	}
	for range 5 {
		p.write(2)
		for i := range seqs {
			for deadline := time.Now().Add(testrun.Patience); seqs[i].Load() < p.at().Seq; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatalf("feed %d is at update %d, expected %d", i, seqs[i].Load(), p.at().Seq)
				}
			}
		}
	}
	cancel()
	for range feeds {
		<-ended
	}
	if err := <-published; err != nil {
		t.Error(err)
	}
}

// Positions that a feed cannot continue are refused, with the reason.
func TestFeedsRefuseOtherHistories(t *testing.T) {
	p, to := attach(t, memory.New()), t.TempDir()
	p.write(6)
	if err := p.publish(to); err != nil {
		t.Fatal(err)
	}
	later := p.at()
	later.Seq += 2
	other, changed, old := p.at(), p.at(), p.at()
	other.Lineage[0] ^= 1
	changed.Hash[0] ^= 1
	old.Seq, old.Hash = 3, model.Hash{1}
	for name, feed := range map[string]replica.Feed{"HTTP": open(t, p.server(nil), ""), "folder": open(t, to, "")} {
		follow := func(at schema.Position) error {
			return feed.Follow(t.Context(), at, false, func(f segments.Frame) error {
				if f.Segment != nil {
					return errors.New("a segment was sent")
				}
				return nil
			})
		}
		wantCode(t, name+": another history", follow(old), "diverged")
		wantCode(t, name+": another lineage", follow(other), "diverged")
		if name == "HTTP" {
			wantCode(t, name+": later", follow(later), "diverged")
			wantCode(t, name+": another update", follow(changed), "diverged")
		}
	}
	// A gap: a segment is removed.
	if err := os.Remove(filepath.Join(to, segment.FolderName(p.at().Lineage), segment.FileName(3))); err != nil {
		t.Fatal(err)
	}
	f := newFollower(t)
	wantCode(t, "a gap in the folder", f.once(open(t, to, "")), "segment_gap")
	if f.at().Seq != 2 {
		t.Errorf("at update %d", f.at().Seq)
	}
	late := attach(t, p.store) // in another folder: a new lineage, without the segments before
	late.write(1)
	wantCode(t, "a gap over HTTP", newFollower(t).once(open(t, late.server(nil), "")), "segment_gap")
}

// Bytes that a connection or a disk changes are found, and nothing of their segment is applied.
func TestDamagedTransfers(t *testing.T) {
	p, to := attach(t, memory.New()), t.TempDir()
	p.write(4)
	if err := p.publish(to); err != nil {
		t.Fatal(err)
	}
	var flip atomic.Int64
	url := p.server(func(h http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { h.ServeHTTP(&flipping{w, flip.Load()}, r) })
	})
	f := newFollower(t)
	flips := 0
	for at := int64(0); f.at() != p.at(); at += 13 {
		before := f.at()
		flip.Store(at)
		err := f.once(open(t, url, ""))
		if err == nil && f.at() == before && before != p.at() {
			t.Fatalf("byte %d: no error, and no progress", at)
		}
		if err != nil {
			flips++
		}
	}
	if flips < 10 {
		t.Errorf("%d errors", flips)
	}

	path := filepath.Join(to, segment.FolderName(p.at().Lineage), segment.FileName(2))
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	f = newFollower(t)
	for i := range whole {
		b := slices.Clone(whole)
		b[i] ^= 4
		if err := os.WriteFile(path, b, 0o644); err != nil {
			t.Fatal(err)
		}
		if err := f.once(open(t, to, "")); err == nil || f.at().Seq != 1 {
			t.Fatalf("byte %d: at update %d, %v", i, f.at().Seq, err)
		}
	}
	if err := os.WriteFile(path, whole, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := f.once(open(t, to, "")); err != nil || f.at() != p.at() {
		t.Errorf("at %+v: %v", f.at(), err)
	}
}

// flipping changes one byte of a response.
type flipping struct {
	http.ResponseWriter
	at int64
}

func (w *flipping) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *flipping) Write(b []byte) (int, error) {
	if 0 <= w.at && w.at < int64(len(b)) {
		b = slices.Clone(b)
		b[w.at] ^= 1
	}
	w.at -= int64(len(b))
	return w.ResponseWriter.Write(b)
}

// A publisher whose folder fails retries, and then publishes everything.
func TestPublisherRetries(t *testing.T) {
	p, to := attach(t, memory.New()), filepath.Join(t.TempDir(), "to")
	p.write(2)
	if err := os.WriteFile(to, nil, 0o644); err != nil { // a file instead of a folder
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	pub := p.publisher(to)
	go func() { ended <- pub.Run(ctx) }()
	if err := os.Remove(to); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(testrun.Patience); pub.Published() < 2; time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("nothing was published")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// Answers without segments are errors with their kind.
func TestServersWithoutSegments(t *testing.T) {
	p := attach(t, memory.New())
	p.write(1)
	for status, code := range map[int]string{404: "not_offered", 401: "unauthorized", 500: "unreachable", 503: "unreachable", 200: "bad_segment"} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(status)
			fmt.Fprint(w, "<html>")
		}))
		wantCode(t, fmt.Sprint(status), newFollower(t).once(open(t, s.URL+"/v1/one", "")), code)
		s.Close()
		wantCode(t, "nobody listens", newFollower(t).once(open(t, s.URL+"/v1/one", "")), "unreachable")
	}
	base := strings.TrimSuffix(p.server(nil), "/v1/one")
	for query, want := range map[string]int{
		"?lineage=00": 400, "?seq=-1": 400, "?hash=zz": 400, "?follow=maybe": 400, "?after=3": 400, "?follow=false": 200, "?seq=9&follow=false": 409,
	} {
		r, err := http.Get(base + query)
		if err != nil {
			t.Fatal(err)
		}
		r.Body.Close()
		if r.StatusCode != want {
			t.Errorf("%s: %s, expected %d", query, r.Status, want)
		}
	}
	for _, from := range []string{"ftp://x/v1/y", "http://user:secret@x/v1/y", "http://x", "http://x/v1/y?z=1"} {
		if _, err := replica.Open(from, "", target.Options{}); err == nil {
			t.Errorf("%s was accepted", from)
		}
	}
}

// A replica that is behind learns first how far the primary is, so that its progress has a total.
func TestFeedsBeginWithTheStateOfThePrimary(t *testing.T) {
	p, to := attach(t, memory.New()), t.TempDir()
	p.write(5)
	if err := p.publish(to); err != nil {
		t.Fatal(err)
	}
	for name, feed := range map[string]replica.Feed{"HTTP": open(t, p.server(nil), ""), "folder": open(t, to, "")} {
		var frames []segments.Frame
		err := feed.Follow(t.Context(), schema.Position{}, false, func(f segments.Frame) error {
			frames = append(frames, f)
			return nil
		})
		if err != nil || len(frames) < 6 {
			t.Fatalf("%s: %d frames, %v", name, len(frames), err)
		}
		if f := frames[0]; f.Segment != nil || f.Seq != p.at().Seq || f.Height != 7 {
			t.Errorf("%s: the first frame is %+v, expected the state %d at height 7", name, f, p.at().Seq)
		}
	}
}
