package verify_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/verify"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage/memory"
)

var (
	open      = coretest.Open
	appendAll = coretest.AppendAll
	rollback  = coretest.Rollback
)

func TestMain(m *testing.M) { testrun.Main(m) }

// everything is a sample size above the length of every chain in these tests.
const everything = 1 << 20

// compare compares a database with a source, and checks the form of the result.
func compare(t testing.TB, db *core.DB, src model.Source, sample int) *verify.Result {
	t.Helper()
	a, err := db.Verify(context.Background(), src, verify.Options{Sample: sample, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	if a.OK != (len(a.Differences) == 0) {
		t.Errorf("ok is %t with %d differences", a.OK, len(a.Differences))
	}
	for _, d := range a.Differences {
		if line := text(d); d.What == "" || d.Source == d.Database || strings.Contains(line, `\n`) || strings.Contains(line, "%!") {
			t.Errorf("difference %s", line)
		}
	}
	return a
}

func text(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// bitcoin is the variant of the hand-made chains. The indexes of its keys are address, tag, box, label.
var bitcoin = modeltest.Variant{Name: "by hand", Coinbase: true, ByHand: true}

func hash(n byte) (h model.Hash) {
	h[0] = n
	return h
}

func key(index int, value string) model.Key { return model.Key{Index: index, Value: []byte(value)} }

// after returns a child of b with the transactions after a coinbase.
func after(b *model.Block, n byte, txs ...model.Tx) *model.Block {
	c := &model.Block{Hash: hash(n), Txs: append([]model.Tx{{Hash: hash(n), Outputs: []model.Output{{Value: 1}}}}, txs...)}
	if b != nil {
		c.Height, c.Parent = b.Height+1, b.Hash
	}
	return c
}

func spending(n byte, in ...model.Input) model.Tx {
	return model.Tx{Hash: hash(n), Inputs: in, Outputs: []model.Output{{Value: 0}}}
}

// A database agrees with the source of its blocks, by height and by parent: all of them are compared, and a sample is of
// that size. It differs from a source in which one value of one transaction is another.
func TestADatabaseAgreesWithItsSourceAlone(t *testing.T) {
	modeltest.Each(t, func(t *testing.T, v modeltest.Variant) {
		seed := testseed.Of(t, 670)
		rng := rand.New(rand.NewPCG(seed, 0))
		blocks := v.NewGenerator(seed).Blocks(20)
		db := open(t, memory.New(), v, 1<<20)
		appendAll(t, db, blocks, 7)
		for _, src := range []model.Source{ways[0].of(shelve(blocks)), ways[1].of(shelve(blocks))} {
			if a := compare(t, db, src, everything); !a.OK || a.Blocks != 20 {
				t.Fatalf("%s", text(a))
			}
			if a := compare(t, db, src, 3); !a.OK || a.Blocks < 3 || a.Blocks >= 20 {
				t.Errorf("a sample of 3: %s", text(a))
			}
		}
		var full []int // blocks with transactions
		for i, b := range blocks {
			if len(b.Txs) > 0 {
				full = append(full, i)
			}
		}
		for range 10 {
			at := full[rng.IntN(len(full))]
			other := *blocks[at]
			other.Txs = append([]model.Tx(nil), other.Txs...)
			tx := &other.Txs[rng.IntN(len(other.Txs))]
			tx.Outputs = append([]model.Output(nil), tx.Outputs...)
			what := "a fee"
			if len(tx.Outputs) > 0 {
				what = "a value"
				tx.Outputs[rng.IntN(len(tx.Outputs))].Value++
			} else {
				tx.Fee.Stated = true
				tx.Fee.Amount++
			}
			changed := append([]*model.Block(nil), blocks...)
			changed[at] = &other
			if a := compare(t, db, shelve(changed), everything); a.OK {
				t.Errorf("%s of transaction %s in block %d differs, which is not reported", what, tx.Hash, other.Height)
			}
		}
		coretest.Consistent(t, db)
	})
}
