// Package recipes reads the index definitions of docs/indexes.md, so that the tests of a chain can define them and
// check what they find in real blocks. Only tests import it.
package recipes

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"birthmark/model"
)

// book is the page, from the root of the module.
var book = filepath.Join("docs", "indexes.md")

// Of returns the recipes in the section of a chain, whose heading is "## " and its name: all YAML blocks in order. own
// are the definitions, offered the names of the chain's indexes that they enable. The test fails if a block is not
// valid settings or the section has no definitions.
func Of(t testing.TB, section string) (own []model.Definition, offered []string) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), book))
	if err != nil {
		t.Fatal(err)
	}
	for _, block := range blocks(string(text), section) {
		d := yaml.NewDecoder(strings.NewReader(block))
		d.KnownFields(true)
		var settings struct {
			Indexes yaml.Node
		}
		if err := d.Decode(&settings); err != nil {
			t.Fatalf("%s: %v in\n%s", book, err, block)
		}
		// Its content is pairs of name and index, in the order of the page.
		for pair := range slices.Chunk(settings.Indexes.Content, 2) {
			name := pair[0].Value
			x := index(t, name, pair[1])
			if x.Value == "" {
				offered = append(offered, name)
				continue
			}
			kind := model.OneToMany
			for kind.Valid() && x.Kind != "" && kind.String() != x.Kind {
				kind++
			}
			own = append(own, model.Definition{Name: name, Kind: kind, When: x.When, Value: x.Value})
		}
	}
	if len(own) == 0 {
		t.Fatalf("%s has no recipes under ## %s", book, section)
	}
	return own, offered
}

type settings struct {
	When, Value, Kind  string
	model.IndexOptions `yaml:",inline"`
}

func index(t testing.TB, name string, node *yaml.Node) (x settings) {
	t.Helper()
	raw, err := yaml.Marshal(node)
	if err != nil {
		t.Fatal(err)
	}
	d := yaml.NewDecoder(bytes.NewReader(raw))
	d.KnownFields(true)
	if err := d.Decode(&x); err != nil {
		t.Fatalf("%s: index %s: %v", book, name, err)
	}
	return x
}

// blocks returns the YAML blocks in a section of a page.
func blocks(page, section string) (all []string) {
	const fence = "```"
	inside, open := false, false
	for line := range strings.Lines(page) {
		switch text := strings.TrimSpace(line); {
		case !open && strings.HasPrefix(line, "## "):
			inside = text == "## "+section
		case inside && text == fence+"yaml":
			open, all = true, append(all, "")
		case open && text == fence:
			open = false
		case open:
			all[len(all)-1] += line
		}
	}
	return all
}

// root is the folder of the module.
func root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		if dir == filepath.Dir(dir) {
			t.Fatal("there is no go.mod above the test")
		}
		dir = filepath.Dir(dir)
	}
}
