package core_test

import (
	"bytes"
	"strings"
	"testing"

	"birthmark/core"
	"birthmark/core/schema"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/model/modeltest"
	"birthmark/storage"
	"birthmark/storage/memory"
)

func schemaText(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	if err := schema.WriteMarkdown(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// cells returns the cells of a line of a Markdown table. A bar within a cell is escaped.
func cells(line string) []string {
	line = strings.ReplaceAll(strings.Trim(line, "|"), `\|`, "\x00")
	return strings.Split(line, "|")
}

func TestRowsOfTheSchemaHaveTheCellsOfTheirTable(t *testing.T) {
	rows, columns := 0, 0
	for line := range strings.Lines(schemaText(t)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case !strings.HasPrefix(line, "|"):
			columns = 0
			continue
		case columns == 0:
			columns = len(cells(line))
		}
		if n := len(cells(line)); n != columns {
			t.Errorf("%d cells, expected %d: %s", n, columns, line)
		}
		rows++
	}
	if rows < 40 {
		t.Errorf("the schema has %d rows", rows)
	}
}

// The schema document describes every row of meta, including the row of a backfill.
func TestTheSchemaHasEveryRowOfMeta(t *testing.T) {
	v := modeltest.Variants()[0]
	store := memory.New()
	db, err := core.Open(t.Context(), store, core.Options{Chain: v.Chain("one"), Indexes: []string{"address"}, Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	appendAll(t, db, having(v.NewGenerator(testseed.Of(t, 230)).Blocks(3), "address"), 3)
	if err := db.AddIndex(t.Context(), "tag", model.IndexOptions{}); err != nil {
		t.Fatal(err)
	}
	names := map[string]bool{}
	err = store.View(t.Context(), func(r storage.Reader) error {
		for kv, err := range r.Scan(0, nil, nil, false) { // meta is family 0
			if err != nil {
				return err
			}
			names[string(kv.Key)] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(names) < 8 || !names["work"] || !names["raw"] {
		t.Errorf("the database has only %v in meta", names)
	}
	text := schemaText(t)
	for name := range names {
		if !strings.Contains(text, "\n| `"+name+"` | `") {
			t.Errorf("the schema has no row %s of meta", name)
		}
	}
}
