package cli

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// checked is the answer of config --check.
type checked struct {
	OK     bool
	Chains []struct {
		Chain             string
		Exists            bool
		Missing, Optional []lacking
		Error             string
	}
}

type lacking struct {
	What     string
	NeededBy []string `json:"needed_by"`
	Remedy   string
}

func checkSettings(t *testing.T, file string) (a checked, status int) {
	t.Helper()
	r := birthmark("config", "--check", "--json", "--config", file)
	if err := json.Unmarshal([]byte(r.stdout), &a); err != nil {
		t.Fatalf("%v: %+v", err, r)
	}
	return a, r.status
}

// lackingWorld is a database of generated blocks that lacks several things that settings with protocols need.
type lackingWorld struct {
	chain, serve, preset string
	first                string   // settings of indexes of the database
	missing              []string // of the database, for the protocols
	raw                  string   // the remedy of raw transactions; empty: a command
}

var lackingWorlds = []lackingWorld{
	{
		"bitcoin", "{ esplora: /api, blockbook: /blockbook }", "wallet",
		"{ address: {}, script_hash: { unspent: true } }",
		[]string{"balance and history of index script_hash", "raw transactions"}, "set raw: node; or run birthmark index add raw",
	},
	{
		"cardano", "{ kupo: /kupo, blockfrost: /api/v0 }", "blockfrost,kupo",
		"{ address: { balance: true, unspent: true, history: true }, policy: {}, datum_hash: {}, " +
			"stake_credential: { balance: true, unspent: true, history: true }, payment_credential: { unspent: true } }",
		[]string{"balance and history of index payment_credential", "index script_hash", "raw transactions"}, "",
	},
	{
		"ergo", "{ ergo_node: /node, ergo_explorer: /explorer, ergo_graphql: /graphql }", "ergo_node",
		"{ address: {}, ergo_tree_hash: { balance: true } }",
		[]string{"unspent and history of index ergo_tree_hash", "index ergo_tree_template_hash", "raw transactions"}, "",
	},
}

