package core_test

import (
	"testing"

	"birthmark/core"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

// A source that is far ahead may take long to say its first block, and one at the tip waits for it.
func TestHowMuchThereIsToDoIsToldBeforeTheFirstBlock(t *testing.T) {
	v := modeltest.Variants()[0]
	blocks := v.NewGenerator(seed(t, 1)).Blocks(5)
	db := open(t, memory.New(), v, 0)
	var told []core.Progress
	s := &script{tip: blocks[4].Point()}
	s.say = func(yield func(model.Event, error) bool) {
		if len(told) != 1 || told[0].Target != blocks[4].Height || told[0].Blocks != 0 || told[0].Elapsed == 0 || told[0].Done {
			t.Errorf("before the first block: %+v", told)
		}
	}
	sync(t, db, s, core.SyncOptions{Progress: func(p core.Progress) { told = append(told, p) }})
}
