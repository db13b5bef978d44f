package cardanogen_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"birthmark/bench/generate/cardanogen"
	"birthmark/chains/cardano"
	"birthmark/model"
)

const seed = 77

// rules has the unspent outputs and assets, and checks the rules for blocks.
type rules struct {
	t       *testing.T
	unspent map[string]model.Output
	minted  map[string]*big.Int
	tip     model.Point
	counts  cardanogen.Counts
	datums  int // outputs with a datum

	more func(*testing.T, *model.Tx) *big.Int // lovelace that a transaction has in addition to its inputs; nil: none
}

func ledgerOf(t *testing.T) *rules {
	return &rules{t: t, unspent: map[string]model.Output{}, minted: map[string]*big.Int{}}
}

func outpoint(tx model.Hash, index int) string { return fmt.Sprintf("%s:%d", tx, index) }

func (l *rules) apply(b *model.Block) {
	l.t.Helper()
	if l.counts.Blocks > 0 && (b.Parent != l.tip.Hash || b.Height != l.tip.Height+1 || b.Slot <= l.tip.Slot) {
		l.t.Fatalf("block %d at slot %d does not follow %+v", b.Height, b.Slot, l.tip)
	}
	l.tip = b.Point()
	l.counts.Blocks++
	for i := range b.Genesis {
		l.make(&b.Genesis[i])
	}
	for i := range b.Txs {
		l.tx(&b.Txs[i])
	}
}

func (l *rules) tx(tx *model.Tx) {
	l.t.Helper()
	l.counts.Txs++
	value := new(big.Int)
	assets := map[string]*big.Int{}
	add := func(id []byte, amount *big.Int) {
		if assets[string(id)] == nil {
			assets[string(id)] = new(big.Int)
		}
		assets[string(id)].Add(assets[string(id)], amount)
	}
	for _, in := range tx.Inputs {
		at := outpoint(in.Tx, int(in.Index))
		o, ok := l.unspent[at]
		if !ok {
			l.t.Fatalf("transaction %s spends %s, which is not unspent", tx.Hash, at)
		}
		delete(l.unspent, at)
		value.Add(value, new(big.Int).SetUint64(o.Value))
		for _, a := range o.Assets {
			add(a.ID, new(big.Int).SetUint64(a.Amount))
		}
		l.counts.Inputs++
	}
	for _, m := range tx.Mints {
		add(m.Asset, m.Amount)
		if l.minted[string(m.Asset)] == nil {
			l.minted[string(m.Asset)] = new(big.Int)
		}
		l.minted[string(m.Asset)].Add(l.minted[string(m.Asset)], m.Amount)
		l.counts.Mints++
	}
	fails := tx.FirstOutput > 0
	if l.more != nil {
		value.Add(value, l.more(l.t, tx))
		fails = fails || !tx.Fee.Stated // the collateral without return, before Babbage
	}
	if tx.Fee.Stated {
		value.Sub(value, new(big.Int).SetUint64(tx.Fee.Amount))
	} else {
		value.SetInt64(0)
	}
	for _, o := range tx.Outputs {
		value.Sub(value, new(big.Int).SetUint64(o.Value))
		for _, a := range o.Assets {
			add(a.ID, new(big.Int).Neg(new(big.Int).SetUint64(a.Amount)))
		}
	}
	if value.Sign() != 0 {
		l.t.Fatalf("transaction %s: the inputs have %s lovelace more than the outputs", tx.Hash, value)
	}
	for id, amount := range assets {
		if amount.Sign() != 0 {
			l.t.Fatalf("transaction %s: inputs and mints have %s of %x more than the outputs", tx.Hash, amount, id)
		}
	}
	if fails {
		l.counts.Failed++
	}
	l.make(tx)
}

func (l *rules) make(tx *model.Tx) {
	for j, o := range tx.Outputs {
		l.unspent[outpoint(tx.Hash, tx.OutputIndex(j))] = o
		l.counts.Outputs++
		l.counts.Assets += len(o.Assets)
		l.datums += len(o.Keys)
	}
}

