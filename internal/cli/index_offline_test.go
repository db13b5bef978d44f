package cli

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"birthmark/core/check"
	"birthmark/internal/testblocks"
	"birthmark/internal/testseed"
)

// keepsAll are the settings of the first indexes in the tests below.
const keepsAll = `chain: bitcoin
indexes:
  address: { balance: true, unspent: true, history: true, prefix: true }
  script_hash: {}
  bits: { value: "block.bits", prefix: true }
`

// A database to which options and indexes are added one after another equals one that had them from the start. Answers
// do not change, and dropped indexes leave nothing.
func TestIndexesAreAddedAndDropped(t *testing.T) {
	slow(t)
	t.Parallel()
	source, dir := "file://"+realBlocks(t), t.TempDir()
	db, made, file := filepath.Join(dir, "db"), filepath.Join(dir, "made"), filepath.Join(dir, "birthmark.yaml")
	write(t, file, keepsAll)
	ask(t, nil, "sync", "--config", file, "--source", source, "--db", made, "--to-height", "3000")
	syncTo(t, db, source, "--to-height", "3000")
	plain := digestOf(t, db)
	answers := func() (texts []string) {
		for _, line := range []string{"balance address " + satoshi, "history address " + satoshi, "richest address"} {
			r := birthmark(append(strings.Fields(line), "--db", db, "--json")...)
			if r.status != exitDone {
				t.Errorf("%s: %+v", line, r)
			}
			texts = append(texts, r.stdout)
		}
		return texts
	}
	before := answers()

	var a changeAnswer
	ask(t, &a, "index", "add", "address", "--config", file, "--db", db) // the rows are enough, no source is read
	if !a.Done || !slices.Equal(a.Index.Keeps, []string{"balance", "unspent", "history", "prefix"}) {
		t.Errorf("%+v", a)
	}
	wantFailure(t, exitUsage, "missing_flag", `missing --source URI, which provides the values of script_hash`, "index", "add", "script_hash", "--config", file, "--db", db)
	if x := listed(t, db, "script_hash"); x != nil {
		t.Errorf("without a source: %+v", x)
	}
	wantFailure(t, exitSource, "source_missing", `^index script_hash: /none/such does not exist$`, "index", "add", "script_hash", "--source", "file:///none/such", "--db", db)
	if x := listed(t, db, "script_hash"); x == nil || !slices.Equal(x.Adding, []string{"values"}) {
		t.Errorf("a failing source leaves a pending index: %+v", x)
	}
	golden(t, "index_list_adding.txt", birthmark("index", "list", "--db", db).stdout)
	ask(t, nil, "index", "add", "script_hash", "--source", source, "--config", file, "--db", db)
	ask(t, nil, "index", "add", "bits", "--source", source, "--config", file, "--db", db)
	same(t, db, digestOf(t, made))
	consistent(t, db)
	for _, name := range []string{"address", "script_hash", "bits"} {
		var c check.Result
		if ask(t, &c, "index", "verify", name, "--db", db); !c.OK {
			t.Errorf("%s: %+v", name, c)
		}
	}
	if after := answers(); !slices.Equal(after, before) {
		t.Errorf("with options %s, without %s", after, before)
	}
	golden(t, "index_list.txt", birthmark("index", "list", "--db", db).stdout)
	golden(t, "index_list.json", birthmark("index", "list", "--db", db, "--json").stdout)

	for _, name := range []string{"bits", "script_hash"} {
		if ask(t, &a, "index", "drop", name, "--db", db); !a.Done || a.Index != nil || a.BytesFreed == nil || *a.BytesFreed <= 0 {
			t.Errorf("%+v", a)
		}
		wantFailure(t, exitUsage, "unknown_index", name, "values", name, "--db", db)
	}
	if after := answers(); !slices.Equal(after, before) {
		t.Errorf("after all changes they are %s, expected %s", after, before)
	}
	consistent(t, db)
	if ask(t, &a, "index", "drop", "address", "--db", db); !a.Done {
		t.Errorf("%+v", a)
	}
	ask(t, nil, "index", "add", "address", "--source", source, "--db", db)
	if after := answers(); !slices.Equal(after, before) {
		t.Errorf("after it was added again they are %s, expected %s", after, before)
	}
	consistent(t, db)
	ask(t, nil, "rollback", "--to-height", "1500", "--db", db)
	consistent(t, db)
	ask(t, nil, "sync", "--source", source, "--to-height", "3000", "--db", db)
	if digestOf(t, db) == plain { // the number of an index is never reused
		t.Error("an index that was added again has its old number")
	}
	consistent(t, db)
}

