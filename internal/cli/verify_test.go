package cli

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"birthmark/core/verify"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/storage"
	"birthmark/storage/rocks"
)

// differing runs a verify that must find differences.
func differing(t *testing.T, args ...string) (a verify.Result) {
	t.Helper()
	r := birthmark(append([]string{"verify", "--json"}, args...)...)
	said := regexp.MustCompile(`(?m)^time=.* msg=verify .*\n`).ReplaceAllString(r.stderr, "") // progress on a slow machine
	if err := json.Unmarshal([]byte(r.stdout), &a); err != nil || r.status != exitFailed || a.OK || len(a.Differences) == 0 ||
		!strings.HasPrefix(said, "birthmark: the database differs from the source: ") || strings.Count(said, "\n") != 1 {
		t.Fatalf("birthmark verify %s: %+v, %v", strings.Join(args, " "), r, err)
	}
	return a
}

var utxoFamily = storage.Declaration{Family: 5, Name: "utxo_by_utxo_pk", Access: storage.Ordered}

// harm changes one row of a database, or deletes it if change returns nil.
func harm(t *testing.T, db string, d storage.Declaration, key []byte, change func(value []byte) []byte) {
	t.Helper()
	store, err := rocks.Open(db, rocks.Options{WAL: true})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.Declare(d); err != nil {
		t.Fatal(err)
	}
	if err := store.Update(context.Background(), func(r storage.Reader, b storage.Batch) error {
		value, err := r.Get(d.Family, key)
		if err != nil {
			return err
		}
		if value = change(value); value == nil {
			b.Delete(d.Family, key)
		} else {
			b.Put(d.Family, key, value)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}

func TestVerifyComparesWithBlockFiles(t *testing.T) {
	slow(t)
	t.Parallel()
	source := "file://" + realBlocks(t)
	db := first200(t, "--index", "address,script_hash")
	args := []string{"verify", "--db", db, "--source", source, "--sample", "5", "--seed", "3"}
	people, programs := birthmark(args...), birthmark(append(args, "--json")...)
	if people.status != exitDone || programs.status != exitDone || people.stderr+programs.stderr != "" {
		t.Fatalf("%+v, %+v", people, programs)
	}
	golden(t, "verify.txt", people.stdout)
	golden(t, "verify.json", programs.stdout)
	var all, again verify.Result
	ask(t, &all, "verify", "--db", db, "--source", source, "--sample", "1000")
	if all.Blocks != 200 || all.Txs != 205 || all.Inputs != 5 || all.Outputs != 209 || all.Behind != 13_932 {
		t.Errorf("%+v", all)
	}
	if ask(t, &again, "verify", "--db", db, "--source", source); again.Blocks != 102 || again.Seed == all.Seed {
		t.Errorf("%+v after seed %d", again, all.Seed)
	}

	// Block 170 holds the first payment. Its second output is harmed, then what leads to it from its address.
	payment := []byte{0, 0, 0x2a, 0x80, 0, 0x08, 0, 1} // 26 bits height, 19 bits transaction, 19 bits output
	harm(t, db, utxoFamily, payment, func(v []byte) []byte { v[0] ^= 1; return v })
	a := differing(t, "--db", db, "--source", source, "--sample", "1000")
	if d := a.Differences[0]; len(a.Differences) != 1 || d.Height != 170 || d.Tx != firstPayment || d.What != "output 1" || d.Source != "value 4000000000" || d.Database != "value 4000000001" {
		t.Errorf("%+v", a.Differences)
	}
	born := []byte{0, 0, 0x02, 0x40, 0, 0, 0, 0} // of Satoshi's address, in block 9
	harm(t, db, storage.Declaration{Family: 66, Name: "address_relations", Access: storage.Grouped}, append(born, payment...), func([]byte) []byte { return nil })
	harm(t, db, storage.Declaration{Family: 6, Name: "spent_utxo_pk_by_input_pk", Access: storage.Ordered}, []byte{0, 0, 0x2a, 0x80, 0, 0x08, 0, 0}, func([]byte) []byte { return nil })
	r := birthmark("verify", "--db", db, "--source", source, "--sample", "1000", "--seed", "3")
	if r.status != exitFailed {
		t.Errorf("%+v", r)
	}
	golden(t, "verify_damaged.txt", r.stdout)
}

func TestVerifyReportsAnotherChain(t *testing.T) {
	slow(t)
	t.Parallel()
	var ours, theirs, short blockFiles
	chain := bitcointest.NewChain()
	chain.MineEmpty(12)
	fork := chain.Fork(8)
	fork.MineEmpty(6)
	ours.add(t, chain)
	theirs.add(t, fork)
	short.add(t, chain.Fork(5))
	db := filepath.Join(t.TempDir(), "db")
	ask(t, nil, "sync", "--chain", "bitcoin", "--network", "regtest", "--source", "file://"+ours.dir, "--db", db)
	a := differing(t, "--db", db, "--source", "file://"+theirs.dir)
	if d := a.Differences[0]; a.PartsAt == nil || *a.PartsAt != 9 || d.Height != 9 || d.Source != fork.Blocks()[9].BlockHash().String() ||
		d.Database != chain.Blocks()[9].BlockHash().String() || a.Blocks != 9 || a.Behind != 2 {
		t.Errorf("%+v", a)
	}
	r := birthmark("verify", "--db", db, "--source", "file://"+theirs.dir)
	if !strings.Contains(r.stdout, "the chains differ from block 9") {
		t.Errorf("%+v", r)
	}
	var b verify.Result
	if ask(t, &b, "verify", "--db", db, "--source", "file://"+short.dir); b.Ahead != 7 || b.Blocks != 6 || b.Tip.Height != 12 || b.SourceTip.Height != 5 {
		t.Errorf("%+v", b)
	}
	r = birthmark("verify", "--db", db, "--source", "file://"+short.dir)
	if !strings.Contains(r.stdout, "7 blocks above the tip of the source were not compared") {
		t.Errorf("%+v", r)
	}
}

func TestVerifyRunsDuringASync(t *testing.T) {
	slow(t)
	t.Parallel()
	db := filepath.Join(t.TempDir(), "db")
	runningSync(t, db)
	var a verify.Result
	if ask(t, &a, "verify", "--db", db, "--source", "file://"+realBlocks(t), "--sample", "20"); a.Tip.Height != 500 || a.Blocks != 22 || a.Behind != 13_631 {
		t.Errorf("%+v", a)
	}
}

func TestVerifyReportsMissingFlags(t *testing.T) {
	slow(t)
	t.Parallel()
	db := first200(t)
	source := "file://" + realBlocks(t)
	none := filepath.Join(t.TempDir(), "none")
	wantFailure(t, exitUsage, "missing_flag", `^missing --source URI`, "verify", "--db", db)
	wantFailure(t, exitUsage, "missing_flag", `^missing --db DIR`, "verify", "--source", source)
	wantFailure(t, exitUsage, "bad_value", `^--sample: expected a number from 0 to 41943039, not "-1"$`, "verify", "--db", db, "--source", source, "--sample", "-1")
	wantFailure(t, exitUsage, "bad_value", `^--seed: expected a number from 0 to 18446744073709551615, not "x"$`, "verify", "--db", db, "--source", source, "--seed", "x")
	wantFailure(t, exitUsage, "bad_source", `gopher`, "verify", "--db", db, "--source", "gopher://x")
	wantFailure(t, exitRefused, "no_database", `no database in `, "verify", "--db", none, "--source", source)
	wantFailure(t, exitRefused, "wrong_network", `contains bitcoin mainnet, not bitcoin regtest`, "verify", "--db", db, "--source", source, "--network", "regtest")
	r := birthmark("verify", "--db", db, "--source", "file://"+none)
	if r.status != exitSource || strings.Count(r.stderr, "\n") != 1 {
		t.Errorf("a source that is not there: %+v", r)
	}
	if _, err := os.Stat(none); err == nil {
		t.Error("a question made a folder")
	}
}

// The text form of the comparison of unspent outputs, which no source of the tests offers.
func TestUnspentIsPrinted(t *testing.T) {
	t.Parallel()
	side := func(outputs int64, value string) *verify.Count {
		return &verify.Count{Outputs: outputs, Value: value}
	}
	var b strings.Builder
	for _, u := range []*verify.Unspent{
		nil,
		{Reason: "the source's tip is not the database's"},
		{Compared: true, Source: side(13417, "70660000000000"), Database: side(13417, "70660000000000"), More: side(0, "0")},
		{Compared: true, Source: side(1, "5000000000"), Database: side(3, "15000000000"), More: side(2, "10000000000")},
		{Compared: true, Source: side(1, "5000000000"), Database: side(1, "4000000000"), More: side(0, "-1000000000")},
	} {
		b.WriteString(rendered(t, func(p *terminal.Page) { showVerify(p, &verify.Result{OK: true, Unspent: u}) }))
	}
	at := uint32(7)
	b.WriteString(rendered(t, func(p *terminal.Page) {
		showVerify(p, &verify.Result{PartsAt: &at, More: 1200, Differences: []verify.Difference{{Height: 7, What: "hash of the block", Source: "aa", Database: "bb"}}})
	}))
	golden(t, "verify_page.txt", b.String())
}
