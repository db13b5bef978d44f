package cli

import (
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"birthmark/bench/benchcmd"
	"birthmark/core/query"
	"birthmark/internal/testrun"
	"birthmark/storage/rocks"
)

// The database must not depend on how blocks are batched.
func TestGeneratedBitcoinIsSynced(t *testing.T) {
	t.Parallel()
	txs := testrun.Amount(5000, 2000)
	var a benchcmd.GenerateAnswer
	args := []string{"bench", "generate", "--chain", "bitcoin", "--txs", strconv.Itoa(txs), "--block-txs", "100", "--seed", "9", t.TempDir()}
	ask(t, &a, args...)
	if a.Txs != txs || a.Chain != "bitcoin" || a.Network != "regtest" || a.Bytes == 0 || a.TxsPerSecond <= 0 {
		t.Errorf("%+v", a)
	}
	db := filepath.Join(t.TempDir(), "db")
	ask(t, nil, "sync", "--chain", a.Chain, "--network", a.Network, "--source", a.Source, "--db", db)
	var status query.StatusAnswer
	ask(t, &status, "status", "--db", db)
	got := status.Totals
	if got.Blocks != uint64(a.Blocks) || got.Txs != uint64(txs) || got.Inputs != uint64(a.Inputs) || got.Outputs != uint64(a.Outputs) {
		t.Errorf("synced %+v, expected %+v", got, a)
	}
	consistent(t, db)
	var found struct{ Outputs []any }
	ask(t, &found, "find", "--db", db, "address", a.Address)
	if len(found.Outputs) < 20 {
		t.Errorf("%d outputs pay the most frequent address", len(found.Outputs))
	}
	digest := digestOf(t, db)

	blocks := filepath.Join(t.TempDir(), "db")
	store, err := rocks.Open(blocks, rocks.Options{WAL: true, BlockCache: 8 << 20, WriteBuffers: 32 << 20})
	if err != nil {
		t.Fatal(err)
	}
	syncInBatches(t, store, a.Network, a.Source, 1, 0)
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	same(t, blocks, digest)
	wantFailure(t, exitRefused, "not_empty", `blocks is not empty`, args...)
}

func TestBenchSyncAndDecodeOfBitcoin(t *testing.T) {
	slow(t)
	t.Parallel()
	var a benchcmd.GenerateAnswer
	ask(t, &a, "bench", "generate", "--chain", "bitcoin", "--txs", "2000", t.TempDir())
	var synced map[string]any
	ask(t, &synced, "bench", "sync", "--chain", a.Chain, "--network", a.Network, "--source", a.Source, "--memory", "64MiB", "--dir", t.TempDir())
	if synced["txs"] != 2000.0 || synced["network"] != "regtest" {
		t.Errorf("%v", synced)
	}
	generated, file := benchcmd.DecodeAnswer{}, benchcmd.DecodeAnswer{}
	ask(t, &generated, strings.Fields("bench decode --chain bitcoin --txs 2000")...)
	ask(t, &file, "bench", "decode", "--chain", "bitcoin", "--network", a.Network, "--source", strings.TrimPrefix(a.Source, "file://")+"/blk00000.dat")
	if generated.Txs < 2000 || generated.Network != "regtest" || generated.Runs["btcd"].TxsPerSecond <= 0 {
		t.Errorf("%+v", generated)
	}
	if file.Txs != a.Txs || file.Blocks != a.Blocks {
		t.Errorf("read %+v, the file contains %+v", file, a)
	}
}
