package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"birthmark/bench/benchcmd"
	"birthmark/core/query"
	"birthmark/internal/testrun"
)

func TestGeneratedErgoIsSynced(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	dir := t.TempDir()
	var a benchcmd.GenerateAnswer
	args := []string{"bench", "generate", "--chain", "ergo", "--txs", "1000", "--seed", "9", dir}
	ask(t, &a, args...)
	if a.Txs < 1000 || a.Chain != "ergo" || a.Network != "testnet" || a.Bytes == 0 || a.TxsPerSecond <= 0 {
		t.Errorf("%+v", a)
	}
	db := filepath.Join(t.TempDir(), "db")
	ask(t, nil, "sync", "--chain", a.Chain, "--network", a.Network, "--source", a.Source, "--db", db, "--index", "address,register")
	var status query.StatusAnswer
	ask(t, &status, "status", "--db", db)
	got := status.Totals
	if got.Blocks != uint64(a.Blocks) || got.Txs != uint64(a.Txs) || got.Inputs != uint64(a.Inputs) || got.Outputs != uint64(a.Outputs) || got.Assets != uint64(a.Assets) {
		t.Errorf("synced %+v, expected %+v", got, a)
	}
	ask(t, nil, "check", "--db", db)
	var asset query.AssetAnswer
	ask(t, &asset, "asset", "--db", db, a.Asset)
	if asset.OutputCount < 10 {
		t.Errorf("%d boxes contained the most frequent token", asset.OutputCount)
	}
	wantFailure(t, exitRefused, "not_empty", `blocks.jsonl is there already`, args...)
}

func TestBenchDecodeOfErgo(t *testing.T) {
	slow(t)
	t.Parallel()
	generated, file := benchcmd.DecodeAnswer{}, benchcmd.DecodeAnswer{}
	ask(t, &generated, strings.Fields("bench decode --chain ergo --txs 300")...)
	var a benchcmd.GenerateAnswer
	ask(t, &a, "bench", "generate", "--chain", "ergo", "--txs", "300", t.TempDir())
	ask(t, &file, "bench", "decode", "--chain", "ergo", "--network", "testnet", "--source", a.Source)
	if generated.Txs != a.Txs || generated.Blocks != a.Blocks || generated.Network != "testnet" || generated.Runs["encoding/json"].TxsPerSecond <= 0 {
		t.Errorf("%+v of %+v", generated, a)
	}
	if file.Txs != generated.Txs || file.Bytes != generated.Bytes {
		t.Errorf("from the file %+v, generated %+v", file, generated)
	}
}
