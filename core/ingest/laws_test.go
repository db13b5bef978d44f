package ingest_test

import (
	"fmt"
	"io"
	"math/big"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

// holding returns an output with amounts of assets.
func holding(amounts map[string]uint64) model.Output {
	o := model.Output{Keys: []model.Key{key(0, "holder")}}
	for _, id := range []string{"gold", "lead", "zinc"} {
		if n, has := amounts[id]; has {
			o.Assets = append(o.Assets, model.Asset{ID: []byte(id), Amount: n})
		}
	}
	return o
}

func minting(id string, amount int64) model.Mint {
	return model.Mint{Asset: []byte(id), Amount: big.NewInt(amount)}
}

// The assets of a transaction that mints must balance. On a chain with implied burns each transaction must, except in
// the genesis, and what its outputs lack is burned. On other chains transactions without mints are accepted as they are.
func TestAssetsOfTransactionsBalance(t *testing.T) {
	type amounts = map[string]uint64
	const without, loses = "without a mint", "without a burn"
	for what, c := range map[string]struct {
		outputs        amounts
		mints          []model.Mint
		stated, burned string // the error on a chain that states burns, and on one with implied burns
	}{
		"balanced":          {amounts{"gold": 5, "lead": 7}, nil, "", ""},
		"minted":            {amounts{"gold": 6, "lead": 7}, []model.Mint{minting("gold", 1)}, "", ""},
		"burned":            {amounts{"gold": 3, "lead": 7}, []model.Mint{minting("gold", -2)}, "", ""},
		"burned as a whole": {amounts{"lead": 7}, []model.Mint{minting("gold", -5)}, "", ""},
		"minted and lost":   {amounts{"gold": 6, "lead": 6}, []model.Mint{minting("gold", 1)}, loses, ""},
		"minted too little": {amounts{"gold": 7, "lead": 7}, []model.Mint{minting("gold", 1)}, without, without},
		"another minted":    {amounts{"gold": 5, "lead": 8}, []model.Mint{minting("gold", 1)}, loses, without},
		"minted twice":      {amounts{"gold": 7, "lead": 7}, []model.Mint{minting("gold", 1), minting("gold", 1)}, "twice", "twice"},
		"lost":              {amounts{"gold": 1}, nil, "", ""},
		"created":           {amounts{"gold": 6, "lead": 7}, nil, "", without},
		"a new one created": {amounts{"gold": 5, "lead": 7, "zinc": 1}, nil, "", without},
	} {
		for _, implied := range []bool{false, true} {
			v := modeltest.Variant{Name: "by hand", Coinbase: true, ByHand: true, Implied: implied, Genesis: true, Kept: true}
			first := after(nil, 1)
			first.Genesis = []model.Tx{{
				Hash: hash(9), Outputs: []model.Output{holding(amounts{"gold": 5, "lead": 7})}, Mints: []model.Mint{minting("gold", 5), minting("lead", 7)},
			}}
			next := after(first, 2, model.Tx{Hash: hash(20), Inputs: []model.Input{{Tx: hash(9)}}, Outputs: []model.Output{holding(c.outputs)}, Mints: c.mints})
			db := open(t, memory.New(), v, 0)
			appendAll(t, db, []*model.Block{first}, 1)
			before := dump(t, db)
			want := c.stated
			if implied {
				want = c.burned
			}
			err := db.Append(t.Context(), []*model.Block{next})
			if want != "" {
				if _, code := model.KindOf(err); err == nil || code != "bad_block" || !strings.Contains(err.Error(), want) {
					t.Errorf("%s, implied burns %t: %v, expected an error with %q", what, implied, err, want)
				}
			} else if err != nil {
				t.Errorf("%s, implied burns %t: %v", what, implied, err)
			} else {
				if implied || c.mints != nil {
					consistent(t, db)
				}
				rollback(t, db, first.Point())
			}
			same(t, what, dump(t, db), before)
		}
	}
}

// Mints and burns of assets that the caches lack have the births of the database: assets in outputs of the transaction,
// assets in none of them, and assets that values of the same transaction evict.
func TestMintsOfEvictedAssets(t *testing.T) {
	many := func(n int) (outputs []model.Output) { // with values that fill the caches
		for i := range 20_000 {
			outputs = append(outputs, model.Output{Keys: []model.Key{key(0, fmt.Sprint(n, " ", i)), key(1, fmt.Sprint(i, " ", n))}})
		}
		return outputs
	}
	type amounts = map[string]uint64
	one := after(nil, 1, model.Tx{
		Hash: hash(10), Outputs: []model.Output{holding(amounts{"gold": 5, "lead": 7}), holding(amounts{"gold": 2})},
		Mints: []model.Mint{minting("gold", 7), minting("lead", 7)},
	})
	two := after(one, 2, model.Tx{Hash: hash(20), Outputs: many(2)})
	three := after(two, 3,
		model.Tx{ // burns all of the gold, keeps the lead
			Hash: hash(30), Inputs: []model.Input{{Tx: hash(10)}}, Outputs: []model.Output{holding(amounts{"lead": 7})},
			Mints: []model.Mint{minting("gold", -5)},
		},
		model.Tx{ // mints lead again, and more values than the caches have
			Hash: hash(31), Inputs: []model.Input{{Tx: hash(10), Index: 1}},
			Outputs: append([]model.Output{holding(amounts{"gold": 2, "lead": 1})}, many(3)...), Mints: []model.Mint{minting("lead", 1)},
		},
	)
	blocks := []*model.Block{one, two, three}
	want := fresh(t, bitcoin, blocks)
	db := open(t, memory.New(), bitcoin, 0)
	appendAll(t, db, blocks, 1)
	same(t, "with small caches", dump(t, db), want)
	rollback(t, db, model.Point{})
	appendAll(t, db, blocks, 3)
	same(t, "appended again at once", dump(t, db), want)
}

// A rollback removes the values of blocks, too.
func TestRollbackRemovesTheValuesOfBlocks(t *testing.T) {
	v := modeltest.Variants()[3]
	blocks := v.NewGenerator(testseed.Of(t, 65)).Blocks(12)
	names := append(slices.Clone(modeltest.IndexNames), modeltest.MakerIndex)
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: v.Chain("one"), Indexes: names, Keep: v.Keep()})
	if err != nil {
		t.Fatal(err)
	}
	states := []dumped{dump(t, db)}
	for _, b := range blocks {
		appendAll(t, db, []*model.Block{b}, 1)
		states = append(states, dump(t, db))
	}
	of := func(d dumped) (n int) {
		for _, row := range d {
			if strings.HasPrefix(row, modeltest.MakerIndex+"_blocks ") {
				n++
			}
		}
		return n
	}
	if n := of(states[len(blocks)]); n == 0 {
		t.Fatal("no block has a value")
	}
	for i := len(blocks) - 1; i > 0; i-- {
		rollback(t, db, blocks[i-1].Point())
		same(t, "rolled back", dump(t, db), states[i])
	}
	consistent(t, db)
}

