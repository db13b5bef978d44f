package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"birthmark/storage"
)

var writeGuarantees = []guarantee{
	{"the last change to a key in a batch counts", lastChangeCounts},
	{"a batch takes copies", batchTakesCopies},
	{"deleting what is not there is harmless", deletingNothing},
	{"a change of one family leaves the same key of the others", familiesAreApart},
	{"an Update whose fn fails writes nothing", failedUpdateWritesNothing},
	{"an Update whose fn panics writes nothing and lets go of the store", panickedUpdateWritesNothing},
	{"an Update with an undeclared family is an error and writes nothing", undeclaredFamilyIsNotWritten},
	{"an Update that was cancelled writes nothing", cancelledUpdateWritesNothing},
	{"an Update without changes succeeds", emptyUpdate},
	{"one Update runs at a time", updatesAreSerial},
	{"a large Update is written whole", largeUpdate},
}

func lastChangeCounts(t *testing.T, s storage.Store) {
	const there, absent = "there", "absent"
	// p puts the change's place in the row, d deletes.
	for _, changes := range []string{"p", "d", "pp", "pd", "dp", "dd", "ppd", "pdp", "dpd", "ddp", "pdpdpd", "dpdpdp"} {
		for _, f := range families {
			put(t, s, f, there, "before")
			update(t, s, func(b storage.Batch) {
				for i, change := range changes {
					for _, key := range []string{there, absent} {
						if change == 'p' {
							b.Put(f, []byte(key), fmt.Appendf(nil, "%s %d", changes, i))
						} else {
							b.Delete(f, []byte(key))
						}
					}
					b.Put(f, []byte("neighbour"), []byte(changes)) // keeps the changes apart and out of order
				}
			})
			view(t, s, func(r storage.Reader) {
				for _, key := range []string{there, absent} {
					if changes[len(changes)-1] == 'p' {
						wantGet(t, r, f, key, fmt.Sprintf("%s %d", changes, len(changes)-1))
					} else {
						wantAbsent(t, r, f, key)
					}
				}
			})
			update(t, s, func(b storage.Batch) {
				b.Delete(f, []byte(there))
				b.Delete(f, []byte(absent))
			})
		}
	}
}

func batchTakesCopies(t *testing.T, s storage.Store) {
	update(t, s, func(b storage.Batch) {
		key, value := []byte("k0"), []byte("v0")
		for i := range byte(10) {
			key[1], value[1] = '0'+i, '0'+i
			b.Put(ordered, key, value)
		}
		key[1] = '5'
		b.Delete(ordered, key)
		key[1] = '6'
	})
	view(t, s, func(r storage.Reader) {
		for i := range 10 {
			key := fmt.Sprintf("k%d", i)
			if i == 5 {
				wantAbsent(t, r, ordered, key)
			} else {
				wantGet(t, r, ordered, key, fmt.Sprintf("v%d", i))
			}
		}
	})
}

func deletingNothing(t *testing.T, s storage.Store) {
	put(t, s, lookup, "a", "1")
	update(t, s, func(b storage.Batch) {
		b.Delete(lookup, []byte("b"))
		b.Delete(grouped, []byte("a"))
	})
	wantContent(t, s, "the update", content{lookup: {{"a", "1"}}})
}

func familiesAreApart(t *testing.T, s storage.Store) {
	want := content{}
	update(t, s, func(b storage.Batch) {
		for _, f := range families {
			b.Put(f, []byte("k"), fmt.Appendf(nil, "of %d", f))
			want[f] = []row{{"k", fmt.Sprintf("of %d", f)}}
		}
	})
	wantContent(t, s, "the update", want)
	update(t, s, func(b storage.Batch) { b.Delete(lookup, []byte("k")) })
	delete(want, lookup)
	wantContent(t, s, "a delete in one family", want)
}

// leavesStore runs a write that must fail. It checks that the store is unchanged and still accepts writes.
func leavesStore(t *testing.T, s storage.Store, try func()) {
	t.Helper()
	for _, f := range families {
		put(t, s, f, "kept", "before", "gone", "before")
	}
	before := all(t, s)
	try()
	wantContent(t, s, "a write that must not happen", before)
	put(t, s, lookup, "after", "1")
	want := before
	want[lookup] = append([]row{{"after", "1"}}, before[lookup]...)
	wantContent(t, s, "another write", want)
	update(t, s, func(b storage.Batch) { b.Delete(lookup, []byte("after")) })
}

