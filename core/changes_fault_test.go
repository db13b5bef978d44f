package core_test

import (
	"errors"
	"slices"
	"testing"

	"birthmark/core/query"
	"birthmark/core/query/changes"
	"birthmark/internal/testseed"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

// If a read fails, a change feed ends with an error: it never ends early without one.
func TestAFailedReadEndsTheChangeFeedWithAnError(t *testing.T) {
	v := modeltest.Variants()[0]
	s := storetest.NewFaulty(memory.New())
	db := open(t, s, v, 0)
	appendAll(t, db, v.NewGenerator(testseed.Of(t, 786)).Blocks(12), 4)
	index := db.Indexes()[0]
	for name, what := range map[string]changes.Filter{
		"all":    {Term: query.Term{Index: index}},
		"spends": {Term: query.Term{Index: index}, Spends: true},
		"list":   {List: &query.WatchList{Index: index, Values: someOf(1)}, Spends: true},
	} {
		read := func() (all []string, err error) {
			for e, err := range changes.Follow(t.Context(), db.Queries, nil, what) {
				if err != nil {
					return all, err
				}
				all = append(all, text(e))
			}
			return all, nil
		}
		s.FailAt(0)
		want, err := read()
		if err != nil || len(want) < 12 {
			t.Fatalf("%s: %d changes, %v", name, len(want), err)
		}
		failures := 0
		for step := 1; ; step++ {
			s.FailAt(step)
			got, err := read()
			if err != nil && !errors.Is(err, storetest.ErrInjected) || err == nil && !slices.Equal(got, want) {
				t.Errorf("%s, step %d: %d of %d changes, %v", name, step, len(got), len(want), err)
			}
			if s.Steps() < step {
				break
			}
			if err != nil {
				failures++
			}
		}
		if s.FailAt(0); failures < 10 {
			t.Errorf("%s: %d reads failed", name, failures)
		}
	}
}
