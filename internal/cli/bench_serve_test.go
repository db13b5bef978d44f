package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/bench"
	"birthmark/bench/benchcmd"
)

func TestBenchServeOfAGeneratedDatabase(t *testing.T) {
	slow(t)
	t.Parallel()
	for chain, flag := range map[string]string{"bitcoin": "--per-kind --mix history,output=3 --rps 300", "cardano": "--rps 50 --no-cache"} {
		var a benchcmd.ServeAnswer
		ask(t, &a, benchTo(t, "serve --txs 1500 --block-txs 50 --samples 30 --connections 8 --seconds 1 --chain "+chain+" "+flag)...)
		if a.Chain != chain || a.Txs != 1500 || a.Memory != 64<<20 || a.Connections != 8 || a.NoCache != (chain == "cardano") || len(a.Indexes) == 0 || a.Syncing != nil {
			t.Errorf("%s: %+v", chain, a)
		}
		checkLoad(t, chain, &a.LoadAnswer)
		kinds, alone := 2, 2
		if chain == "cardano" {
			kinds, alone = len(bench.LoadMix), 0
		}
		if len(a.Kinds) != kinds || len(a.PerKind) != alone {
			t.Errorf("%s: %v, per kind %v", chain, a.Kinds, a.PerKind)
		}
		for kind, of := range a.PerKind {
			checkLoad(t, kind, of)
			if len(of.Kinds) != 1 || of.Kinds[kind] != of.Millis {
				t.Errorf("only %s: %+v", kind, of)
			}
		}
	}
}

func checkLoad(t *testing.T, name string, r *benchcmd.LoadAnswer) {
	t.Helper()
	if r.Requests == 0 || r.Errors != 0 || r.Bytes < int64(r.Requests) || !rising(r.Millis) || !(r.ClientCPU > 0) ||
		!(r.Server.CPUSeconds > 0) || len(r.Server.RSS) < 2 || r.Server.RSS[0] <= 0 {
		t.Errorf("%s: %+v %+v", name, r.LoadResult, r.Server)
	}
}

func TestBenchServeDuringASync(t *testing.T) {
	slow(t)
	t.Parallel()
	var a benchcmd.ServeAnswer
	ask(t, &a, benchTo(t, "serve --syncing --repeat 2 --txs 6000 --block-txs 50 --samples 30 --connections 4")...)
	s := a.Syncing
	if s == nil || len(s.Times) != 2 {
		t.Fatalf("%+v", s)
	}
	mean := benchcmd.SyncRates{Alone: (s.Times[0].Alone + s.Times[1].Alone) / 2, Loaded: (s.Times[0].Loaded + s.Times[1].Loaded) / 2}
	if !(s.Alone > 0) || !(s.Loaded > 0) || s.SyncRates != mean || s.Loss != 1-s.Loaded/s.Alone {
		t.Fatalf("%+v", s)
	}
	if a.Rate != 3000 || a.Txs < 3000 || a.Txs > 3300 || a.Errors != 0 || a.Requests == 0 {
		t.Errorf("%+v %+v", a, a.LoadResult)
	}
}

// Another server is queried like a server in this process, including its pages.
func TestBenchServeOfAnotherServer(t *testing.T) {
	slow(t) // measures for a second
	t.Parallel()
	url := shownIn(t, syncedBitcoin(t, 200)) + "/v1/bitcoin"
	var a benchcmd.ServeAnswer
	ask(t, &a, strings.Fields("bench serve --samples 5 --seconds 1 --connections 2 --mix page_home,page_tx,page_block,page_value,tx=2 --url "+url)...)
	if a.URL != url || a.Requests == 0 || a.Errors != 0 || len(a.Kinds) != 5 || a.Server != nil || a.Chain != "" {
		t.Errorf("%+v %+v", a, a.LoadResult)
	}
}

// An existing database is served unchanged.
func TestBenchServeOfAnExistingDatabase(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "kept")
	args := benchTo(t, "serve --txs 800 --block-txs 50 --samples 10 --seconds 1 --connections 2 --rps 200")
	var a benchcmd.ServeAnswer
	ask(t, &a, append(args, "--reuse-db", dir)...)
	if a.Txs != 800 {
		t.Errorf("%+v", a)
	}
	r := birthmark(benchTo(t, "serve --samples 10 --seconds 1 --connections 2 --rps 200 --per-kind --mix history,output=3 --db "+filepath.Join(dir, benchcmd.DatabaseFolder))...)
	for _, begin := range []string{"transactions  800", "requests      output=3,history=1", "history only  ", "output  "} {
		if r.status != exitDone || !slices.ContainsFunc(strings.Split(r.stdout, "\n"), func(l string) bool { return strings.HasPrefix(l, begin) }) {
			t.Errorf("as text: no line begins with %q: %+v", begin, r)
		}
	}
}

func TestBenchServeRejectsInvalidFlags(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]struct {
		status        int
		code, message string
	}{
		"--connections 0":                     {exitUsage, "bad_value", `^--connections: expected a number from 1 to 10000`},
		"--rps much":                          {exitUsage, "bad_value", `^--rps: expected a number from 1`},
		"--mix tx,zebra":                      {exitUsage, "bad_value", `^--mix: expected some of balance, block, .*"tx,zebra"$`},
		"--mix tx=0":                          {exitUsage, "bad_value", `^--mix: expected some of`},
		"--db x --reuse-db y":                 {exitUsage, "bad_value", `^--db and --reuse-db cannot be combined`},
		"--url http://h:1/v1/x --db y":        {exitUsage, "bad_value", `^--url and --db cannot be combined`},
		"--repeat 2":                          {exitUsage, "bad_value", `^--repeat needs --syncing`},
		"--syncing --per-kind":                {exitUsage, "bad_value", `^--syncing and --per-kind cannot be combined`},
		"--url h:80":                          {exitUsage, "bad_value", `expected the URL of a chain`},
		"--db " + os.DevNull:                  {exitRefused, "no_database", `no database in `},
		"--url http://127.0.0.1:1/v1/bitcoin": {exitSource, "no_answer", `refused`},
	} {
		wantFailure(t, want.status, want.code, want.message, append([]string{"bench", "serve"}, strings.Fields(line)...)...)
	}
}
