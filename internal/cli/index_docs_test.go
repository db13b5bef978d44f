package cli

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// The session in docs/indexes.md matches the output of the commands, except for sizes.
func TestSessionInTheIndexDocsIsCurrent(t *testing.T) {
	slow(t)
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("..", "..", "docs", "indexes.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(text), "## Indexes of a running database\n")
	settings, section, found := strings.Cut(section, "```console\n")
	session, _, _ := strings.Cut(section, "```\n")
	steps := strings.Split(session, "$ birthmark ")
	if !found || len(steps) < 7 {
		t.Fatalf("no session in the section: %q", session)
	}
	dir := t.TempDir()
	file, db, source := filepath.Join(dir, "birthmark.yaml"), filepath.Join(dir, "bitcoin"), "file://"+realBlocks(t)
	var lines strings.Builder
	for line := range strings.Lines(settings) {
		if of, ok := strings.CutPrefix(line, "    "); ok {
			lines.WriteString(of)
		}
	}
	write(t, file, lines.String())
	syncTo(t, db, source)
	vary := func(said string) string {
		said = regexp.MustCompile(`(?m)^freed    .*$`).ReplaceAllString(said, "freed    SIZE")
		return regexp.MustCompile(`(?m)^rows   .*$`).ReplaceAllString(said, "rows   NUMBER")
	}
	for _, step := range steps[1:] {
		line, shown, _ := strings.Cut(step, "\n")
		args := strings.Fields(line)
		for i, word := range args {
			if i > 0 && args[i-1] == "--db" {
				args[i] = db
			}
			switch word {
			case "birthmark.yaml":
				args[i] = file
			case "blocks":
				args[i] = source
			}
		}
		if r := birthmark(args...); r.status != exitDone || vary(r.stdout) != shown {
			t.Errorf("birthmark %s: status %d\n--- output\n%s%s--- in the docs\n%s", line, r.status, vary(r.stdout), r.stderr, shown)
		}
	}
}