func changeEverything(b storage.Batch) {
	for _, f := range families {
		b.Put(f, []byte("kept"), []byte("changed"))
		b.Put(f, []byte("new"), []byte("changed"))
		b.Delete(f, []byte("gone"))
	}
}

func failedUpdateWritesNothing(t *testing.T, s storage.Store) {
	leavesStore(t, s, func() {
		own := errors.New("own")
		err := s.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
			changeEverything(b)
			return own
		})
		if !errors.Is(err, own) {
			t.Errorf("Update: %v, want %v", err, own)
		}
	})
}

func panickedUpdateWritesNothing(t *testing.T, s storage.Store) {
	leavesStore(t, s, func() {
		defer func() {
			if got := recover(); got != "own" {
				t.Errorf("recovered %v, want the panic of fn", got)
			}
		}()
		err := s.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
			changeEverything(b)
			panic("own")
		})
		t.Errorf("Update returned %v instead of panicking", err)
	})
}

func undeclaredFamilyIsNotWritten(t *testing.T, s storage.Store) {
	for name, change := range map[string]func(storage.Batch){
		"put":    func(b storage.Batch) { b.Put(undeclared, []byte("k"), []byte("v")) },
		"delete": func(b storage.Batch) { b.Delete(undeclared, []byte("k")) },
	} {
		leavesStore(t, s, func() {
			err := s.Update(context.Background(), func(_ storage.Reader, b storage.Batch) error {
				b.Put(ordered, []byte("new"), []byte("changed"))
				change(b)
				changeEverything(b)
				return nil
			})
			if err == nil {
				t.Errorf("%s: no error", name)
			}
		})
	}
}

func cancelledUpdateWritesNothing(t *testing.T, s storage.Store) {
	for name, cancelEarly := range map[string]bool{"before": true, "within": false} {
		leavesStore(t, s, func() {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if cancelEarly {
				cancel()
			}
			err := s.Update(ctx, func(_ storage.Reader, b storage.Batch) error {
				changeEverything(b)
				cancel()
				return nil
			})
			if !errors.Is(err, context.Canceled) {
				t.Errorf("cancelled %s: %v, want %v", name, err, context.Canceled)
			}
		})
	}
}

func emptyUpdate(t *testing.T, s storage.Store) {
	put(t, s, ordered, "a", "1")
	update(t, s, func(storage.Batch) {})
	wantContent(t, s, "an update without changes", content{ordered: {{"a", "1"}}})
}

func updatesAreSerial(t *testing.T, s storage.Store) {
	const writers, rounds = 4, 25
	put(t, s, lookup, "n", "0")
	var wg sync.WaitGroup
	for range writers {
		wg.Go(func() {
			for range rounds {
				err := s.Update(context.Background(), func(r storage.Reader, b storage.Batch) error {
					text, err := r.Get(lookup, []byte("n"))
					if err != nil {
						return err
					}
					n := 0
					if _, err := fmt.Sscan(string(text), &n); err != nil {
						return err
					}
					b.Put(lookup, []byte("n"), fmt.Append(nil, n+1))
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	view(t, s, func(r storage.Reader) { wantGet(t, r, lookup, "n", fmt.Sprint(writers*rounds)) })
}

func largeUpdate(t *testing.T, s storage.Store) {
	const rows = 10_000
	update(t, s, func(b storage.Batch) {
		for i := range rows {
			for _, f := range families {
				b.Put(f, fmt.Appendf(nil, "%d", i*7919%rows), fmt.Appendf(nil, "%d of %d", i, f))
			}
		}
	})
	for f, found := range all(t, s) {
		if len(found) != rows {
			t.Errorf("family %d holds %d rows, want %d", f, len(found), rows)
		}
	}
	update(t, s, func(b storage.Batch) {
		for i := range rows {
			for _, f := range families {
				b.Delete(f, fmt.Appendf(nil, "%d", i))
			}
		}
	})
	if left := all(t, s); len(left) != 0 {
		t.Errorf("rows are left in %d families, want none", len(left))
	}
}
