package bitcoingen_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"birthmark/bench/generate/bitcoingen"
	"birthmark/chains/bitcoin"
	"birthmark/model"
)

// The adapter reads the expected chain from the files, to the end and with every key.
func TestAdapterReadsAllFiles(t *testing.T) {
	dir := t.TempDir()
	told := bitcoingen.Counts{}
	c, err := bitcoingen.Write(context.Background(), dir, bitcoingen.Options{Seed: 3, Txs: 6000, TxsPerBlock: 200}, func(n bitcoingen.Counts) { told = n })
	if err != nil || told != c.Made() || told.Txs != 6000 {
		t.Fatalf("made %+v, told %+v: %v", c.Made(), told, err)
	}
	chain, err := bitcoin.New("regtest")
	if err != nil {
		t.Fatal(err)
	}
	last := c.Tip().Height
	src, err := chain.Open(context.Background(), model.SourceOptions{
		URI: "file://" + filepath.Join(dir, bitcoingen.BlocksFolder), To: &last, Indexes: []string{"address", "script_type"},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	if tip, err := src.Tip(context.Background()); err != nil || tip.Hash != c.Tip().Hash {
		t.Errorf("the tip is %v (%v), expected %v", tip, err, c.Tip())
	}
	got, hot := bitcoingen.Counts{}, 0
	for e, err := range src.Follow(context.Background(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		got.Blocks++
		got.Txs += len(e.Block.Txs)
		got.Bytes += e.Block.Size
		for _, tx := range e.Block.Txs {
			got.Inputs += len(tx.Inputs)
			got.Outputs += len(tx.Outputs)
			for _, o := range tx.Outputs {
				for _, k := range o.Keys {
					if k.Index == 0 && chain.Indexes()[0].Format(k.Value) == c.HotAddress() {
						hot++
					}
					if kind := string(k.Value); k.Index == 1 && (kind == "nonstandard" || kind == "witness_unknown") {
						t.Fatalf("a script of transaction %s is %s", tx.Hash, kind)
					}
				}
			}
		}
	}
	if got != c.Made() {
		t.Errorf("read %+v, made %+v", got, c.Made())
	}
	if hot < got.Outputs/20 {
		t.Errorf("%d outputs pay to the most frequent address", hot)
	}
}

func TestWriteRejectsNonEmptyFolder(t *testing.T) {
	dir := t.TempDir()
	o := bitcoingen.Options{Seed: 1, Txs: 10}
	if _, err := bitcoingen.Write(context.Background(), dir, o, nil); err != nil {
		t.Fatal(err)
	}
	_, err := bitcoingen.Write(context.Background(), dir, o, nil)
	if kind, code := model.KindOf(err); kind != model.Refused || code != "not_empty" {
		t.Errorf("kind %v, code %s: %v", kind, code, err)
	}
}

func TestWriteEndsWhenCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	dir := t.TempDir()
	_, err := bitcoingen.Write(ctx, dir, bitcoingen.Options{Txs: 1000}, func(n bitcoingen.Counts) {
		if n.Blocks == 5 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
	if found, err := os.ReadDir(filepath.Join(dir, bitcoingen.BlocksFolder)); err != nil || len(found) != 1 {
		t.Errorf("%v: %v", found, err)
	}
}