// Every input exists, no value is created, and the held assets equal mints minus burns.
func TestBlocksFollowLedgerRules(t *testing.T) {
	dir := t.TempDir()
	var told cardanogen.Counts
	c, err := cardanogen.Write(context.Background(), dir, cardanogen.Options{Seed: seed}, 6000, func(n cardanogen.Counts) { told = n })
	if err != nil {
		t.Fatal(err)
	}
	l := ledgerOf(t)
	for b := range follow(t, dir, "datum_hash") {
		l.apply(b)
	}
	made := c.Made()
	if made.Txs != 6000 || told != made {
		t.Errorf("%+v was written, %+v told: expected 6000 transactions", made, told)
	}
	if l.tip != c.Tip() {
		t.Errorf("the tip is %+v, expected %+v", l.tip, c.Tip())
	}
	l.counts.Outputs -= c.Genesis().Outputs
	if made.Bytes = 0; l.counts != made {
		t.Errorf("%+v was read, %+v written", l.counts, made)
	}
	if share := float64(l.datums) / float64(made.Outputs); math.Abs(share-0.24) > 0.05 {
		t.Errorf("%.2f of the outputs have a datum, expected 0.24", share)
	}
	if made.Failed == 0 {
		t.Error("no transaction has failed scripts")
	}
	for _, o := range l.unspent {
		for _, a := range o.Assets {
			l.minted[string(a.ID)].Sub(l.minted[string(a.ID)], new(big.Int).SetUint64(a.Amount))
		}
	}
	for id, rest := range l.minted {
		if rest.Sign() != 0 {
			t.Errorf("of %x, %s are minted but not held", id, rest)
		}
	}
}

// An asset has the holders that the options ask for, also if the chain is short.
func TestAnAssetHasManyHolders(t *testing.T) {
	const holders = 12_000
	dir := t.TempDir()
	c, err := cardanogen.Write(context.Background(), dir, cardanogen.Options{Seed: seed, Holders: holders}, 7, nil)
	if err != nil {
		t.Fatal(err)
	}
	l := ledgerOf(t)
	for b := range follow(t, dir, "address") {
		l.apply(b)
	}
	held := map[string]bool{}
	for _, o := range l.unspent {
		if slices.ContainsFunc(o.Assets, func(a model.Asset) bool { return string(a.ID) == string(c.HotAsset()) }) {
			held[string(o.Keys[0].Value)] = true
		}
	}
	if len(held) < holders {
		t.Errorf("%d addresses hold the asset, expected %d", len(held), holders)
	}
}

// follow returns the blocks of a written folder, with the values of an index, through the source that a sync uses.
func follow(t *testing.T, dir, index string) func(yield func(*model.Block) bool) {
	t.Helper()
	chain, err := cardano.New(filepath.Join(dir, cardanogen.GenesisFolder))
	if err != nil {
		t.Fatal(err)
	}
	src, err := chain.Open(context.Background(), model.SourceOptions{URI: "file://" + filepath.Join(dir, cardanogen.ImmutableFolder), Indexes: []string{index}})
	if err != nil {
		t.Fatal(err)
	}
	return func(yield func(*model.Block) bool) {
		defer src.Close()
		for e, err := range src.Follow(context.Background(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			if !yield(e.Block) {
				return
			}
		}
	}
}

func TestWriteIsDeterministic(t *testing.T) {
	var first map[string][]byte
	for range 2 {
		dir := t.TempDir()
		if _, err := cardanogen.Write(context.Background(), dir, cardanogen.Options{Seed: seed, TxsPerBlock: 2}, 4000, nil); err != nil {
			t.Fatal(err)
		}
		files := map[string][]byte{}
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			name, _ := filepath.Rel(dir, path)
			files[name], err = os.ReadFile(path)
			return err
		})
		if err != nil || len(files) < 2+2*3 {
			t.Fatalf("%d files: %v", len(files), err)
		}
		for name, content := range first {
			if !bytes.Equal(files[name], content) {
				t.Errorf("%s differs", name)
			}
		}
		first = files
	}
}

func TestWriteRejectsFolderWithBlocks(t *testing.T) {
	dir := t.TempDir()
	if _, err := cardanogen.Write(context.Background(), dir, cardanogen.Options{}, 10, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := cardanogen.Write(context.Background(), dir, cardanogen.Options{}, 10, nil); err == nil {
		t.Error("a second chain overwrote the first one")
	}
}

func TestWriteEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	_, err := cardanogen.Write(ctx, t.TempDir(), cardanogen.Options{}, 1_000_000, func(cardanogen.Counts) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, expected %v", err, context.Canceled)
	}
}