// Invalid requests return an error that names the fault, and change nothing.
func TestInvalidChangesOfIndexesAreRefused(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := t.TempDir()
	file, db := filepath.Join(dir, "birthmark.yaml"), first200(t)
	write(t, file, customSettings)
	ask(t, nil, "index", "add", "bits", "--config", file, "--source", "file://"+realBlocks(t), "--db", db)
	digest := digestOf(t, db)
	other := filepath.Join(dir, "other.yaml")
	write(t, other, strings.NewReplacer("block.bits", "block.nonce", "output.pushes", "output.push").Replace(customSettings))
	for _, c := range []struct {
		status        int
		code, message string
		args          string
	}{
		{exitUsage, "exists", `^the database already has index address with all requested features`, "add address"},
		{exitUsage, "exists", `^the database already has index bits with all`, "add bits --config " + file},
		{exitRefused, "index_mismatch", `^index bits is defined as .*block.nonce.*birthmark index drop bits`, "add bits --config " + strings.Replace(other, "other", "nonce", 1)},
		{exitUsage, "bad_definition", `^` + other + `:7: index first_pushes: value: .*output`, "add first_pushes --config " + other},
		{exitUsage, "unknown_index", `^bitcoin has no index "colour"; it offers `, "add colour"},
		{exitUsage, "unknown_index", `^the database has no index colour`, "drop colour"},
		{exitUsage, "unknown_index", `index colour|no index "colour"`, "verify colour"},
		{exitUsage, "missing_argument", `missing argument NAME`, "drop"},
	} {
		write(t, filepath.Join(dir, "nonce.yaml"), strings.Replace(customSettings, "block.bits", "block.nonce", 1))
		wantFailure(t, c.status, c.code, c.message, append(append([]string{"index"}, strings.Fields(c.args)...), "--db", db)...)
	}
	wantFailure(t, exitRefused, "no_database", `no database in `, "index", "add", "address", "--db", dir)
	same(t, db, digest)

	ergo := filepath.Join(dir, "ergo")
	ergoSync(t, "mainnet", ergo, "file://"+testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"), "--to-height", "50")
	digest = digestOf(t, ergo)
	wantFailure(t, exitUsage, "always_on", `^index box_id cannot be dropped: inputs of ergo refer to its values$`, "index", "drop", "box_id", "--db", ergo)
	file = filepath.Join(dir, "ergo.yaml")
	write(t, file, "chain: ergo\nindexes:\n  box_id: { unspent: true }\n")
	wantFailure(t, exitUsage, "bad_option", `^index box_id is one-to-one`, "index", "add", "box_id", "--config", file, "--db", ergo)
	same(t, ergo, digest)
}

// A process that runs `index add` responds to other processes like a sync.
func TestOneIndexIsAddedAtATime(t *testing.T) {
	slow(t)
	t.Parallel()
	source, db := "file://"+realBlocks(t), filepath.Join(t.TempDir(), "db")
	syncTo(t, db, source)
	cmd, stdout, stderr := process(t, all, "index", "add", "script_hash", "--source", source, "--db", db, "--json")
	cmd.Env = append(cmd.Env, slowSource+"=20ms")
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	until(t, "the index to be added", func() bool { return listed(t, db, "script_hash") != nil })
	wantFailure(t, exitUsage, "busy", `^index script_hash is being added: wait until that has finished$`, "index", "add", "script_type", "--db", db)
	wantFailure(t, exitRefused, "locked", `is in use by pid \d+, birthmark index add, since`, "rollback", "--to-height", "3", "--db", db)
	var a changeAnswer
	if ask(t, &a, "index", "add", "script_hash", "--db", db); !a.Done || len(a.Index.Adding) > 0 { // it waits for the running addition
		t.Errorf("%+v", a)
	}
	if err := cmd.Wait(); err != nil || json.Unmarshal(stdout.Bytes(), &a) != nil || !a.Done {
		t.Errorf("%v: %s%s", err, stdout, stderr)
	}
	consistent(t, db)
}

// A sync reports indexes that are missing from the settings, and how to add indexes that the database lacks.
func TestSyncReportsIndexesTheSettingsDoNotName(t *testing.T) {
	t.Parallel()
	source := "file://" + realBlocks(t)
	db := first200(t, "--index", "address,script_type")
	r := birthmark("sync", "--source", source, "--db", db, "--index", "address", "--to-height", "199")
	if r.status != exitDone || !strings.Contains(r.stderr, "an index that is not in the settings is still kept up to date; birthmark index drop script_type removes it") || strings.Contains(r.stderr, "drop address") {
		t.Errorf("%+v", r)
	}
	if r := birthmark("sync", "--source", source, "--db", db, "--to-height", "199"); r.stderr != "" {
		t.Errorf("without indexes in the settings: %+v", r)
	}
	wantFailure(t, exitRefused, "index_mismatch", `: index script_hash, for indexes .*: birthmark index add script_hash --index address,script_hash`, "sync", "--source", source, "--db", db, "--index", "address,script_hash")
}

// A sync runs without a control socket if none can be created.
func TestSyncRunsWithoutASocket(t *testing.T) {
	t.Parallel()
	source := "file://" + realBlocks(t)
	db := first200(t)
	if err := os.MkdirAll(filepath.Join(db, "control.sock", "occupied"), 0o755); err != nil {
		t.Fatal(err)
	}
	r := birthmark("sync", "--source", source, "--db", db, "--to-height", "300")
	if r.status != exitDone || !strings.Contains(r.stderr, "cannot create the control socket") {
		t.Errorf("%+v", r)
	}
}

// A killed drop is resumed. The final database equals one without the kill.
func TestAKilledDropResumes(t *testing.T) {
	slow(t)
	t.Parallel()
	source, dir := "file://"+realBlocks(t), t.TempDir()
	db, calm := filepath.Join(dir, "db"), filepath.Join(dir, "calm")
	for _, folder := range []string{db, calm} {
		syncTo(t, folder, source, "--index", "address,script_hash,script_type")
	}
	ask(t, nil, "index", "drop", "script_hash", "--db", calm)
	rng := testseed.Rand(t)
	for range 6 {
		cmd, _, _ := process(t, -1, "index", "drop", "script_hash", "--db", db)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }()
		select {
		case <-ended:
		case <-time.After(time.Duration(rng.IntN(150)) * time.Millisecond):
			_ = cmd.Process.Kill()
			<-ended
		}
		consistent(t, db)
	}
	if listed(t, db, "script_hash") != nil {
		ask(t, nil, "index", "drop", "script_hash", "--db", db)
	}
	same(t, db, digestOf(t, calm))
	consistent(t, db)
}