// spilling is a store with a folder, in which caches write what exceeds their memory.
type spilling struct {
	storage.Store
	folder string
}

func (s *spilling) CacheFolder() (string, int) { return s.folder, 100 }

func (s *spilling) WriteSideFile(_ string, write func(io.Writer) error) error {
	return write(io.Discard)
}

func (s *spilling) ReadSideFile(string, func(io.Reader) error) error { return storage.ErrNotFound }

// If a repeated transaction's output is unspent again after a rollback, it is spent before that of the earlier
// transaction with the same hash (BIP 30), which a file of the caches has.
func TestRollbacksBeyondMemoryWithARepeatedHash(t *testing.T) {
	made := func(value uint64) model.Tx { return model.Tx{Hash: hash(50), Outputs: []model.Output{{Value: value}}} }
	blocks := []*model.Block{after(nil, 1, made(1))}
	for n := range byte(10) {
		blocks = append(blocks, after(blocks[n], 2+n, model.Tx{Hash: hash(100 + n), Outputs: make([]model.Output, 100)}))
	}
	add := func(n byte, tx model.Tx) { blocks = append(blocks, after(blocks[len(blocks)-1], n, tx)) }
	add(20, made(2))
	add(21, spending(60, model.Input{Tx: hash(50)}))
	want := fresh(t, bitcoin, blocks)
	s := &spilling{memory.New(), filepath.Join(t.TempDir(), "overflow")}
	db := open(t, s, bitcoin, 0)
	appendAll(t, db, blocks, 1)
	if files, err := filepath.Glob(filepath.Join(s.folder, "outputs-*")); err != nil || len(files) == 0 {
		t.Fatalf("the caches wrote %d files, %v", len(files), err)
	}
	last := len(blocks) - 1
	for range 2 {
		rollback(t, db, blocks[last-1].Point())
		appendAll(t, db, blocks[last:], 1)
		same(t, "spent again", dump(t, db), want)
		consistent(t, db)
	}
}

// The same with random chains.
func TestRollbacksBeyondMemoryWithRepeatedHashes(t *testing.T) {
	v, rng := modeltest.Variants()[0], testseed.Rand(t)
	if !v.Repeats {
		t.Fatal("no hashes repeat in " + v.Name)
	}
	for range amount(3, 1) {
		blocks := v.NewGenerator(rng.Uint64()).Blocks(amount(200, 50))
		db := open(t, &spilling{memory.New(), filepath.Join(t.TempDir(), "overflow")}, v, 0)
		for next := range blocks {
			appendAll(t, db, blocks[next:next+1], 1)
			if back := 1 + rng.IntN(4); next >= back {
				rollback(t, db, blocks[next-back].Point())
				appendAll(t, db, blocks[next-back+1:next+1], back)
			}
		}
		consistent(t, db)
		same(t, "after rollbacks", dump(t, db), fresh(t, v, blocks))
	}
}