// A server lists at once everything that the settings need and the database lacks, and so does config --check. The
// commands of the list add what can be added.
func TestServersListEverythingThatIsMissing(t *testing.T) {
	for _, w := range lackingWorlds {
		t.Run(w.chain, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			var made struct{ Network, Source string }
			ask(t, &made, "bench", "generate", "--chain", w.chain, "--txs", "200", filepath.Join(dir, "made"))
			file := filepath.Join(dir, "birthmark.yaml")
			settings := func(db, rest string) {
				write(t, file, fmt.Sprintf("chain: %s\nnetwork: %s\nsource: %s\ndb: %s\n%s",
					w.chain, made.Network, made.Source, filepath.Join(dir, db), rest))
			}
			settings("db", "indexes: "+w.first+"\n")
			ask(t, nil, "sync", "--config", file)
			settings("db", "indexes: "+w.first+"\nserve: "+w.serve+"\n")

			r := birthmark("serve", "--config", file, "--listen", "127.0.0.1:0")
			lines := strings.Split(strings.TrimSpace(r.stderr), "\n")
			lacks := fmt.Sprintf("lacks %d things", len(w.missing))
			if last := lines[len(lines)-1]; r.status != exitRefused || !strings.Contains(last, lacks) {
				t.Fatalf("status %d: %s", r.status, r.stderr)
			}
			ends := birthmark("sync", "--config", file)
			if ends.status != exitDone || !strings.Contains(ends.stderr, "birthmark serve will refuse") || !strings.Contains(ends.stderr, lacks) {
				t.Errorf("a sync of the database: %+v", ends)
			}
			a, status := checkSettings(t, file)
			if status != exitFailed || a.OK || len(a.Chains) != 1 || !a.Chains[0].Exists {
				t.Fatalf("status %d: %+v", status, a)
			}
			var found []string
			for _, x := range a.Chains[0].Missing {
				found = append(found, x.What)
				for _, text := range append([]string{x.What, x.Remedy}, x.NeededBy...) {
					if !strings.Contains(lines[len(lines)-1], text) {
						t.Errorf("the error lacks %q: %s", text, r.stderr)
					}
				}
			}
			slices.Sort(found)
			slices.Sort(w.missing)
			if !slices.Equal(found, w.missing) {
				t.Errorf("missing %q, expected %q", found, w.missing)
			}
			for _, x := range append(a.Chains[0].Missing, a.Chains[0].Optional...) {
				switch args := strings.Fields(x.Remedy); {
				case x.What == "raw transactions" && w.raw != "":
					if !strings.HasPrefix(x.Remedy, w.raw) {
						t.Errorf("raw transactions: %s, expected %s", x.Remedy, w.raw)
					}
				case args[0] == "birthmark":
					ask(t, nil, args[1:]...)
				case x.What != "a node":
					t.Errorf("%+v", x)
				}
			}
			a, _ = checkSettings(t, file)
			if got := a.Chains[0].Missing; w.raw == "" && len(got) > 0 || w.raw != "" && (len(got) != 1 || got[0].What != "raw transactions") {
				t.Errorf("after the commands: %+v", got)
			}

			// A database that does not exist yet is compared before it is created.
			settings("new", "indexes: "+w.first+"\nserve: "+w.serve+"\n")
			r = birthmark("serve", "--config", file, "--listen", "127.0.0.1:0")
			if r.status != exitRefused || !strings.Contains(r.stderr, fmt.Sprintf("would lack %d things", len(w.missing))) {
				t.Errorf("status %d: %s", r.status, r.stderr)
			}
			if found, err := filepath.Glob(filepath.Join(dir, "new")); err != nil || len(found) > 0 {
				t.Errorf("a database was created: %v", err)
			}
			r = birthmark("sync", "--config", file, "--to-height", "3")
			if r.status != exitDone || !strings.Contains(r.stderr, "birthmark serve will refuse") {
				t.Errorf("a sync: %+v", r)
			}
			settings("other", "raw: keep\nserve: "+w.serve+"\n")
			a, status = checkSettings(t, file)
			if status != exitFailed || a.Chains[0].Exists || len(a.Chains[0].Missing) == 0 {
				t.Errorf("status %d: %+v", status, a)
			}
			for preset := range strings.SplitSeq(w.preset, ",") {
				settings("other", "raw: keep\nindexes: "+preset+"\nserve: "+w.serve+"\n")
				if a, status = checkSettings(t, file); status == exitDone {
					break
				}
			}
			if status != exitDone || !a.OK {
				t.Errorf("with the preset: status %d: %+v", status, a)
			}
		})
	}
}

// On a terminal the list has lines of what is missing and of how to get it.
func TestWhatIsMissingIsAListOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	syncTo(t, filepath.Join(dir, "db"), "file://"+realBlocks(t), "--to-height", "5")
	file := filepath.Join(dir, "b.yaml")
	write(t, file, "chain: bitcoin\ndb: "+filepath.Join(dir, "db")+"\nserve: { esplora: /api }\n")
	cmd, _, _ := process(t, -1, "serve", "--config", file, "--listen", "127.0.0.1:0")
	p := startOnTerminal(t, cmd)
	status := p.end(t)
	got := strings.Join(strings.Fields(strings.Join(screen(p.written()), "\n")), " ")
	for _, want := range []string{
		"lacks 2 things that its settings need: index script_hash, for serve.esplora",
		"birthmark index add script_hash --index wallet --config " + file,
		"--source URI raw transactions, for serve.esplora",
	} {
		if status != exitRefused || !strings.Contains(strings.ReplaceAll(got, " ", ""), strings.ReplaceAll(want, " ", "")) {
			t.Errorf("status %d: %s\nexpected %s", status, got, want)
		}
	}
}
