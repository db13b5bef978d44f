package bench

import (
	"bytes"
	"context"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"birthmark/bench/generate/distribution"
	"birthmark/bench/process"
	"birthmark/chains/bitcoin"
	"birthmark/core"
	"birthmark/internal/testseed"
	"birthmark/model"
)

func replayed(t testing.TB, s *Replay, known ...model.Point) (blocks []*model.Block) {
	t.Helper()
	for e, err := range s.Follow(context.Background(), known) {
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, e.Block)
	}
	return blocks
}

// A replay yields the same blocks as the chain's adapter.
func TestRecordedBlocksMatchTheAdapter(t *testing.T) {
	for _, name := range append(ChainNames(), "serialized", "raw") {
		t.Run(name, func(t *testing.T) {
			ctx := context.Background()
			c := Chain{Name: name, Txs: 600, TxsPerBlock: 20, Seed: testseed.New(t)}
			if name == "serialized" {
				name = bitcoin.Name
				c.Name, c.Serialized, c.Definitions, c.Indexes = name, true, someDefinitions, []string{"address", "small", "inputs"}
			}
			if name == "raw" {
				name = bitcoin.Name
				c.Name, c.Serialized, c.Raw = name, true, true
			}
			r := recorded(t, c)
			made, err := r.Chain.generate(ctx, t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			s, err := r.Replay(0)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			got := replayed(t, s)
			i, txs := 0, 0
			for b, err := range made.blocks(ctx, r.Chain.Indexes) {
				if err != nil {
					t.Fatal(err)
				}
				if txs += len(b.Txs); i == len(got) || txs >= c.Txs {
					break // the last one may be truncated
				}
				if !sameBlock(b, got[i]) {
					t.Fatalf("block %d: %+v, expected %+v", i, got[i], b)
				}
				for j := range got[i].Txs {
					if raw := len(got[i].Txs[j].Raw); (raw > 0) != c.Raw {
						t.Fatalf("block %d, transaction %d: %d bytes", i, j, raw)
					}
				}
				i++
			}
			if i != len(got)-1 {
				t.Errorf("%d blocks are the same of %d", i, len(got))
			}
			tip, err := s.Tip(ctx)
			if last := got[len(got)-1]; err != nil || tip != last.Point() {
				t.Errorf("the tip is %v (%v), the last block %v", tip, err, last.Point())
			}
			if m := s.Made(); m.Txs != c.Txs || m.Blocks != len(got) || m.Blocks != r.Made.Blocks || m.Assets != r.Made.Assets || m.Outputs == 0 {
				t.Errorf("%+v was replayed, %+v recorded", m, r.Made)
			}
			if rest := replayed(t, s, got[3].Point()); len(rest) != len(got)-4 || rest[0].Height != got[4].Height {
				t.Errorf("%d blocks, %d after block 3", len(got), len(rest))
			}
			if r.Hottest["address"] == "" || len(r.Hottest) > len(r.Chain.Indexes) {
				t.Errorf("hottest: %v of %v", r.Hottest, r.Chain.Indexes)
			}
			if entries, err := os.ReadDir(r.dir); err != nil || len(entries) > 4 { // three files and genesis
				t.Errorf("left: %v (%v)", entries, err)
			}
		})
	}
}

// sameBlock compares blocks; nil and empty slices are equal.
func sameBlock(a, b *model.Block) bool {
	return bytes.Equal(appendBlock(nil, a), appendBlock(nil, b)) && a.Point() == b.Point() && len(a.Txs) == len(b.Txs) &&
		reflect.DeepEqual(hashesOf(a), hashesOf(b))
}

func hashesOf(b *model.Block) (hashes []model.Hash) {
	for i := range b.Txs {
		hashes = append(hashes, b.Txs[i].Hash)
		for _, in := range b.Txs[i].Inputs {
			hashes = append(hashes, in.Tx)
		}
	}
	return hashes
}

// oneBlock returns a block with one of everything.
func oneBlock(rng distribution.Random) *model.Block {
	h := func() (h model.Hash) { copy(h[:], rng.Filler(nil, 32)); return h }
	id := rng.Filler(nil, 1+rng.IntN(200))
	return &model.Block{
		Height: model.HeightPk(rng.Uint32() & model.MaxHeight), Hash: h(), Parent: h(), Time: -rng.Int64(), Slot: rng.Uint64(), Size: rng.Int(), Header: rng.Filler(nil, 80),
		Genesis: []model.Tx{{Hash: h(), Outputs: []model.Output{{Value: rng.Uint64()}}}},
		Txs: []model.Tx{
			{Hash: h()},
			{
				Hash: h(), Fee: model.Fee{Stated: true, Amount: 1<<64 - 1}, FirstOutput: rng.Uint32(),
				Inputs: []model.Input{{Tx: h(), Index: rng.Uint32()}, {Value: rng.Filler(nil, 32)}},
				Outputs: []model.Output{
					{Value: 1<<64 - 1, Keys: []model.Key{{Index: 2, Value: rng.Filler(nil, 21)}, {Index: 300, Value: rng.Filler(nil, 1)}}},
					{Assets: []model.Asset{{ID: id, Amount: rng.Uint64()}, {ID: rng.Filler(nil, 28)}}},
				},
				Mints: []model.Mint{{Asset: id, Amount: big.NewInt(-rng.Int64() - 1), Info: rng.Filler(nil, 9)}, {Asset: id, Amount: new(big.Int).Lsh(big.NewInt(5), 80)}},
			},
			{Hash: h(), Fee: model.Fee{Stated: true}, Outputs: []model.Output{{Value: 3, Keys: []model.Key{{Value: id}}}}},
		},
	}
}

func TestRecordingRoundTrip(t *testing.T) {
	rng := distribution.NewRandom(testseed.New(t), 0)
	for range 100 {
		b := oneBlock(rng)
		raw := appendBlock(nil, b)
		if got, err := parseBlock(raw); err != nil || !reflect.DeepEqual(got, b) {
			t.Fatalf("%v; read %+v, expected %+v", err, got, b)
		}
		if _, err := parseBlock(append(raw, 0)); err == nil {
			t.Fatal("an extra byte was accepted")
		}
		if cut := rng.IntN(len(raw)); !damaged(raw[:cut]) {
			t.Fatalf("%d bytes of %d were accepted", cut, len(raw))
		}
	}
}

func damaged(raw []byte) bool {
	_, err := parseBlock(raw)
	return err != nil
}

func FuzzParseBlock(f *testing.F) {
	f.Add(appendBlock(nil, oneBlock(distribution.NewRandom(1, 0))))
	f.Fuzz(func(t *testing.T, raw []byte) {
		b, err := parseBlock(raw)
		if err != nil {
			return
		}
		if again, err := parseBlock(appendBlock(nil, b)); err != nil || !sameBlock(again, b) {
			t.Fatalf("%v: %+v, expected %+v", err, again, b)
		}
	})
}

func TestDamagedRecordingsAreRejected(t *testing.T) {
	r := recorded(t, Chain{Txs: 300, TxsPerBlock: 50, Seed: testseed.New(t)})
	s, err := r.Replay(0)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := os.Truncate(filepath.Join(r.dir, blocksFile), 4_000); err != nil {
		t.Fatal(err)
	}
	for _, err = range s.Follow(context.Background(), nil) {
		if err != nil {
			break
		}
	}
	if err == nil {
		t.Error("missing blocks were replayed")
	}
	for _, err = range s.Follow(context.Background(), []model.Point{{Height: 2}}) {
	}
	if err == nil {
		t.Error("blocks after an unknown one were replayed")
	}
	if _, err := OpenRecording(t.TempDir()); err == nil {
		t.Error("an empty folder was opened")
	}
	if _, err := r.Replay(301); err == nil {
		t.Error("more blocks than recorded were replayed")
	}
}

// A sync from a recording reports its progress in transactions, also when it resumes.
func TestReplayMeasuresItsChain(t *testing.T) {
	r := recorded(t, Chain{Txs: 600, TxsPerBlock: 50, Seed: testseed.New(t)})
	o := Options{Dir: t.TempDir(), BlockCache: 8 << 20, WriteBuffers: 32 << 20, Caches: 8 << 20}
	before, err := r.Before(0, 4)
	if err != nil {
		t.Fatal(err)
	}
	db, err := build(t.Context(), r, before, o)
	if err != nil {
		t.Fatal(err)
	}
	defer db.store.Close()
	var reports []core.Progress
	if _, err := db.sync(t.Context(), r, 0, core.SyncOptions{Progress: func(p core.Progress) { reports = append(reports, p) }}); err != nil {
		t.Fatal(err)
	}
	first, last := reports[0], reports[len(reports)-1]
	if first.Extent != (model.Extent{Txs: true, Done: uint64(before), Total: 600}) || last.Extent.Done != 600 || last.Fraction() != 1 {
		t.Errorf("%d transactions before; %+v, at the end %+v", before, first.Extent, last.Extent)
	}
}

func TestOutlineRoundTrip(t *testing.T) {
	g := NewGenerator(Chain{Seed: testseed.New(t), TxsPerBlock: 50, Indexes: bothIndexes})
	rng, x := distribution.NewRandom(testseed.New(t), 0), g.expander
	var o outline // reused, as in a replay
	for range 50 {
		b := g.Next(1 + rng.IntN(100))
		raw := appendOutline(nil, &g.last)
		if err := o.parse(raw); err != nil || !reflect.DeepEqual(x.block(&o), b) {
			t.Fatalf("block %d: %v; read %+v", b.Height, err, o)
		}
		if err := o.parse(append(raw, 0)); err == nil {
			t.Fatal("one byte too many was accepted")
		}
		if cut := rng.IntN(len(raw)); o.parse(raw[:cut]) == nil {
			t.Fatalf("%d bytes of %d were accepted", cut, len(raw))
		}
	}
}

func FuzzParseOutline(f *testing.F) {
	g := NewGenerator(Chain{Seed: 1, TxsPerBlock: 3, Indexes: bothIndexes})
	for range 3 {
		g.Next(5)
		f.Add(appendOutline(nil, &g.last))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		var o outline
		if o.parse(raw) == nil {
			g.block(&o)
		}
	})
}

