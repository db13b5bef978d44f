package tikv_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/distributed/cluster"
	"birthmark/distributed/tikv"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/rocks/rockstest"
)

// Four readers during a sync: the tip of a reader never moves back, and all answers at a tip equal those of RocksDB at
// that tip.
func TestReadersDuringASync(t *testing.T) {
	testrun.Slow(t)
	c := cluster.Own(t, 1<<20)
	for _, v := range modeltest.Variants() {
		if v.Placed {
			continue // raw transactions in files, which the readers do not have
		}
		t.Run(v.Name, func(t *testing.T) {
			const first, readers = 8, 4
			blocks := v.NewGenerator(testseed.Of(t, 40)).Blocks(40)
			want := answersByTip(t, v, blocks, first)

			url := c.URL()
			s := open(t, url, (*tikv.Config).InParts)
			defer s.Close()
			db := coretest.Open(t, s, v, 1<<20)
			coretest.AppendAll(t, db, blocks[:first], 1)

			var ended atomic.Bool
			var all sync.WaitGroup
			passes := make(chan struct{}, readers)
			passed := func() {
				select {
				case passes <- struct{}{}:
				default:
				}
			}
			defer func() {
				ended.Store(true)
				all.Wait()
			}()
			for n := range readers {
				all.Go(func() {
					defer passed() // also after an error, so that the writer does not wait
					last, tips := model.Point{}, 0
					for {
						final := ended.Load()
						tip, answers, err := answersNow(t, url, v, blocks[:first])
						if err != nil {
							t.Errorf("reader %d: %v", n, err)
							return
						}
						if tip.Height < last.Height {
							t.Errorf("reader %d: the tip moves from height %d to %d", n, last.Height, tip.Height)
						}
						if answers != want[tip] {
							t.Errorf("reader %d: other answers than RocksDB at height %d:\n%.2000s\nexpected\n%.2000s", n, tip.Height, answers, want[tip])
						}
						if tip != last {
							last, tips = tip, tips+1
						}
						passed()
						if final {
							if last != blocks[len(blocks)-1].Point() {
								t.Errorf("reader %d: height %d after the sync", n, last.Height)
							}
							t.Logf("reader %d: %d tips", n, tips)
							return
						}
					}
				})
			}
			for i := first; i < len(blocks); i += 2 {
				if !t.Failed() {
					<-passes // lets readers see many tips
				}
				coretest.AppendAll(t, db, blocks[i:i+2], 2)
			}
			ended.Store(true)
			all.Wait()
			coretest.Consistent(t, db)
		})
	}
}

// answersByTip returns the answers about the first blocks at every later tip, from RocksDB.
func answersByTip(t *testing.T, v modeltest.Variant, blocks []*model.Block, first int) map[model.Point]string {
	s := rockstest.Open(t, testrun.TempDir(t), true)
	defer s.Close()
	db := coretest.Open(t, s, v, 1<<20)
	answers := map[model.Point]string{}
	for i, b := range blocks {
		coretest.AppendAll(t, db, []*model.Block{b}, 1)
		if i+1 >= first {
			answers[b.Point()] = strings.Join(coretest.Answers(t, db, blocks[:first]), "\n")
		}
	}
	return answers
}

// answersNow opens a database for reading and returns its tip and the answers about blocks.
func answersNow(t *testing.T, url string, v modeltest.Variant, blocks []*model.Block) (tip model.Point, answers string, err error) {
	config, err := tikv.ParseURL(url)
	if err != nil {
		return tip, "", err
	}
	s, err := tikv.Open(context.Background(), config, tikv.Options{ReadOnly: true})
	if err != nil {
		return tip, "", fmt.Errorf("open: %w", err)
	}
	defer s.Close()
	db, err := core.Open(context.Background(), s, core.Options{Chain: v.Chain("one"), Keep: v.Keep(), Raw: v.Raw, ReadOnly: true})
	if err != nil {
		return tip, "", fmt.Errorf("open the database: %w", err)
	}
	return db.Tip(), strings.Join(coretest.Answers(t, db, blocks), "\n"), nil
}
