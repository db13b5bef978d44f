package cli

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/core/query"
	"birthmark/core/query/search"
	"birthmark/internal/testblocks"
	"birthmark/internal/testrun"
)

// search finds the objects that match a text. It exits with status 1 if there are none.
func TestSearchFindsWhatATextNames(t *testing.T) {
	t.Parallel()
	db := first200(t, "--index", "address,script_hash")
	for text, want := range map[string]string{
		"170":                                "block 00000000d1145790a8694403d4063f323d499e655c83426834d4ce2f8dd4a2ee",
		"latest":                             "block 00000000b7691ccc084542565697eca256e56bb7f67e560b48789db27f0468eb",
		"genesis":                            "block 000000000019d6689c085ae165831e934ff763ae46a2a6c172b3f1b60a8ce26f",
		firstPayment:                         "tx " + firstPayment,
		firstPayment + "#1":                  "output " + firstPayment + ":1",
		satoshi:                              "address " + satoshi,
		"1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2": "address 1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2",
		"8131e31b9b2da6ddb7cca24c537869c94320f19e80fc2ee72c9558e5a9296978": "script_hash 8131e31b9b2da6ddb7cca24c537869c94320f19e80fc2ee72c9558e5a9296978",
	} {
		var a search.Results
		ask(t, &a, "search", text, "--db", db)
		if len(a.Results) != 1 {
			t.Errorf("%s: %+v", text, a)
			continue
		}
		r := a.Results[0]
		kind := r.Type
		if r.Index != "" {
			kind = r.Index
		}
		if kind+" "+r.Value != want {
			t.Errorf("%s: %+v, expected %s", text, r, want)
		}
	}
	wantFailure(t, exitFailed, "no_results", `^no results for "hello": expected a height, a hash,`, "search", "hello", "--db", db)
}

// Without INDEX, the value determines the index.
func TestValueDeterminesItsIndex(t *testing.T) {
	t.Parallel()
	db := first200(t, "--index", "address,script_hash")
	const script = "8131e31b9b2da6ddb7cca24c537869c94320f19e80fc2ee72c9558e5a9296978"
	for _, c := range []string{"balance", "history", "find", "find --follow --until-tip"} {
		for index, value := range map[string]string{"address": satoshi, "script_hash": script} {
			args := append(strings.Fields(c), "--db", db)
			short, long := birthmark(append(args, value)...), birthmark(append(args, index, value)...)
			if short != long || short.status != exitDone {
				t.Errorf("%s %s: %+v, expected %+v", c, value, short, long)
			}
		}
	}
	every := birthmark("find", "--follow", "--until-tip", "address", "--db", db)
	if every.status != exitDone || strings.Count(every.stdout, "\n+ ") < 199 {
		t.Errorf("find --follow address: %+v", every)
	}
	unused := birthmark("balance", "1BvBMSEYstWetqTFn5Au4m4GFg7xJaNVN2", "--db", db)
	if unused.status != exitDone || !strings.HasPrefix(unused.stdout, "address  ") && !strings.HasPrefix(unused.stdout, "address ") {
		t.Errorf("%+v", unused)
	}
	wantFailure(t, exitUsage, "missing_argument", `^missing argument VALUE`, "balance", "script_hash", "--db", db)
	wantFailure(t, exitUsage, "bad_value", `checksum.*; for a value of another index, write INDEX VALUE \(address, script_hash\)$`,
		"balance", "12cbQLTFMXRnSzktFkuoG3eHoMeFtpTu3T", "--db", db)
	wantFailure(t, exitUsage, "unknown_index", `no index "adress"; it offers address, .*; did you mean "address"\?$`, "balance", "adress", satoshi, "--db", db)
}