// A recording uses a small part of the disk space of the database (262 bytes per transaction).
func TestRecordingIsSmall(t *testing.T) {
	r := recorded(t, Chain{Txs: 20_000, Seed: testseed.New(t)})
	var size int64
	for _, name := range []string{blocksFile, headsFile} {
		info, err := os.Stat(filepath.Join(r.dir, name))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if perTx := size / 20_000; perTx > 30 {
		t.Errorf("%d bytes per transaction, expected at most 30", perTx)
	}
}

func TestRecordingIsReusedForTheSameBlocks(t *testing.T) {
	c, err := Chain{Txs: 600, TxsPerBlock: 50, Seed: testseed.New(t), Indexes: bothIndexes}.Resolve(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	dir := recorded(t, c).dir
	with := func(change func(*Chain)) Chain {
		changed := c
		change(&changed)
		return changed
	}
	fewer := with(func(c *Chain) {
		c.Txs, c.Indexes, c.Keep = 200, []string{"script_hash"}, map[string]model.IndexOptions{"script_hash": {Balance: true}}
	})
	r, err := Reuse(dir, fewer)
	if err != nil || !reflect.DeepEqual(r.Chain.Indexes, fewer.Indexes) || !reflect.DeepEqual(r.Chain.Keep, fewer.Keep) {
		t.Fatalf("%v: %+v", err, r)
	}
	s, err := r.Replay(200)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	expected := blocksOf(t, fewer)
	for i, b := range replayed(t, s) {
		if i < len(expected)-1 && !sameBlock(b, expected[i]) { // the last one is truncated
			t.Errorf("block %d is different", i)
		}
	}
	for what, c := range map[string]Chain{
		"seed":                   with(func(c *Chain) { c.Seed++ }),
		"transactions":           with(func(c *Chain) { c.Txs++ }),
		"transactions per block": with(func(c *Chain) { c.TxsPerBlock++ }),
		"hot outputs":            with(func(c *Chain) { c.HotOutputs = 100 }),
		"chain":                  with(func(c *Chain) { c.Name = "ergo" }),
	} {
		_, err := Reuse(dir, c)
		if kind, _ := model.KindOf(err); kind != model.Refused || !strings.Contains(err.Error(), "("+what+": ") {
			t.Errorf("%s: %v", what, err)
		}
	}
	if r, err := Reuse(t.TempDir(), c); r != nil || err != nil {
		t.Errorf("an empty folder: %v, %v", r, err)
	}
}

// An interrupted recording is replaced. Other files are kept.
func TestInterruptedRecordingIsReplaced(t *testing.T) {
	for _, name := range ChainNames() {
		dir := filepath.Join(t.TempDir(), "blocks")
		c := Chain{Name: name, Txs: 100, Seed: testseed.New(t)}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := Record(ctx, dir, c, nil); err == nil {
			t.Fatalf("%s: not interrupted", name)
		}
		if r, err := Reuse(dir, c); r != nil || err != nil {
			t.Errorf("%s: interrupted: %v, %v", name, r, err)
		}
		if _, err := Record(context.Background(), dir, c, nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r, err := OpenRecording(dir); err != nil || r.Made.Txs != 100 {
			t.Errorf("%s: %v", name, err)
		}
		if _, err := Record(context.Background(), dir, c, nil); err == nil {
			t.Errorf("%s: a recording was replaced", name)
		}
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, blocksFile), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	_, err := Record(context.Background(), dir, Chain{Txs: 1}, nil)
	if kind, code := model.KindOf(err); kind != model.Refused || code != "not_empty" {
		t.Errorf("a folder with other files: %v", err)
	}
}

func TestHottestValue(t *testing.T) {
	rng, counts := distribution.NewRandom(testseed.New(t), 0), map[string]int{}
	for range 100_000 {
		value := string(rng.Filler(nil, 8))
		if rng.Chance(0.01) {
			value = "hot"
		}
		add(counts, value)
	}
	if value, n := most(counts); value != "hot" || n > 2000 || len(counts) > hotCounters {
		t.Errorf("%q %d of %d", value, n, len(counts))
	}
}

// BenchmarkReplay measures reading recorded blocks.
func BenchmarkReplay(b *testing.B) {
	for _, name := range ChainNames() {
		b.Run(name, func(b *testing.B) {
			r := recorded(b, Chain{Name: name, Txs: 20_000, Seed: 1})
			b.ReportAllocs()
			cpu := process.CPU()
			for b.Loop() {
				s, err := r.Replay(0)
				if err != nil {
					b.Fatal(err)
				}
				for _, err := range s.Follow(context.Background(), nil) {
					if err != nil {
						b.Fatal(err)
					}
				}
				if err := s.Close(); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric((process.CPU()-cpu).Seconds()*1e6/float64(b.N)/20_000, "cpu-µs/tx")
		})
	}
}
