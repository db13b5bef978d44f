package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/core/query"
	"birthmark/internal/testnode/bitcointest"
	"birthmark/internal/testrun"
)

// blockFiles writes chains of regtest into a folder that grows like the block files of a node.
type blockFiles struct {
	dir   string
	known map[string]bool
}

func (f *blockFiles) add(t *testing.T, c *bitcointest.Chain) {
	t.Helper()
	if f.known == nil {
		f.dir, f.known = t.TempDir(), map[string]bool{}
	}
	file, err := os.OpenFile(filepath.Join(f.dir, "blk00000.dat"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	for _, b := range c.Blocks() {
		if hash := b.BlockHash().String(); !f.known[hash] {
			f.known[hash] = true
			if _, err := file.Write(bitcointest.BlockFile(wire.TestNet, b)); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// Reorganizations in a node's block files are in the log of the sync and in the answer of "forks".
func TestReorganizationsAreListed(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	var files blockFiles
	chain := bitcointest.NewChain()
	chain.MineEmpty(10)
	files.add(t, chain)
	db := filepath.Join(t.TempDir(), "db")
	sync := []string{"sync", "--chain", "bitcoin", "--network", "regtest", "--source", "file://" + files.dir, "--db", db}
	began := time.Now()
	log := ""
	step := func() {
		t.Helper()
		files.add(t, chain)
		r := birthmark(sync...)
		if r.status != exitDone {
			t.Fatalf("%+v", r)
		}
		for line := range strings.Lines(r.stderr) {
			if _, fork, ok := strings.Cut(line, "msg=fork "); ok {
				fork, _, _ = strings.Cut(fork, " took=")
				log += "to the log: " + fork + "\n"
			}
		}
	}
	shown := func() string {
		t.Helper()
		r := birthmark("forks", "--db", db)
		if r.status != exitDone || r.stderr != "" {
			t.Fatalf("%+v", r)
		}
		return regexp.MustCompile(`(?m)^20\d\d-\d\d-\d\d \d\d:\d\d:\d\d UTC  `).ReplaceAllString(r.stdout, "YYYY-MM-DD HH:MM:SS UTC  ")
	}
	step()
	golden(t, "forks_none.txt", shown())
	for _, depth := range []int{1, 3, 1} {
		chain = chain.Fork(chain.Height() - depth)
		chain.MineEmpty(depth + 1)
		step()
	}
	ask(t, nil, "rollback", "--db", db, "--to-height", "11")
	golden(t, "forks.txt", log+shown())

	var all query.ForksAnswer
	ask(t, &all, "forks", "--db", db)
	if len(all.Forks) != 5 || all.Next != nil || all.Chain != "bitcoin" || all.Network != "regtest" {
		t.Fatalf("%+v", all)
	}
	for _, lost := range all.Forks {
		if lost.LostAt < began.Unix() || lost.LostAt > time.Now().Unix() {
			t.Errorf("lost at %d", lost.LostAt)
		}
	}
	var got []query.LostBlockAnswer
	for after := []string{}; ; {
		var page query.ForksAnswer
		ask(t, &page, append([]string{"forks", "--db", db, "--limit", "2"}, after...)...)
		got = append(got, page.Forks...)
		if page.Next == nil {
			break
		}
		after = []string{"--after", *page.Next}
	}
	if len(got) != len(all.Forks) {
		t.Fatalf("the pages have %d blocks, the list %d", len(got), len(all.Forks))
	}
	for i := range got {
		a, b := got[i], all.Forks[i]
		if a.Hash != b.Hash || (a.ReplacedBy == nil) != (b.ReplacedBy == nil) {
			t.Errorf("block %d of the pages differs", i)
		}
	}
	r := birthmark("forks", "--db", db, "--json", "--limit", "1")
	if !strings.HasPrefix(r.stdout, `{"chain":"bitcoin","network":"regtest","forks":[{"height":12,"hash":"`) || !strings.Contains(r.stdout, `"replaced_by":null}],"next":"`) {
		t.Errorf("%+v", r)
	}
	wantFailure(t, exitUsage, "bad_cursor", `invalid cursor "abc"`, "forks", "--db", db, "--after", "abc")
	wantFailure(t, exitUsage, "bad_value", `^--limit: expected a number`, "forks", "--db", db, "--limit", "0")
	wantFailure(t, exitUsage, "bad_value", `^--family: expected one of `, "dump", "--db", db, "--digest", "--family", "lost_block_by_lost_pk")

	// The list belongs to a database: a database without forks has the same chain and an empty list.
	other := filepath.Join(t.TempDir(), "db")
	step()
	ask(t, nil, append(sync[:len(sync)-1:len(sync)-1], other)...)
	same(t, db, digestOf(t, other))
	consistent(t, db)
	var none query.ForksAnswer
	if ask(t, &none, "forks", "--db", other); len(none.Forks) != 0 {
		t.Errorf("%+v", none)
	}
}
