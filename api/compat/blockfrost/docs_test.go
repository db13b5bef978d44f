package blockfrost_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/api/compat/blockfrost"
)

var update = flag.Bool("update", false, "write the table of operations in docs/cardano-clients.md")

// The documentation has a table of all operations, as the server answers them.
func TestTheDocumentationHasAllOperations(t *testing.T) {
	file := filepath.Join("..", "..", "..", "docs", "cardano-clients.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const begin, end = "<!-- operations -->\n", "<!-- end of operations -->\n"
	before, rest, ok := strings.Cut(string(text), begin)
	table, after, ended := strings.Cut(rest, end)
	if !ok || !ended {
		t.Fatalf("%s has no %q and %q", file, begin, end)
	}
	want := operations()
	if *update {
		if err := os.WriteFile(file, []byte(before+begin+want+end+after), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if table != want {
		t.Errorf("the table of operations does not match the server: run go test ./api/compat/blockfrost -run Documentation -update")
	}
}

// operations returns the tables of answered operations and of the others, by reason.
func operations() string {
	var b, none strings.Builder
	answered, reasons, by := 0, []string{}, map[string][]string{}
	fmt.Fprintln(&b, "| operation | answered |\n|---|---|")
	for _, o := range blockfrost.Operations() {
		name := "`" + o.Method + " " + o.Path + "`"
		switch {
		case o.Reason != "":
			if by[o.Reason] == nil {
				reasons = append(reasons, o.Reason)
			}
			by[o.Reason] = append(by[o.Reason], name)
			continue
		case o.With != "":
			fmt.Fprintf(&b, "| %s | with %s |\n", name, o.With)
		default:
			fmt.Fprintf(&b, "| %s | always |\n", name)
		}
		answered++
	}
	slices.Sort(reasons)
	others := 0
	for _, r := range reasons {
		fmt.Fprintf(&none, "\n“%s”:\n\n", r)
		for _, name := range by[r] {
			fmt.Fprintf(&none, "- %s\n", name)
			others++
		}
	}
	return fmt.Sprintf("%d operations are answered:\n\n%s\n%d are 501, by reason.\n%s", answered, b.String(), others, none.String())
}
