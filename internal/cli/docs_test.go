package cli

import (
	"birthmark/internal/testrun"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	docsSchema = filepath.Join("..", "..", "docs", "schema.md")
	queries    = filepath.Join("..", "..", "docs", "queries.md")
	readme     = filepath.Join("..", "..", "README.md")
)

func TestSchemaInTheDocsIsCurrent(t *testing.T) {
	r := birthmark("schema")
	if *update {
		if err := os.WriteFile(docsSchema, []byte(r.stdout), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(docsSchema)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != r.stdout {
		t.Errorf("%s differs from the output of birthmark schema: run make docs", docsSchema)
	}
}

// The session in the README is run with temporary folders.
func TestSessionInTheReadmeIsCurrent(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	blocks := realBlocks(t)
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, session, _ := strings.Cut(string(text), "```console\n")
	session, _, ok := strings.Cut(session, "```")
	steps := strings.Split(session, "$ bin/birthmark ")
	if !ok || len(steps) < 3 || steps[0] != "" {
		t.Fatalf("no session in %s: %q", readme, session)
	}
	for _, step := range steps[1:] {
		line, shown, _ := strings.Cut(step, "\n")
		args := strings.Fields(strings.NewReplacer("$PWD/demo-data/blocks", blocks, "demo-data", folder).Replace(line))
		r := birthmark(args...)
		if r.status != exitDone || normalized(strings.TrimSpace(r.stdout)) != normalized(strings.TrimSpace(shown)) {
			t.Errorf("birthmark %s: status %d\n--- output\n%s%s--- in the README\n%s", line, r.status, r.stdout, r.stderr, shown)
		}
	}
}

// The sessions of docs/queries.md are run on a database of all the real blocks.
func TestQueriesInTheDocsAreCurrent(t *testing.T) {
	testrun.Slow(t)
	folder := t.TempDir()
	syncTo(t, filepath.Join(folder, "bitcoin"), "file://"+realBlocks(t), "--wal=off")
	text, err := os.ReadFile(queries)
	if err != nil {
		t.Fatal(err)
	}
	sessions := regexp.MustCompile("(?s)```console\n\\$ bin/birthmark ([^\n]*)\n(.*?)```")
	if n := len(sessions.FindAll(text, -1)); n < 4 {
		t.Fatalf("%d sessions in %s", n, queries)
	}
	answered := sessions.ReplaceAllStringFunc(string(text), func(session string) string {
		line := sessions.FindStringSubmatch(session)[1]
		r := birthmark(strings.Fields(strings.ReplaceAll(line, "demo-data", folder))...)
		if r.status != exitDone || r.stderr != "" {
			t.Errorf("%s: %+v", line, r)
		}
		return "```console\n$ bin/birthmark " + line + "\n" + r.stdout + "```"
	})
	if *update {
		if err := os.WriteFile(queries, []byte(answered), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if answered != string(text) {
		t.Errorf("%s differs from the output of birthmark (go test -update writes it):\n%s", queries, answered)
	}
}

// TestRequestsInTheReadmeAreCurrent sends the requests in the section on the API, and requests each path in its table.
func TestRequestsInTheReadmeAreCurrent(t *testing.T) {
	testrun.Slow(t)
	t.Parallel()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	_, serving, _ := strings.Cut(string(text), "\n## API and explorer\n")
	serving, _, _ = strings.Cut(serving, "\n## ")
	asked := regexp.MustCompile("(?s)\\$ curl -s http://127.0.0.1:8080/([^\n]*)\n(.*?)```").FindAllStringSubmatch(serving, -1)
	if len(asked) == 0 {
		t.Fatal("the section has no requests")
	}
	db := filepath.Join(t.TempDir(), "db")
	syncTo(t, db, "file://"+realBlocks(t), "--wal=off")
	s := startServer(t, "--db", db)
	for _, a := range asked {
		if r := s.get(t, a[1]); string(r.body) != a[2] {
			t.Errorf("%s: status %d\n%s--- in the README\n%s", a[1], r.status, r.body, a[2])
		}
	}
	for _, row := range regexp.MustCompile("(?m)^\\| (`/.*?) \\|").FindAllStringSubmatch(serving, -1) {
		for path := range strings.SplitSeq(strings.NewReplacer("`", "", "…", "status").Replace(row[1]), ", ") {
			if strings.HasSuffix(path, "/events") {
				continue // a stream without an end
			}
			if r := s.get(t, path[1:]); r.status != 200 {
				t.Errorf("%s: %d %.200s", path, r.status, r.body)
			}
		}
	}
	s.stop(t)
}
