package replica_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/internal/snapshot/target"
	"birthmark/internal/testnode/s3test"
	"birthmark/internal/testrun"
	"birthmark/storage/memory"
)

// bucket returns the URL of an empty bucket.
func bucket(t *testing.T) string {
	t.Helper()
	return "s3://" + s3test.Bucket + "/segments?region=us-east-1&endpoint=" + s3test.Start(t)
}

func filesAt(t *testing.T, url string) target.Target {
	t.Helper()
	files, err := target.Open(url, target.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// Of two publishers of one lineage, the second is stopped at the first segment that differs; a promoted replica stops the
// publisher of the lineage that it continues. Nothing that was published is replaced.
func TestPublishersAreFenced(t *testing.T) {
	t.Run("folder", func(t *testing.T) { publishersAreFenced(t, t.TempDir(), t.TempDir()) })
	t.Run("bucket", func(t *testing.T) { publishersAreFenced(t, bucket(t), bucket(t)) })
}

func publishersAreFenced(t *testing.T, to, shared string) {
	one := attach(t, memory.New())
	one.write(3)
	if err := one.publish(to); err != nil {
		t.Fatal(err)
	}
	if err := one.publish(to); err != nil { // again: nothing to do
		t.Fatal(err)
	}
	// A replica at update 3, which is promoted; the primary continues.
	f := newFollower(t)
	if err := f.once(open(t, to, "")); err != nil {
		t.Fatal(err)
	}
	behind := newFollower(t)
	if err := behind.once(open(t, to, "")); err != nil {
		t.Fatal(err)
	}
	if err := segment.MarkReplica(t.Context(), f.store, to); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if _, err := segment.Promote(t.Context(), f.store, segment.Options{Dir: dir}); err != nil {
		t.Fatal(err)
	}
	r, err := segment.Attach(t.Context(), f.store, segment.Options{Dir: dir, Mode: segment.Record})
	if err != nil {
		t.Fatal(err)
	}
	two := &primary{t: t, store: f.store, rec: r.(*segment.Recorder), n: 100}
	two.write(2)
	if err := two.publish(to); err != nil {
		t.Fatal(err)
	}
	one.write(1)
	err = one.publish(to)
	wantCode(t, "the old primary", err, "fenced")
	if err == nil || !strings.Contains(err.Error(), "taken over") {
		t.Errorf("%v", err)
	}
	if err := behind.once(open(t, to, "")); err != nil || behind.at() != two.at() {
		t.Errorf("another replica is at %+v, expected %+v: %v", behind.at(), two.at(), err)
	}
	ahead := newFollower(t) // it applied an update of the old primary after the promotion
	if err := ahead.once(open(t, one.server(nil), "")); err != nil {
		t.Fatal(err)
	}
	wantCode(t, "a replica beyond the promotion", ahead.once(open(t, to, "")), "diverged")
	wantCode(t, "a replica beyond the promotion", ahead.once(open(t, two.server(nil), "")), "diverged")
	third := newFollower(t)
	wantCode(t, "the log of the promoted replica", third.once(open(t, two.server(nil), "")), "segment_gap")

	// Two publishers of one lineage.
	a := attach(t, memory.New())
	a.write(2)
	if err := a.publish(shared); err != nil {
		t.Fatal(err)
	}
	files, path := filesAt(t, shared), segment.FolderName(a.at().Lineage)+"/"+segment.FileName(3)
	other := []byte("another publisher")
	err = files.Put(t.Context(), path, target.Content{Bytes: bytes.NewReader(other), Size: int64(len(other)), SHA256: sha256.Sum256(other)})
	if err != nil {
		t.Fatal(err)
	}
	a.write(1)
	wantCode(t, "a second publisher", a.publish(shared), "fenced")
	r2, err := files.Open(t.Context(), path, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer r2.Close()
	if text, err := io.ReadAll(r2); err != nil || !bytes.Equal(text, other) {
		t.Errorf("the file was replaced: %q, %v", text, err)
	}
}

// numbersIn returns the numbers of the published segments of a lineage.
func numbersIn(t *testing.T, files target.Target, l schema.Lineage) (numbers []uint64) {
	t.Helper()
	for e, err := range files.List(t.Context(), segment.FolderName(l)) {
		if err != nil {
			t.Fatal(err)
		}
		if seq, ok := segment.ParseFileName(e.Name[strings.LastIndexByte(e.Name, '/')+1:]); ok {
			numbers = append(numbers, seq)
		}
	}
	slices.Sort(numbers)
	return numbers
}

// A folder or bucket has the segments that the primary keeps, and does not grow for ever: older ones are removed, also
// those of the lineage before. A replica that needs one fails with segment_gap.
func TestOldSegmentsAreRemoved(t *testing.T) {
	for kind, to := range map[string]string{"folder": t.TempDir(), "bucket": bucket(t)} {
		t.Run(kind, func(t *testing.T) {
			const keep = 4000 // a dozen segments
			one, files := attachKeeping(t, memory.New(), keep), filesAt(t, to)
			one.write(3)
			if err := one.publish(to); err != nil {
				t.Fatal(err)
			}
			late := newFollower(t)
			if err := late.once(open(t, to, "")); err != nil {
				t.Fatal(err)
			}
			// While it runs, and after a restart.
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			ended := make(chan error, 1)
			go func() { ended <- one.publisher(to).Run(ctx) }()
			equal := func(p *primary) {
				t.Helper()
				for deadline := time.Now().Add(testrun.Patience); ; time.Sleep(time.Millisecond) {
					state, _ := p.rec.Log().State()
					numbers := numbersIn(t, files, state.Lineage)
					if uint64(len(numbers)) == state.Seq-state.First+1 && numbers[0] == state.First {
						return
					}
					if time.Now().After(deadline) {
						t.Fatalf("published: %v, the log has %d to %d", numbers, state.First, state.Seq)
					}
				}
			}
			one.write(40)
			equal(one)
			if state, _ := one.rec.Log().State(); state.First < 10 {
				t.Fatalf("the log has all segments from %d on", state.First)
			}
			one.write(3)
			equal(one)
			cancel()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			wantCode(t, "a replica that is too far behind", late.once(open(t, to, "")), "segment_gap")
			wantCode(t, "a new replica", newFollower(t).once(open(t, to, "")), "segment_gap")

			// Another lineage continues it. The segments of the first are removed when nothing leads on from them.
			two := attachKeeping(t, one.store, keep)
			two.n = 1000
			if err := two.publish(to); err != nil {
				t.Fatal(err)
			}
			if n := numbersIn(t, files, one.at().Lineage); len(n) == 0 {
				t.Error("the segments of the lineage before were removed too early")
			}
			two.write(60)
			ctx, cancel = context.WithCancel(t.Context())
			defer cancel()
			go func() { ended <- two.publisher(to).Run(ctx) }()
			equal(two)
			for deadline := time.Now().Add(testrun.Patience); len(numbersIn(t, files, one.at().Lineage)) > 0; time.Sleep(time.Millisecond) {
				if time.Now().After(deadline) {
					t.Fatal("the segments of the lineage before are left")
				}
			}
			cancel()
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			wantCode(t, "a replica of the lineage before", late.once(open(t, to, "")), "segment_gap")
			r, err := files.Open(t.Context(), segment.FolderName(one.at().Lineage)+"/fenced", 0)
			if errors.Is(err, fs.ErrNotExist) {
				t.Error("the lineage before is not fenced any more")
			} else if err == nil {
				_ = r.Close()
			}
		})
	}
}
