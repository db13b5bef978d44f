package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"birthmark/internal/testnode/coretest"
)

var scalingPage = filepath.Join("..", "..", "docs", "scaling.md")

// The commands of docs/scaling.md are run in order with a test node; the servers and the replica run at the same time.
// Replicas start with copies of the primary's database.
func TestCommandsInTheScalingPage(t *testing.T) {
	slow(t)
	t.Parallel()
	node := coretest.Start(t)
	node.Coins(t, 3000)
	dir := t.TempDir()
	const chain = "bitcoin-regtest"
	servers := map[string]*serverProcess{} // by database
	primary := func() *serverProcess { return servers[filepath.Join(dir, "bitcoin")] }
	var lines []string
	for _, block := range regexp.MustCompile("(?s)```sh\n(.*?)```").FindAllStringSubmatch(readText(t, scalingPage), -1) {
		lines = append(lines, strings.Split(strings.TrimSpace(strings.ReplaceAll(block[1], "\\\n", " ")), "\n")...)
	}
	if len(lines) < 8 {
		t.Fatalf("%d commands in %s", len(lines), scalingPage)
	}
	for _, line := range lines {
		words, ok := strings.CutPrefix(line, "birthmark ")
		if !ok {
			t.Fatalf("%s: not a command of birthmark", line)
		}
		replace := []string{
			"--password-file ~/.bitcoin/.cookie", "", "--chain bitcoin", "--chain bitcoin --network regtest", "http://127.0.0.1:8332", node.URL(),
			"/var/lib/birthmark", dir, "/backup", dir, "0.0.0.0:8080", "127.0.0.1:0",
		}
		if s := primary(); s != nil {
			replace = append(replace, "http://primary:8080/v1/bitcoin", s.URL+"v1/"+chain)
		}
		args := strings.Fields(strings.NewReplacer(replace...).Replace(words))
		of := args[slices.Index(args, "--db")+1]
		if s := servers[of]; s != nil && args[0] == "serve" {
			s.stop(t)
		}
		switch {
		case args[0] == "serve":
			start := func() {
				servers[of] = startServer(t, args[1:]...)
				servers[of].reaches(t, chain, int(node.Tip().Height))
			}
			start()
			if slices.Contains(args, "--segments-keep") && of == filepath.Join(dir, "bitcoin") {
				servers[of].stop(t)
				for _, name := range []string{"replica", "replica2"} {
					to := filepath.Join(dir, name)
					if err := os.CopyFS(to, os.DirFS(of)); err != nil {
						t.Fatal(err)
					}
					if err := os.RemoveAll(filepath.Join(to, "segments")); err != nil {
						t.Fatal(err)
					}
				}
				start()
			}
			node.Mine(t)
			servers[of].reaches(t, chain, int(node.Tip().Height))
		case args[0] == "replicate" && slices.Contains(args, "--serve"):
			servers[of] = startReplica(t, args[slices.Index(args, "--from")+1], of)
			servers[of].reaches(t, chain, int(node.Tip().Height))
		default:
			if r := birthmark(args...); r.status != exitDone {
				t.Errorf("%s: %+v", line, r)
			}
		}
	}
	node.Fork(t, 2, 4)
	var dbs []string
	for db, s := range servers {
		s.reaches(t, chain, int(node.Tip().Height))
		dbs = append(dbs, db)
	}
	if len(dbs) != 3 {
		t.Errorf("%d servers run", len(dbs))
	}
	equalDigests(t, "at the end", dbs...)
	for db, s := range servers {
		s.stop(t)
		consistent(t, db)
	}
}
