package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/bench/benchcmd"
	"birthmark/core/query"
	"birthmark/internal/testblocks"
)

// generated returns a small generated chain of cardano.
func generated(t *testing.T, txs int) (a benchcmd.GenerateAnswer) {
	t.Helper()
	ask(t, &a, "bench", "generate", "--txs", strconv.Itoa(txs), "--seed", "9", t.TempDir())
	return a
}

func TestGeneratedCardanoIsSynced(t *testing.T) {
	slow(t)
	t.Parallel()
	a := generated(t, 3000)
	if a.Txs != 3000 || a.Chain != "cardano" || a.Bytes == 0 || a.TxsPerSecond <= 0 {
		t.Errorf("%+v", a)
	}
	db := filepath.Join(t.TempDir(), "db")
	ask(t, nil, "sync", "--chain", a.Chain, "--network", a.Network, "--source", a.Source, "--db", db, "--index", everyCardanoIndex)
	var status query.StatusAnswer
	ask(t, &status, "status", "--db", db, "--network", a.Network)
	got := status.Totals
	if got.Blocks != uint64(a.Blocks) || got.Txs != 3000 || got.Inputs != uint64(a.Inputs) || got.Outputs != uint64(a.Outputs) || got.Assets != uint64(a.Assets) {
		t.Errorf("synced %+v, expected %+v", got, a)
	}
	ask(t, nil, "check", "--db", db, "--network", a.Network)
	var holders struct{ Holders []any }
	ask(t, &holders, "asset-holders", "--db", db, "--network", a.Network, a.Asset)
	if len(holders.Holders) < 2 {
		t.Errorf("%d addresses hold the most frequent asset", len(holders.Holders))
	}
	var found struct{ Outputs []any }
	ask(t, &found, "find", "--db", db, "--network", a.Network, "address", a.Address)
	if len(found.Outputs) < 10 {
		t.Errorf("%d outputs pay the most frequent address", len(found.Outputs))
	}
}

