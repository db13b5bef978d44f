package birthmark_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// requestFolders are the packages that a request runs. They read the store only through [pointers.Scans], whose scans
// have a budget and end with the context of the request.
var requestFolders = []string{"core/query", "core/pending", "api"}

// rawReaders are the files in which a [storage.Reader] may occur: the reader itself, and the snapshot that is wrapped.
var rawReaders = []string{"core/query/pointers/scans.go", "core/query/view.go"}

// unlimited are the files that remove the budget, which a scan of the whole chain needs.
var unlimited = map[string]string{
	"core/query/view.go":              "commands",
	"core/query/query.go":             "the method itself",
	"core/query/changes/feed.go":      "a stream, which its consumer ends",
	"api/compat/boxes/numbers.go":     "a table that is read once per process, and continues where it stopped",
	"api/compat/boxes/template.go":    "a map that is read once per process",
	"api/compat/blockfrost/epochs.go": "the blocks of an epoch, whose sums are stored when it ends",
}

func TestRequestsScanWithABudgetAndAContext(t *testing.T) {
	used := map[string]bool{}
	files := 0
	for _, folder := range requestFolders {
		err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") ||
				strings.HasSuffix(filepath.Dir(path), "test") { // a package for tests
				return err
			}
			files++
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, fault := range scanFaults(path, file, used) {
				t.Error(fault)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for path := range unlimited {
		if !used[path] {
			t.Errorf("%s does not scan without a budget: remove it from the list", path)
		}
	}
	if files == 0 {
		t.Error("no files were found")
	}
}

// Without this the test above could pass because scanFaults finds nothing.
func TestScansWithoutABudgetAreFound(t *testing.T) {
	for source, want := range map[string]string{
		"func f(r storage.Reader) {}":                                           "names storage.Reader",
		"func f() { store.View(c, func(storage.Reader) error { return nil }) }": "names storage.Reader",
		"func f() { for range q.Unlimited().R.Scan(1, nil, nil, false) {} }":    "removes the budget",
		"func f() { for range q.R.Scan(1, nil, nil, false) {} }":                "",
	} {
		file, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		found := strings.Join(scanFaults("api/x.go", file, map[string]bool{}), "; ")
		if want == "" && found != "" || !strings.Contains(found, want) {
			t.Errorf("%s: %q, expected %q", source, found, want)
		}
	}
}

func scanFaults(path string, file *ast.File, used map[string]bool) (faults []string) {
	path = filepath.ToSlash(path)
	ast.Inspect(file, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, _ := s.X.(*ast.Ident)
		switch {
		case x != nil && x.Name == "storage" && (s.Sel.Name == "Reader" || s.Sel.Name == "Store"):
			if !slices.Contains(rawReaders, path) {
				faults = append(faults, fmt.Sprintf("%s names storage.%s, whose scans have no budget and no context: use query.Query", path, s.Sel.Name))
			}
		case s.Sel.Name == "Unlimited":
			if used[path] = true; unlimited[path] == "" {
				faults = append(faults, path+" removes the budget of scans: only the files listed here may do so, with a reason")
			}
		}
		return true
	})
	return faults
}
