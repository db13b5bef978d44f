// Package birthmark_test holds the rules between the packages of the module.
package birthmark_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const module = "birthmark"

// rule lists the packages of the module that the packages in from may import, and whether they may use cgo. A name that
// ends in /... matches the package and all below it, and a folder * is the folder of the importing package. The most
// specific rule that matches a package applies to it.
type rule struct {
	from string
	may  []string
	cgo  bool
}

var anything = []string{"..."}

// commands are the imports of the packages of commands: all but those for measurements and tests.
var commands = []string{"model", "storage/...", "core/...", "chains/...", "api/...", "internal/..."}

// rules are those of the drawing in ARCHITECTURE.md: imports go down only.
var rules = []rule{
	{from: "internal/control", may: []string{"model", "core", "core/query/..."}},
	{from: "internal/follower", may: []string{"model", "storage"}},
	{from: "internal/config", may: []string{"model/...", "storage", "internal/suggest", "internal/textfile", "internal/signet"}},
	{from: "internal/signet", may: nil},
	{from: "internal/progress", may: []string{"internal/humanize", "internal/guard"}},
	{from: "internal/replica", may: []string{"model", "storage", "core/schema", "core/segment", "api/problem", "api/segments", "internal/snapshot/target"}},
	{from: "internal/daemon", may: []string{"model", "storage/...", "core/...", "chains/...", "api/...", "internal/config", "internal/control", "internal/progress", "internal/replica", "internal/snapshot/...", "internal/guard"}},
	{from: "internal/snapshot", may: []string{"model", "storage", "internal/guard", "internal/humanize", "internal/snapshot/target", "internal/textfile"}},
	{from: "internal/snapshot/target", may: []string{"model", "storage"}},
	{from: "internal/cli", may: commands},
	{from: "internal/cli/command", may: []string{"model", "core", "core/query", "chains", "internal/cli/terminal", "internal/config", "internal/daemon", "internal/humanize", "internal/progress", "internal/suggest"}},
	{from: "internal/cli/snapshotcmd", may: commands},
	{from: "internal/cli/help", may: []string{"internal/cli/command"}},
	{from: "internal/cli/terminal", may: []string{"model", "internal/humanize"}},
	{from: "model/...", may: []string{"model/..."}},
	{from: "model"},
	{from: "internal/offheap"},
	{from: "internal/suggest"},
	{from: "internal/guard"},
	{from: "internal/textfile"},
	{from: "internal/testseed"},
	{from: "internal/testrun"},
	{from: "internal/testblocks"},
	{from: "internal/humanize", may: []string{"model"}},
	{from: "storage/...", may: []string{"storage"}},
	{from: "storage"},
	{from: "storage/rocks", may: []string{"storage", "internal/guard", "internal/offheap"}, cgo: true},
	{from: "storage/rocks/naive", may: []string{"storage"}, cgo: true},
	{from: "storage/rocks/rockstest", may: []string{"storage", "storage/rocks"}},
	{from: "storage/storetest", may: []string{"storage", "internal/testseed"}},
	{from: "core/...", may: []string{"model", "storage", "core/...", "internal/offheap", "internal/guard"}},
	{from: "core/schema", may: []string{"model", "storage", "internal/suggest"}},
	{from: "core/segment", may: []string{"model", "storage", "core/schema"}},
	{from: "core/cache", may: []string{"model", "storage", "core/schema", "core/cache/run", "internal/offheap", "internal/guard"}},
	{from: "core/cache/run", may: []string{"internal/offheap"}},
	{from: "core/ledger", may: []string{"model", "storage", "core/schema"}},
	{from: "core/ingest", may: []string{"model", "storage", "core/schema", "core/cache", "core/cache/run", "core/ledger", "internal/guard"}},
	{from: "core/meter", may: []string{"model"}},
	{from: "core/query", may: []string{"model", "storage", "core/schema", "core/query/pointers", "core/query/blocktime", "core/query/setops"}},
	{from: "core/query/pointers", may: []string{"model", "storage", "core/meter", "core/schema", "core/query/setops", "internal/guard"}},
	{from: "core/query/blocktime", may: []string{"model", "core/schema", "core/query/pointers"}},
	{from: "core/query/setops", may: []string{"model"}},
	{from: "core/query/valueset", may: []string{"internal/offheap"}},
	{from: "core/query/...", may: []string{"model", "storage", "core/schema", "core/query", "core/query/setops"}},
	{from: "core/backfill", may: []string{"model", "storage", "core/schema", "core/cache", "core/ledger", "core/ingest"}},
	{from: "core/coretest", may: []string{
		"model", "model/modeltest", "storage", "storage/memory", "core", "core/check", "core/query", "internal/testrun",
		"internal/testseed",
	}},
	{from: "core/pending", may: []string{"model", "core/meter", "core/query", "core/query/pointers", "core/schema", "internal/guard"}},
	{from: "core/pending/answers", may: []string{"model", "core/query", "core/schema", "core/pending"}},
	{from: "core/pending/pendingtest", may: []string{"model", "model/modeltest", "storage/memory", "core", "core/coretest", "core/query"}},
	{from: "core/check", may: []string{"model", "storage", "core/schema"}},
	{from: "core/export", may: []string{"model", "storage", "core/schema", "core/query", "core/export/tablefile", "internal/guard", "internal/offheap"}},
	{from: "core/export/tablefile", may: []string{"model"}},
	{from: "core/upgrade", may: []string{"model", "storage", "core/schema"}},
	{from: "core/verify", may: []string{"model", "storage", "core/schema", "core/ingest", "internal/guard"}},
	{from: "api/...", may: []string{"model", "core/...", "api/...", "internal/humanize", "internal/guard"}},
	{from: "api/explorer", may: []string{"model", "core/...", "api/...", "internal/humanize"}},
	// A protocol imports what protocols share and the packages below its own folder, never another protocol.
	{from: "api/jsonappend"},
	{from: "api/exchange", may: []string{"model", "core/meter", "api/jsonappend", "api/problem", "api/ratelimit", "api/served"}},
	{from: "api/compat/...", may: []string{
		"model", "core/meter", "core/schema", "core/pending/...", "core/query/...", "chains/bitcoin/...", "chains/cardano/...", "chains/ergo/...",
		"chains/tapyrus/...", "chains/bitcoinsv/...",
		"api/exchange", "api/jsonappend", "api/netserver", "api/problem", "api/ratelimit", "api/served", "internal/guard",
		"api/compat/wallet", "api/compat/script", "api/compat/account", "api/compat/utxo", "api/compat/boxes", "api/bounded",
		"api/compat/blockfrost/contents",
		"api/compat/*/...",
	}},
	{from: "api/compat/answertest", may: []string{"api/ratelimit", "core", "core/meter", "core/pending", "model", "storage/storetest", "internal/testrun", "internal/testseed"}},
	{from: "api/compat/boxes/boxestest", may: anything},
	{from: "chains/...", may: []string{"model/...", "chains/...", "internal/humanize", "internal/signet", "internal/suggest", "internal/guard", "internal/offheap"}},
	{from: "internal/testnode/...", may: []string{"model/...", "chains/...", "bench/generate/...", "internal/testnode/...", "internal/testseed"}},
	{from: "bench/generate/...", may: []string{"model/...", "chains/...", "bench/generate/..."}},
	{from: "bench/...", may: anything},
	{from: "cmd/birthmark", may: []string{"internal/cli"}},
	{from: "cmd/birthmark-bench", may: []string{"internal/cli", "bench/benchcmd"}},
}

