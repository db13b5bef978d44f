package bench

import (
	"bytes"
	"context"
	"math/big"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"birthmark/bench/generate/distribution"
	"birthmark/chains/bitcoin"
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
				t.Errorf("behind block 3 of %d come %d", len(got), len(rest))
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
			t.Fatal("a byte too many was read")
		}
		if cut := rng.IntN(len(raw)); !damaged(raw[:cut]) {
			t.Fatalf("%d bytes of %d were read", cut, len(raw))
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
	if err := os.Truncate(filepath.Join(r.dir, blocksFile), 20_000); err != nil {
		t.Fatal(err)
	}
	for _, err = range s.Follow(context.Background(), nil) {
		if err != nil {
			break
		}
	}
	if err == nil {
		t.Error("blocks that are not there were replayed")
	}
	for _, err = range s.Follow(context.Background(), []model.Point{{Height: 2}}) {
	}
	if err == nil {
		t.Error("blocks behind an unknown one were replayed")
	}
	if _, err := OpenRecording(t.TempDir()); err == nil {
		t.Error("an empty folder was opened")
	}
	if _, err := r.Replay(301); err == nil {
		t.Error("more than there is was replayed")
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
			cpu := processCPU()
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
			b.ReportMetric((processCPU()-cpu).Seconds()*1e6/float64(b.N)/20_000, "cpu-µs/tx")
		})
	}
}
