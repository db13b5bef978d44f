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

// guarded are the folders of code that servers run. Those of commands and of tests in them are left out.
var guarded = []string{"api", "core", "chains", "storage", "internal", "distributed/tikv"}

// unguarded are the functions that begin goroutines or timers without package guard: they do nothing that can panic, or
// what they call is guarded.
var unguarded = map[string]string{
	"api/netserver/server.go: drain":           "waits for a channel",
	"api/ratelimit/timelimit.go: newTimeLimit": "ends a context",
	"core/meter/yield.go: wait":                "writes to a pipe",
	"internal/control/serve.go: Serve":         "net/http guards each connection",
	"internal/daemon/handle.go: tip":           "waits for two channels",
	"internal/guard/guard.go: Beside":          "calls guard.Call",
	"chains/bitcoin/p2p/remote.go: serve":      "remote.locked is guarded",
	"chains/bitcoin/mempool/events.go: stream": "closes a connection",
	"distributed/tikv/reader.go: atOnce":       "each part is guarded",
}

// A panic in a goroutine of a server ends the process with all its chains, so each goroutine and each function of a timer
// calls package guard, unless it only ends something.
func TestGoroutinesAreGuarded(t *testing.T) {
	used := map[string]bool{}
	check := func(files *token.FileSet, f *ast.FuncDecl) {
		place := filepath.ToSlash(files.Position(f.Pos()).Filename) + ": " + f.Name.Name
		ast.Inspect(f, func(n ast.Node) bool {
			if !begins(n) || mentions(n, "guard") {
				return true
			}
			if unguarded[place] != "" {
				used[place] = true
				return true
			}
			t.Errorf("%s begins a goroutine or a timer that does not call package guard: a panic in it would end the process "+
				"(exception %q)", files.Position(n.Pos()), place)
			return true
		})
	}
	for _, folder := range guarded {
		err := filepath.WalkDir(folder, func(path string, e fs.DirEntry, err error) error {
			if err == nil && e.IsDir() && filepath.ToSlash(path) == "internal/cli" {
				return filepath.SkipDir
			}
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || forTests(path) {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
			if err != nil {
				return err
			}
			for _, d := range file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok {
					check(files, f)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for place := range unguarded {
		if !used[place] {
			t.Errorf("%s begins nothing without package guard: remove the exception", place)
		}
	}
}

// forTests reports whether a file is in a package for tests, such as coretest.
func forTests(path string) bool {
	return slices.ContainsFunc(strings.Split(filepath.ToSlash(filepath.Dir(path)), "/"), func(name string) bool {
		return strings.HasSuffix(name, "test")
	})
}

// begins reports whether a node is a go statement, a call of Go of a group, or a call of time.AfterFunc or
// context.AfterFunc with a function that does more than end something.
func begins(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.GoStmt:
		return true
	case *ast.CallExpr:
		f, ok := n.Fun.(*ast.SelectorExpr)
		return ok && (f.Sel.Name == "Go" && len(n.Args) == 1 || f.Sel.Name == "AfterFunc" && len(n.Args) == 2 && !ends(n.Args[1]))
	}
	return false
}

// ending are the names of functions that only end or wake something.
var ending = []string{"cancel", "close", "Close", "stop", "birthmark_stop", "Broadcast", "Lock", "Unlock", "Store"}

// ends reports whether a function, or every call in it, has a name of ending.
func ends(do ast.Expr) bool {
	named := func(e ast.Expr) bool {
		switch e := e.(type) {
		case *ast.Ident:
			return slices.Contains(ending, e.Name)
		case *ast.SelectorExpr:
			return slices.Contains(ending, e.Sel.Name)
		}
		return false
	}
	f, ok := do.(*ast.FuncLit)
	if !ok {
		return named(do)
	}
	all := true
	ast.Inspect(f, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok {
			all = all && named(call.Fun)
		}
		return true
	})
	return all
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
