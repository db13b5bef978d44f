package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/expr-lang/expr"

	"birthmark/internal/testblocks"
)

var obligations = filepath.Join("testdata", "obligations.md")

// obligation is a row of the acceptance table: a question, and the commands that answer it, each with an expression
// that must be true for its document; or the reason why no command answers it.
type obligation struct {
	number, asks string
	commands     []string
	answers      []string
	reason       string
}

// readObligations returns the rows of the tables and the settings of the databases.
func readObligations(t *testing.T) (rows []obligation, settings []string) {
	t.Helper()
	text, err := os.ReadFile(obligations)
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(text), "```")
	for i, part := range parts {
		if file, ok := strings.CutPrefix(part, "yaml\n"); ok && i%2 == 1 {
			settings = append(settings, file)
		}
	}
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), "|")
		if len(cells) < 2 || !strings.Contains(cells[1], ".") {
			continue
		}
		if len(cells) != 6 {
			t.Fatalf("%d cells, expected 4: %s", len(cells)-2, line)
		}
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		row := obligation{number: cells[1], asks: cells[2]}
		if reason, ok := strings.CutPrefix(cells[3], "not answered: "); ok {
			row.reason = reason
		} else {
			row.commands, row.answers = quoted(t, cells[3]), quoted(t, cells[4])
		}
		rows = append(rows, row)
	}
	return rows, settings
}

// quoted returns the pieces of code in a cell.
func quoted(t *testing.T, cell string) (code []string) {
	t.Helper()
	for piece := range strings.SplitSeq(cell, "<br>") {
		if len(piece) < 3 || piece[0] != '`' || piece[len(piece)-1] != '`' {
			t.Fatalf("expected code between backquotes, not %s", piece)
		}
		code = append(code, piece[1:len(piece)-1])
	}
	return code
}

// Every line of the five schemas has a row with commands or a reason.
func TestEveryObligationHasARow(t *testing.T) {
	t.Parallel()
	var want []string
	for schema, lines := range []int{29, 13, 25, 30, 24} {
		for line := range lines {
			want = append(want, fmt.Sprintf("%d.%d", schema, line+1))
		}
	}
	rows, _ := readObligations(t)
	var got []string
	for _, row := range rows {
		got = append(got, row.number)
		switch {
		case row.asks == "" || len(row.commands) == 0 && len(row.reason) < 20:
			t.Errorf("%s is incomplete: %+v", row.number, row)
		case len(row.commands) != len(row.answers):
			t.Errorf("%s has %d commands and %d answers", row.number, len(row.commands), len(row.answers))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows %v, expected %v", got, want)
	}
}

// Every command of the tables has the expected answer, on real blocks.
func TestObligationsAreAnswered(t *testing.T) {
	slow(t)
	t.Parallel()
	sources := map[string]string{
		"bitcoin": "file://" + realBlocks(t),
		"cardano": "file://" + testblocks.Path(t, "cardano", "dingo-immutable"),
		"ergo":    "file://" + testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"),
	}
	dir := t.TempDir()
	rows, settings := readObligations(t)
	if len(settings) != len(sources) {
		t.Fatalf("settings of %d databases", len(settings))
	}
	for _, text := range settings {
		first, _, _ := strings.Cut(text, "\n")
		chain := strings.TrimPrefix(first, "chain: ")
		file := filepath.Join(dir, chain+".yaml")
		write(t, file, strings.Replace(text, "db: "+chain, "db: "+filepath.Join(dir, chain), 1))
		ask(t, nil, "sync", "--config", file, "--wal=off", "--source", sources[chain])
	}
	ran := map[string]result{} // many rows have the same command
	for _, row := range rows {
		for i, command := range row.commands {
			words := strings.Fields(command)
			if words[0] != "birthmark" {
				t.Errorf("%s: expected a command of birthmark, not %s", row.number, command)
				continue
			}
			for k, word := range words {
				if k > 0 && words[k-1] == "--db" {
					words[k] = filepath.Join(dir, word)
				}
			}
			r, again := ran[command]
			if !again {
				r = birthmark(append(words[1:], "--json")...)
				ran[command] = r
			}
			if refused := strings.Contains(row.answers[i], "error."); (r.status != exitDone) != refused {
				t.Errorf("%s: %s: status %d: %s", row.number, command, r.status, r.stderr)
				continue
			}
			ok, err := expr.Eval(row.answers[i], documentOf(t, r.stdout))
			if ok != true || err != nil {
				t.Errorf("%s: %s: expected that %s (%v): %.2000s", row.number, command, row.answers[i], err, r.stdout)
			}
		}
	}
}

// documentOf returns the document of a command. If the command prints one document per line, the field lines of the
// document has them.
func documentOf(t *testing.T, stdout string) map[string]any {
	t.Helper()
	var lines []any
	d := json.NewDecoder(bytes.NewReader([]byte(stdout)))
	for d.More() {
		var document map[string]any
		if err := d.Decode(&document); err != nil {
			t.Fatalf("%v in %.2000s", err, stdout)
		}
		lines = append(lines, document)
	}
	if len(lines) == 1 {
		return lines[0].(map[string]any)
	}
	return map[string]any{"lines": lines}
}
