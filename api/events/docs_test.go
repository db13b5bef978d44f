package events_test

import (
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"birthmark/api/events"
	"birthmark/core/query/changes"
	"birthmark/model"
)

var update = flag.Bool("update", false, "write the events into docs/events.md")

const guide = "../../docs/events.md"

// The events of each session in docs/events.md, up to that of the tip, match the server's output.
func TestEventsOfTheDocumentation(t *testing.T) {
	chain, blocks := realBlocks(t, 14_132)
	w := newWorld(t, chain, nil)
	w.grow(blocks...)
	s := w.serve(events.Options{})
	// This id belongs to a chain with a different last block.
	known, err := changes.Locator(t.Context(), w.now().Queries, w.now().Tip())
	if err != nil {
		t.Fatal(err)
	}
	known[0].Hash = model.Hash{1}
	lost := events.IDOf(chain, known)

	page, err := os.ReadFile(filepath.FromSlash(guide))
	if err != nil {
		t.Fatal(err)
	}
	sessions := regexp.MustCompile("(?s)```console\n\\$ curl -sN (?:-H 'Last-Event-ID: ([^']*)' )?'http://127.0.0.1:8080/v1/bitcoin/events\\??([^']*)'\n(.*?)```")
	if n := len(sessions.FindAll(page, -1)); n < 2 {
		t.Fatalf("%d sessions in %s", n, guide)
	}
	answered := sessions.ReplaceAllStringFunc(string(page), func(session string) string {
		parts := sessions.FindStringSubmatch(session)
		id, query := parts[1], parts[2]
		if id != "" {
			session = strings.Replace(session, id, lost, 1)
			id = lost
		}
		c := connect(t, s.URL, query, id)
		defer c.close()
		var output strings.Builder
		for tip := chain.FormatHash(w.now().Tip().Hash); ; {
			line, err := c.lines.ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			output.WriteString(line)
			if line == "\n" && strings.Contains(output.String(), tip) {
				break
			}
		}
		command, _, _ := strings.Cut(strings.TrimPrefix(session, "```console\n"), "\n")
		return "```console\n" + command + "\n" + output.String() + "```"
	})
	if *update {
		if err := os.WriteFile(filepath.FromSlash(guide), []byte(answered), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if answered != string(page) {
		at := 0
		for at < min(len(answered), len(page)) && answered[at] == page[at] {
			at++
		}
		t.Errorf("%s has %.300q\nthe output is %.300q", guide, page[at:], answered[at:])
	}
}
