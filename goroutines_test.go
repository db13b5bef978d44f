package birthmark_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// guarded are the folders of code that servers run.
var guarded = []string{"api", "core", "chains", "internal/daemon", "internal/replica", "internal/control"}

// unguarded are the goroutines without package guard: they do nothing that can panic.
var unguarded = map[string]string{
	"api/netserver/server.go":       "net/http guards each connection; the other waits",
	"internal/control/serve.go":     "net/http guards each connection",
	"internal/daemon/handle.go":     "waits for two channels",
	"chains/bitcoin/p2p/network.go": "messages of peers are guarded: see remote.go",
}

// A panic in a goroutine of a server ends the process with all its chains, so each goroutine calls package guard.
func TestGoroutinesAreGuarded(t *testing.T) {
	used := map[string]bool{}
	for _, folder := range guarded {
		err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || forTests(path) {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			ast.Inspect(file, func(n ast.Node) bool {
				if !begins(n) || mentions(n, "guard") {
					return true
				}
				if unguarded[filepath.ToSlash(path)] != "" {
					used[filepath.ToSlash(path)] = true
					return true
				}
				t.Errorf("%s begins a goroutine that does not call package guard: a panic in it would end the process",
					files.Position(n.Pos()))
				return true
			})
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for path := range unguarded {
		if !used[path] {
			t.Errorf("%s has no goroutine without package guard: remove the exception", path)
		}
	}
}

// forTests reports whether a file is in a package for tests, such as coretest.
func forTests(path string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(filepath.Dir(path)), "/"), func(name string) bool {
		return strings.HasSuffix(name, "test")
	})
}

// begins reports whether a node is a go statement, or a call of Go of a group.
func begins(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		f, ok := n.Fun.(*ast.SelectorExpr)
		return ok && f.Sel.Name == "Go" && len(n.Args) == 1
	}
	return false
}

// mentions reports whether a package is used below a node.
func mentions(n ast.Node, name string) (found bool) {
	ast.Inspect(n, func(n ast.Node) bool {
		s, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		x, ok := s.X.(*ast.Ident)
		found = found || ok && x.Name == name
		return true
	})
	return found
}