// layers are those of the drawing in ARCHITECTURE.md, the lowest first. The first has the packages of internal that all
// others may import. The most specific pattern that matches a package applies to it.
var layers = [][]string{
	{"model/...", "storage/...", "internal/guard", "internal/humanize", "internal/offheap", "internal/signet", "internal/suggest"},
	{"core/schema"},
	{"core/cache/...", "core/ledger"},
	{"core/...", "chains/..."},
	{"core"},
	{"api/..."},
	{"internal/..."},
	{"cmd/..."},
}

// layerOf returns the layer of a package; -1: none.
func layerOf(importPath string) int {
	layer, longest := -1, 0
	for n, patterns := range layers {
		for _, p := range patterns {
			length := len(p)
			if path.Join(module, p) == importPath {
				length = math.MaxInt
			}
			if matches(p, importPath) && length > longest {
				layer, longest = n, length
			}
		}
	}
	return layer
}

// pkg is the part of the output of `go list -json` that the rules need.
type pkg struct {
	ImportPath string
	Name       string
	Standard   bool
	Dir        string
	Imports    []string
	GoFiles    []string
	CgoFiles   []string
	Doc        string // the first sentence of the doc comment
}

func (p *pkg) ours() bool {
	return p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/")
}

func TestPackagesImportOnlyWhatTheirLayerMay(t *testing.T) {
	packages := list(t)
	used := map[string]bool{}
	for _, p := range packages {
		if !p.ours() || p.ImportPath == module {
			continue
		}
		r, ok := ruleFor(p.ImportPath)
		if !ok {
			t.Errorf("%s has no rule: add one", p.ImportPath)
			continue
		}
		used[r.from] = true
		for _, fault := range faults(r, p, packages) {
			t.Error(fault)
		}
	}
	for _, r := range rules {
		if !used[r.from] {
			t.Errorf("the rule for %s matches no package", r.from)
		}
	}
}