// --csv without --limit prints a list of any length from its cursor, and the sums of a history are the balance.
func TestCSVPrintsWholeLists(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	db := filepath.Join(t.TempDir(), "db")
	syncTo(t, db, "file://"+realBlocks(t), "--wal=off", "--index", "address,script_type")
	read := func(args ...string) (rows [][]string) {
		t.Helper()
		r := birthmark(append(args, "--csv", "--db", db)...)
		rows, err := csv.NewReader(strings.NewReader(r.stdout)).ReadAll()
		if err != nil || r.status != exitDone || r.stderr != "" {
			t.Fatalf("%v: %v, status %d, %s", args, err, r.status, r.stderr)
		}
		return rows[1:]
	}
	blocks := read("blocks")
	if len(blocks) != 14_132 || blocks[0][2] != "2009-01-03T18:15:05Z" {
		t.Fatalf("%d blocks, the first is %v", len(blocks), blocks[0])
	}
	first := birthmark("blocks", "--csv", "--db", db, "--limit", "5000")
	_, cursor, more := strings.Cut(strings.TrimSpace(first.stderr), "--after ")
	if rest := read("blocks", "--after", cursor); !more || len(rest) != 14_132-5000 || rest[0][0] != "5000" {
		t.Errorf("%d blocks follow the cursor %q", len(rest), cursor)
	}
	var balance query.BalanceAnswer
	if err := json.Unmarshal([]byte(birthmark("balance", "script_type", "pubkey", "--db", db, "--json").stdout), &balance); err != nil {
		t.Fatal(err)
	}
	history := read("history", "script_type", "pubkey", "--raw-amounts")
	received, sent := int64(0), int64(0)
	for _, row := range history {
		in, err1 := strconv.ParseInt(row[3], 10, 64)
		out, err2 := strconv.ParseInt(row[4], 10, 64)
		if err := errors.Join(err1, err2); err != nil {
			t.Fatal(err)
		}
		received, sent = received+in, sent+out
	}
	if uint64(len(history)) != balance.TxCount || fmt.Sprint(received) != balance.Received || fmt.Sprint(sent) != balance.Sent {
		t.Errorf("%d transactions, received %d, sent %d: expected %+v", len(history), received, sent, balance)
	}
	wantFailure(t, exitUsage, "missing_flag", `--raw-amounts needs --csv$`, "blocks", "--raw-amounts", "--db", db)
}

// --csv has a column per JSON field, and the cursor of the next page is on stderr.
func TestListsArePrintedAsCSV(t *testing.T) {
	t.Parallel()
	db := first200(t, "--index", "address,script_hash")
	for line, header := range map[string]string{
		"blocks":             "height,hash,time,size,tx_count",
		"find " + satoshi:    "tx,index,height,tx_index,value,keys.address,keys.script_hash,spent_by.tx,spent_by.input,spent_by.height,confirmations,block_time",
		"history " + satoshi: "hash,height,index,received,sent,time,balance",
		"values address":     "value,first_seen.tx,first_seen.index,first_seen.height",
		"richest address":    "value,balance,unspent_count",
		"forks":              "",
		"assets":             "",
	} {
		args := append(strings.Fields(line), "--db", db, "--limit", "3", "--csv")
		r := birthmark(args...)
		rows, err := csv.NewReader(strings.NewReader(r.stdout)).ReadAll()
		if err != nil || r.status != exitDone {
			t.Fatalf("%s: %+v, %v", line, r, err)
		}
		if got := strings.Join(rows[0], ","); header != "" && got != header {
			t.Errorf("%s: columns %s, expected %s", line, got, header)
		}
		if header != "" && len(rows) != 4 {
			t.Errorf("%s: %d rows: %s", line, len(rows), r.stdout)
		}
		if more := strings.HasPrefix(r.stderr, "birthmark: there is more: --after "); more == (header == "" || strings.HasPrefix(line, "richest")) {
			t.Errorf("%s: stderr %q", line, r.stderr)
		}
	}
	if r := birthmark("follower", "set", "wallet", "100", "--db", db); r.status != exitDone {
		t.Fatalf("%+v", r)
	}
	for line, want := range map[string]string{
		"follower list": `^name,at.height,at.hash,resumes_at.height,resumes_at.hash,behind,updated\nwallet,100,0{8}\w{56},100,0{8}\w{56},99,\d+\n$`,
		"index list":    `^name,kind,values,keeps,when,value,adding,added_to,of,dropping\naddress,one-to-many,\d+,.*\nscript_hash,one-to-many,\d+,.*\n$`,
	} {
		r := birthmark(append(strings.Fields(line), "--csv", "--db", db)...)
		if !regexp.MustCompile(want).MatchString(r.stdout) {
			t.Errorf("%s: %+v", line, r)
		}
	}
	wantFailure(t, exitUsage, "bad_value", `^--follow and --csv cannot be combined$`, "find", "--follow", "--csv", "address", "--db", db)
}