func TestBenchSync(t *testing.T) {
	slow(t)
	t.Parallel()
	a := generated(t, 2000)
	dir := t.TempDir()
	args := []string{"bench", "sync", "--chain", a.Chain, "--network", a.Network, "--source", a.Source, "--memory", "64MiB"}
	var figures map[string]any
	ask(t, &figures, append(args, "--dir", dir, "--wal", "off")...)
	if figures["txs"] != 2000.0 || figures["chain"] != "cardano" || figures["wal"] != false || figures["memory"] != float64(64<<20) {
		t.Errorf("%v", figures)
	}
	for _, f := range slices.Concat(benchFigures, []string{"network", "indexes", "blocks_per_s"}) {
		if figures[f] == nil {
			t.Errorf("%s is missing", f)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("remaining files: %v (%v)", left, err)
	}

	db := filepath.Join(dir, "db")
	r := birthmark(append(args, "--db", db, "--to-height", "100")...)
	if r.status != exitDone || !strings.Contains(r.stdout, "entities/s") {
		t.Errorf("as text: %+v", r)
	}
	var status query.StatusAnswer
	ask(t, &status, "status", "--db", db, "--network", a.Network)
	if status.Totals.Blocks != 101 {
		t.Errorf("the database in --db has %d blocks", status.Totals.Blocks)
	}
	wantFailure(t, exitRefused, "not_empty", `contains a database`, append(args, "--db", db)...)
	wantFailure(t, exitUsage, "missing_flag", `^missing --source`, "bench", "sync", "--chain", "cardano")
	wantFailure(t, exitUsage, "missing_flag", `^missing --chain`, "bench", "sync", "--source", a.Source)
}

func TestBenchDecodeComparesDecoders(t *testing.T) {
	slow(t)
	t.Parallel()
	args := strings.Fields("bench decode --txs 300 --block-txs 30 --index address,policy")
	var a benchcmd.DecodeAnswer
	ask(t, &a, args...)
	if a.Chain != "cardano" || a.Txs < 300 || a.Blocks < 5 || len(a.Indexes) != 2 || len(a.Runs) != 2 {
		t.Fatalf("%+v", a)
	}
	ours, theirs := a.Runs["birthmark"], a.Runs["gouroboros"]
	if ours.TxsPerSecond <= 0 || theirs.CPUMicrosPerTx <= 0 || ours.Rounds < 3 || a.Ratio != ours.BlocksPerSecond/theirs.BlocksPerSecond || a.CPURatio <= 0 {
		t.Errorf("%+v %+v %v", ours, theirs, a.Ratio)
	}
	profile := filepath.Join(t.TempDir(), "cpu.prof")
	r := birthmark(append(args, "--cpuprofile", profile)...)
	if info, err := os.Stat(profile); r.status != exitDone || err != nil || info.Size() == 0 || !strings.Contains(r.stdout, "gouroboros ") {
		t.Errorf("the profile: %v; %+v", err, r)
	}
}

func TestBenchDecodeOfBlocksWithoutTransactions(t *testing.T) {
	slow(t) // measures for a second
	t.Parallel()
	source := testblocks.Path(t, "cardano", "dingo-immutable", "00001.chunk")
	var a benchcmd.DecodeAnswer
	ask(t, &a, "bench", "decode", "--network", "preview", "--source", source)
	if a.Txs != 0 || a.Blocks == 0 || a.Ratio <= 0 {
		t.Errorf("%+v", a)
	}
}

// Chunks and block files are truncated if they exceed the requested number.
func TestBenchDecodeReadsFilesUpToALimit(t *testing.T) {
	slow(t)
	t.Parallel()
	g := generated(t, 2500)
	var a benchcmd.DecodeAnswer
	ask(t, &a, "bench", "decode", "--network", g.Network, "--source", g.Source, "--mb", "1")
	if a.Txs == 0 || a.Txs >= g.Txs || a.Bytes > 1_000_000 {
		t.Errorf("read %d transactions in %d bytes of %+v", a.Txs, a.Bytes, g)
	}
	var b benchcmd.DecodeAnswer
	ask(t, &b, "bench", "decode", "--chain", "bitcoin", "--source", realBlocks(t), "--mb", "1")
	if b.Runs["btcd"] == nil || b.Txs < 1000 || b.Txs > 14_000 {
		t.Errorf("%+v", b)
	}
}

func TestBenchDecodeReadsARealChunk(t *testing.T) {
	slow(t)
	t.Parallel()
	chunk := testblocks.Path(t, "cardano", "pallas", "01285.chunk")
	var a benchcmd.DecodeAnswer
	ask(t, &a, "bench", "decode", "--network", "preprod", "--source", chunk)
	if a.Blocks != 864 || a.Txs == 0 {
		t.Errorf("%+v", a)
	}
}

func TestBenchGenerateAndDecodeRejectInvalidInput(t *testing.T) {
	t.Parallel()
	cut := filepath.Join(t.TempDir(), "blk00000.dat")
	if err := os.WriteFile(cut, []byte{0xf9, 0xbe, 0xb4, 0xd9, 100, 0, 0, 0, 1, 2}, 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "blk00001.dat")
	if err := os.WriteFile(empty, make([]byte, 100), 0o600); err != nil {
		t.Fatal(err)
	}
	full := t.TempDir()
	for _, sub := range []string{"immutable", filepath.Join("immutable", "x")} {
		if err := os.Mkdir(filepath.Join(full, sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for line, want := range map[string]struct {
		status        int
		code, message string
	}{
		"generate --chain monero x":                            {exitUsage, "bad_value", `^--chain: expected bitcoin, .*tapyrus, zcash, not "monero"$`},
		"generate --txs 0 x":                                   {exitUsage, "bad_value", `^--txs: expected a number from 1`},
		"generate":                                             {exitUsage, "missing_argument", `^missing argument DIR`},
		"generate " + full:                                     {exitRefused, "not_empty", `is not empty`},
		"decode --chain bitcoin --source " + cut:               {exitSource, "bad_block", `the block at offset 0 has 108 bytes, only 10 are left`},
		"decode --chain bitcoin --source " + empty:             {exitSource, "source_empty", `contains no blocks`},
		"decode --chain bitcoin --source " + empty + ".absent": {exitSource, "no_file", `no such file`},
		"decode --source " + empty:                             {exitSource, "bad_chunk", `is not a chunk`},
		"decode --mb none":                                     {exitUsage, "bad_value", `^--mb: expected a number from 1 to 1000`},
	} {
		wantFailure(t, want.status, want.code, want.message, append([]string{"bench"}, strings.Fields(line)...)...)
	}
}