// A rule lists the imports of one package. This test checks the order of all packages.
func TestImportsGoDown(t *testing.T) {
	packages := list(t)
	down := 0
	for _, p := range packages {
		layer := layerOf(p.ImportPath)
		if layer < 0 || slices.Contains(p.Imports, "testing") || matches("internal/testnode/...", p.ImportPath) {
			continue
		}
		for _, i := range p.Imports {
			if of := layerOf(i); of > layer {
				t.Errorf("%s imports %s, which is above it", p.ImportPath, i)
			} else if of >= 0 && of < layer {
				down++
			}
		}
	}
	if down < 100 {
		t.Errorf("%d imports go down", down)
	}
	for importPath, want := range map[string]int{"model/modeltest": 0, "core/schema": 1, "core/cache/run": 2, "core/check": 3, "core": 4,
		"internal/guard": 0, "internal/cli/help": 6, "bench": -1} {
		if got := layerOf(path.Join(module, importPath)); got != want {
			t.Errorf("%s is in layer %d, expected %d", importPath, got, want)
		}
	}
}

// A package that imports testing is for tests of other packages. The program must not import it.
func TestTheProgramImportsNoTestPackages(t *testing.T) {
	packages := list(t)
	forTests := func(p *pkg) bool { return p != nil && p.ours() && slices.Contains(p.Imports, "testing") }
	found := 0
	for _, p := range packages {
		if forTests(p) {
			found++
			continue
		}
		for _, i := range p.Imports {
			// A command below a package for tests may import it.
			if p.ours() && forTests(packages[i]) && !strings.HasPrefix(p.ImportPath, i+"/") {
				t.Errorf("%s imports %s, which is for tests", p.ImportPath, i)
			}
		}
	}
	if found == 0 {
		t.Error("no package for tests was found")
	}
}

// A protocol answers for the chains of one engine, whose packages it imports.
func TestProtocolsImportOneChain(t *testing.T) {
	for _, p := range list(t) {
		if !matches("api/compat/...", p.ImportPath) || slices.Contains(p.Imports, "testing") {
			continue
		}
		chains := map[string]bool{}
		for _, i := range p.Imports {
			if below, ok := strings.CutPrefix(i, module+"/chains/"); ok {
				chain, _, _ := strings.Cut(below, "/")
				if chain == "tapyrus" || chain == "bitcoinsv" { // of Bitcoin's engine
					chain = "bitcoin"
				}
				chains[chain] = true
			}
		}
		if len(chains) > 1 {
			t.Errorf("%s imports packages of %d chains: %v", p.ImportPath, len(chains), slices.Sorted(maps.Keys(chains)))
		}
	}
}

// Generators, clients for measurements and test nodes are in birthmark-bench, not in the product.
func TestTheProgramHasNoBenchmarks(t *testing.T) {
	packages := list(t)
	seen := map[string]bool{}
	var visit func(importPath string)
	visit = func(importPath string) {
		if p := packages[importPath]; p != nil && p.ours() && !seen[importPath] {
			seen[importPath] = true
			for _, i := range p.Imports {
				visit(i)
			}
		}
	}
	visit(module + "/cmd/birthmark")
	if len(seen) < 50 {
		t.Fatalf("%d packages were found", len(seen))
	}
	for importPath := range seen {
		for _, never := range []string{"bench/...", "internal/testnode/...", "internal/testrun", "internal/testblocks", "storage/rocks/naive"} {
			if matches(never, importPath) {
				t.Errorf("cmd/birthmark contains %s", importPath)
			}
		}
	}
}