func TestCSVIsNotJSON(t *testing.T) {
	t.Parallel()
	for _, line := range []string{"blocks", "follower list", "index list"} {
		r := birthmark(append(strings.Fields(line), "--csv", "--json", "--db", "x")...)
		if r.status != exitUsage || !strings.Contains(r.stdout, "--csv and --json cannot be combined") {
			t.Errorf("%+v", r)
		}
	}
}

// In text, amounts of assets have the decimals and the name that their issuer stated, or the name in their id.
func TestAssetsHaveNamesAndDecimals(t *testing.T) {
	slow(t)
	t.Parallel()
	db := filepath.Join(t.TempDir(), "db")
	ask(t, nil, "sync", "--chain", "cardano", "--network", "preview", "--source", "file://"+testblocks.Path(t, "cardano", "dingo-immutable"), "--db", db)
	var list query.AssetsAnswer
	ask(t, &list, "assets", "--limit", "1000", "--db", db)
	named := 0
	for _, a := range list.Assets {
		name := query.AssetName(openReadOnly(t, db).Chain(), &a)
		if name == "" || strings.TrimSpace(name) != name || len(a.Asset) == 56 {
			continue
		}
		if named++; named > 5 {
			break
		}
		for _, command := range []string{"asset", "asset-events", "asset-holders"} {
			if r := birthmark(command, a.Asset, "--db", db); !strings.Contains(r.stdout, "\nname   "+name+"\n") && !strings.Contains(r.stdout, "  "+name+"\n") {
				t.Errorf("%s %s does not show the name %s:\n%s", command, a.Asset, name, r.stdout)
			}
		}
		var found search.Results
		ask(t, &found, "search", strings.ToUpper(name), "--db", db)
		if !slices.ContainsFunc(found.Results, func(r search.Result) bool { return r.Type == search.Asset && strings.EqualFold(r.Name, name) }) && !found.Partial {
			t.Errorf("the search for %s finds %+v", name, found)
		}
	}
	if named == 0 {
		t.Error("no asset has a name")
	}
}

// The data folder contains the databases whose folder is not set.
func TestDefaultFolderDependsOnChain(t *testing.T) {
	data := t.TempDir()
	t.Setenv("XDG_DATA_HOME", data)
	source := "file://" + realBlocks(t)
	wantFailure(t, exitUsage, "missing_flag", `^missing --db DIR`, "status")
	r := birthmark("sync", "--chain", "bitcoin", "--source", source, "--to-height", "10")
	folder := filepath.Join(data, "birthmark", "bitcoin")
	if r.status != exitDone || !strings.Contains(r.stderr, "birthmark: the database is in "+folder+"\n") {
		t.Fatalf("%+v", r)
	}
	consistent(t, folder)
	for _, args := range [][]string{{"status"}, {"status", "--chain", "bitcoin"}, {"status", "--db", folder}} {
		if got := tipOfStatus(t, args...); got != 10 {
			t.Errorf("%s: tip %d", args, got)
		}
	}
	wantFailure(t, exitRefused, "no_database", `^no database in `+folder+`-signet`, "status", "--chain", "bitcoin", "--network", "signet")
	if v := effective(t, "--chain", "cardano", "--network", "preview"); v.Chains[0].DB != filepath.Join(data, "birthmark", "cardano-preview") {
		t.Errorf("%+v", v)
	}
	if err := os.CopyFS(filepath.Join(data, "birthmark", "copy"), os.DirFS(folder)); err != nil {
		t.Fatal(err)
	}
	wantFailure(t, exitUsage, "which_chain", `has 2 databases \(bitcoin, copy\): select one with --chain`, "status")
	t.Setenv("BIRTHMARK_MEMORYY", "1GiB")
	wantFailure(t, exitUsage, "unknown_variable", `^unknown environment variable BIRTHMARK_MEMORYY; did you mean "BIRTHMARK_MEMORY"\?`, "status", "--chain", "bitcoin")
}

