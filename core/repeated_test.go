package core_test

import (
	"fmt"
	"testing"

	"birthmark/core"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

// An output that a later transaction with the same hash hides cannot be spent (BIP 30), also if the later output is
// spent and the caches are read from the rows of the database.
func TestHiddenOutputsStayHiddenAfterARestart(t *testing.T) {
	rng := testseed.Rand(t)
	hidden := 0
	for round := range testrun.Amount(20, 5) {
		const names = 3
		var blocks []*model.Block
		var made, unspent [names]int // outputs of the name; 1 if the newest is unspent
		coin := func(name int) model.Input { return model.Input{Tx: hash(byte(1 + name))} }
		var tip *model.Block
		for n := range 20 {
			b := after(tip, byte(100+n))
			name := rng.IntN(names)
			spend := unspent[name] > 0 && rng.IntN(2) == 0
			if end := n - 17; round == 0 && end >= 0 { // at least one is hidden
				name, spend = 0, end == 2
			}
			if spend {
				unspent[name] = 0
				b.Txs = append(b.Txs, spending(byte(150+n), coin(name)))
			} else {
				made[name]++
				unspent[name] = 1
				output := model.Output{Keys: []model.Key{key(0, fmt.Sprint(n))}}
				b.Txs = append(b.Txs, model.Tx{Hash: coin(name).Tx, Outputs: []model.Output{output}})
			}
			blocks, tip = append(blocks, b), b
		}
		want := fresh(t, bitcoin, blocks)
		for _, restarts := range []int{0, 3, 1} { // the last one after every block
			s := newSideFiles()
			db := open(t, s, bitcoin, 1<<20)
			for next := range blocks {
				sync(t, db, events(point(blocks, next-1), blocks[next:next+1]), core.SyncOptions{})
				if restarts > 0 && (next == len(blocks)-1 || rng.IntN(restarts) == 0) {
					clear(s.files)
					db = open(t, s, bitcoin, 1<<20)
				}
			}
			for name := range names {
				if made[name] < 2 || unspent[name] > 0 {
					continue
				}
				hidden++
				bad := []*model.Block{after(tip, 200, spending(201, coin(name)))}
				err := core.Sync(t.Context(), db, events(tip.Point(), bad), core.SyncOptions{})
				if code(err) != "already_spent" {
					t.Errorf("a spend of a hidden output, restarts %d: %v, expected already_spent", restarts, err)
				}
			}
			same(t, "with hidden outputs", dump(t, db), want)
			consistent(t, db)
		}
	}
	if hidden == 0 {
		t.Error("no output was hidden")
	}
}