// The doc comment of a package states its one topic in the first sentence. Its size follows from that.
func TestPackagesSayWhatTheyAreAbout(t *testing.T) {
	for _, p := range list(t) {
		if !p.ours() || len(p.GoFiles) == 0 {
			continue
		}
		start := "Package " + p.Name + " "
		if p.Name == "main" {
			start = "Command "
		}
		if topic, ok := strings.CutPrefix(p.Doc, start); !ok || len(strings.Fields(topic)) < 2 {
			t.Errorf("%s: %q: state the topic of the package in a sentence that begins with %q", p.ImportPath, p.Doc, start)
		}
	}
}

// maxArchitectureRows is the length of a table of packages that a newcomer still reads.
const maxArchitectureRows = 35

// Each package has a row of the table in ARCHITECTURE.md, and each row is about a package or another module.
func TestArchitectureNamesEveryPackage(t *testing.T) {
	patterns, rows := architecture(t)
	if rows == 0 || rows > maxArchitectureRows {
		t.Errorf("ARCHITECTURE.md has %d rows of packages, expected 1 to %d: join rows by a pattern", rows, maxArchitectureRows)
	}
	used := map[string]bool{}
	for _, p := range list(t) {
		if !p.ours() || p.ImportPath == module {
			continue
		}
		found := false
		for _, pattern := range patterns {
			if matches(pattern, p.ImportPath) {
				used[pattern], found = true, true
			}
		}
		if !found {
			t.Errorf("%s has no row in ARCHITECTURE.md", p.ImportPath)
		}
	}
	for _, pattern := range patterns {
		if _, err := os.Stat(filepath.Join(pattern, "go.mod")); err != nil && !used[pattern] {
			t.Errorf("ARCHITECTURE.md names %s, but there is no such package", pattern)
		}
	}
}

// architecture returns the patterns of the table of packages in ARCHITECTURE.md, and the number of its rows. A name
// without a slash after another one is in the same folder.
func architecture(t *testing.T) (patterns []string, rows int) {
	t.Helper()
	text, err := os.ReadFile("ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| package | duty |\n|---|---|\n")
	for line := range strings.Lines(table) {
		cell, _, ok := strings.Cut(strings.TrimPrefix(line, "| "), " | ")
		if !ok {
			break
		}
		rows++
		folder := ""
		for name := range strings.SplitSeq(cell, ", ") {
			name = strings.Trim(name, "`")
			if strings.Contains(name, "/") {
				folder = path.Dir(name)
			}
			patterns = append(patterns, path.Join(folder, path.Base(name)))
		}
	}
	return patterns, rows
}

// Without this the first test could pass because faults finds nothing.
func TestForbiddenImportsAreFound(t *testing.T) {
	packages := map[string]*pkg{
		"example.com/c": {ImportPath: "example.com/c", CgoFiles: []string{"c.go"}},
		"runtime/cgo":   {ImportPath: "runtime/cgo", CgoFiles: []string{"cgo.go"}, Standard: true},
	}
	for _, c := range []struct{ from, imports, fault string }{
		{"birthmark/core", "birthmark/chains/bitcoin", "birthmark/core must not import birthmark/chains/bitcoin: allowed are model, storage, core/..., internal/offheap, internal/guard"},
		{"birthmark/chains", "birthmark/core", "birthmark/chains must not import birthmark/core: allowed are model/..., chains/..., internal/humanize, internal/signet, internal/suggest, internal/guard"},
		{"birthmark/chains/bitcoin", "birthmark/storage", "birthmark/chains/bitcoin must not import birthmark/storage: allowed are model/..., chains/..., internal/humanize, internal/signet, internal/suggest, internal/guard"},
		{"birthmark/model", "birthmark/core", "birthmark/model must not import birthmark/core: allowed are nothing"},
		{"birthmark/storage", "birthmark/storage/memory", "birthmark/storage must not import birthmark/storage/memory: allowed are nothing"},
		{"birthmark/storage/memory", "C", "birthmark/storage/memory imports C, cgo belongs in storage/rocks alone"},
		{"birthmark/core", "example.com/c", "birthmark/core imports example.com/c, which is cgo, and cgo belongs in storage/rocks alone"},
		{"birthmark/core", "birthmark/storage", ""},
		{"birthmark/core", "runtime/cgo", ""},
		{"birthmark/storage/rocks", "example.com/c", ""},
		{"birthmark/cmd/birthmark", "birthmark/internal/cli", ""},
		{"birthmark/api/compat/kupo", "birthmark/api/compat/electrum", "birthmark/api/compat/kupo must not import birthmark/api/compat/electrum"},
		{"birthmark/api/compat/blockfrost", "birthmark/api/compat/blockfrost/contents", ""},
	} {
		r, ok := ruleFor(c.from)
		if !ok {
			t.Fatalf("no rule for %s", c.from)
		}
		got := strings.Join(faults(r, &pkg{ImportPath: c.from, Imports: []string{c.imports}}, packages), "; ")
		if !strings.HasPrefix(got, c.fault) || c.fault == "" && got != "" {
			t.Errorf("%s → %s: %q, expected %q", c.from, c.imports, got, c.fault)
		}
	}
}