func tipOfStatus(t *testing.T, args ...string) uint32 {
	t.Helper()
	var a query.StatusAnswer
	ask(t, &a, args...)
	return a.Tip.Height
}

// index try shows the values of an expression in the newest blocks.
func TestIndexTryReadsTheNewestBlocks(t *testing.T) {
	t.Parallel()
	db, source := first200(t), "file://"+realBlocks(t)
	var a indexTryAnswer
	ask(t, &a, "index", "try", "string(output.value)", "--blocks", "30", "--limit", "2", "--db", db, "--source", source)
	if a.Blocks != 30 || a.Outputs != 39 || a.Found != a.Outputs || len(a.Values) != 2 || a.Values[0].Height != 170 || a.Values[0].Value != "5000000000" {
		t.Errorf("%+v", a)
	}
	ask(t, &a, "index", "try", "output.address", "--when", "output.value == 1000000000", "--blocks", "10000", "--db", db, "--source", source)
	if a.Blocks != 200 || a.Found == 0 || !slices.ContainsFunc(a.Values, func(v tryItem) bool { return v.Tx == firstPayment }) {
		t.Errorf("%+v", a)
	}
	r := birthmark("index", "try", "output.value", "--db", db, "--source", source, "--limit", "1")
	if r.status != exitDone || !strings.Contains(r.stdout, "more: --limit shows up to") {
		t.Errorf("%+v", r)
	}
	wantFailure(t, exitUsage, "bad_definition", `unknown field output.dat`, "index", "try", "output.dat", "--db", db, "--source", source)
	wantFailure(t, exitUsage, "missing_flag", `^missing --source URI`, "index", "try", "output.data", "--db", db)
	wantFailure(t, exitUsage, "bad_value", `^--kind: expected one-to-many, one-to-one, many-valued, not "x"$`, "index", "try", "output.data", "--kind", "x", "--db", db)
}

// status shows the process that syncs the database, and the number of blocks that it is behind its source.
func TestStatusShowsTheSync(t *testing.T) {
	slow(t)
	t.Parallel()
	db := filepath.Join(t.TempDir(), "db")
	cmd, _, _ := process(t, 501, "sync", "--chain", "bitcoin", "--source", "file://"+realBlocks(t), "--db", db)
	p := startOnTerminal(t, cmd)
	until(t, "500 blocks", func() bool { return tipHeight(t, db) == 500 })
	var a statusAnswer
	until(t, "the target", func() bool {
		a = statusAnswer{}
		ask(t, &a, "status", "--db", db)
		return a.Sync != nil && a.Sync.Behind != nil
	})
	if a.Sync.PID != cmd.Process.Pid || *a.Sync.Target != 14_131 || *a.Sync.Behind != 13_631 {
		t.Errorf("%+v", a.Sync)
	}
	want := fmt.Sprintf("running (pid %d), 13,631 blocks behind block 14,131\n", cmd.Process.Pid)
	if r := birthmark("status", "--db", db); !strings.Contains(r.stdout, want) {
		t.Errorf("expected %q in %s", want, r.stdout)
	}
	p.press(t, ctrlC)
	p.end(t)
	if r := birthmark("status", "--db", db); !strings.Contains(r.stdout, "\nsync          not running\n") {
		t.Errorf("%+v", r)
	}
}

// The former name of a command and a flag works, with a warning.
func TestFormerNamesOfFollowersWarn(t *testing.T) {
	t.Parallel()
	db := first200(t)
	r := birthmark("cursor", "set", "wallet", "10", "--db", db)
	if r.status != exitDone || !strings.Contains(r.stderr, "command cursor is now called follower; the old name will be removed") {
		t.Errorf("%+v", r)
	}
	r = birthmark("find", "--follow", "address", "--until-tip", "--cursor", "wallet", "--db", db)
	if r.status != exitDone || !strings.Contains(r.stderr, "flag --cursor is now called --follower") || !strings.Contains(r.stdout, "after block 10 ") {
		t.Errorf("%+v", r)
	}
}