// faults lists the imports of p that r forbids. Indirect imports are covered by the rules of the packages between.
func faults(r rule, p *pkg, packages map[string]*pkg) (fs []string) {
	for _, i := range p.Imports {
		imported := packages[i]
		switch {
		case i == "C" && !r.cgo:
			fs = append(fs, fmt.Sprintf("%s imports C, cgo belongs in storage/rocks alone", p.ImportPath))
		case strings.HasPrefix(i, module+"/"):
			if !slices.ContainsFunc(r.may, func(m string) bool { return matches(sameFolder(m, p.ImportPath), i) }) {
				fs = append(fs, fmt.Sprintf("%s must not import %s: allowed are %s", p.ImportPath, i, r))
			}
		case imported != nil && !imported.Standard && !r.cgo && reachesCgo(imported, packages):
			fs = append(fs, fmt.Sprintf("%s imports %s, which is cgo, and cgo belongs in storage/rocks alone", p.ImportPath, i))
		}
	}
	return fs
}

// reachesCgo reports whether p or an import of it outside the standard library uses cgo.
func reachesCgo(p *pkg, packages map[string]*pkg) bool {
	if len(p.CgoFiles) > 0 {
		return true
	}
	return slices.ContainsFunc(p.Imports, func(i string) bool {
		imported := packages[i]
		return imported != nil && !imported.Standard && reachesCgo(imported, packages)
	})
}

func (r rule) String() string {
	if len(r.may) == 0 {
		return "nothing"
	}
	return strings.Join(r.may, ", ")
}

func ruleFor(importPath string) (best rule, ok bool) {
	exact := func(r rule) bool { return path.Join(module, r.from) == importPath }
	for _, r := range rules {
		if matches(r.from, importPath) && (exact(r) || !exact(best) && len(r.from) >= len(best.from)) {
			best, ok = r, true
		}
	}
	return best, ok
}

// sameFolder replaces the folder * of a pattern by the folder of a package at that place.
func sameFolder(pattern, importPath string) string {
	parts, of := strings.Split(pattern, "/"), strings.Split(strings.TrimPrefix(importPath, module+"/"), "/")
	if i := slices.Index(parts, "*"); i >= 0 && i < len(of) {
		parts[i] = of[i]
	}
	return strings.Join(parts, "/")
}

func matches(pattern, importPath string) bool {
	full := path.Join(module, pattern)
	if below, ok := strings.CutSuffix(full, "/..."); ok {
		return importPath == below || strings.HasPrefix(importPath, below+"/")
	}
	return importPath == full
}

// list returns the packages of the module and all their imports by import path, without imports of tests.
func list(t *testing.T) map[string]*pkg {
	t.Helper()
	var stderr bytes.Buffer
	cmd := exec.Command("go", "list", "-deps", "-json=ImportPath,Name,Standard,Dir,Imports,GoFiles,CgoFiles,Doc", "./...")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	packages := map[string]*pkg{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p pkg
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return packages
		} else if err != nil {
			t.Fatal(err)
		}
		packages[p.ImportPath] = &p
	}
}
