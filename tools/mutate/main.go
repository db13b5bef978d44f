// Command mutate changes random lines of the product, one at a time, and runs the tests that should notice. A mutant that
// all of them pass survives: its line is equivalent to the original, or a test is missing.
//
// The tests of a mutant are those of its package and, without -own, of the packages in the folders above it and of its
// importers within the given roots. The tree itself is never changed: the compiler reads the mutant through an overlay.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"log"
	"math/rand/v2"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"
)

var (
	dir     = flag.String("dir", ".", "folder of the module")
	count   = flag.Int("n", 100, "number of mutants that compile")
	seed    = flag.Uint64("seed", uint64(time.Now().UnixNano()), "seed of the random choice")
	roots   = flag.String("roots", "core,chains,api", "folders to mutate, separated by commas")
	only    = flag.String("only", "", "mutate only this place: file:line")
	own     = flag.Bool("own", false, "run the tests of the mutant's package only")
	short   = flag.Bool("short", true, "run the quick tests only")
	timeout = flag.Duration("timeout", 3*time.Minute, "limit of the tests of one package; a longer run counts as killed")
)

// A mutant replaces the bytes from start to end of a file.
type mutant struct {
	file       string // relative to the module
	line       int
	start, end int
	old, new   string
}

// operators maps a binary operator to the one that replaces it.
var operators = map[token.Token]string{
	token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">", token.EQL: "!=", token.NEQ: "==",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+",
}

// sites returns every mutant of a file.
func sites(name string) []mutant {
	source, err := os.ReadFile(filepath.Join(*dir, name))
	if err != nil {
		log.Fatal(err)
	}
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, name, source, parser.ParseComments)
	if err != nil {
		log.Fatal(err)
	}
	if ast.IsGenerated(file) {
		return nil
	}
	var found []mutant
	add := func(from, to token.Pos, text string) {
		start, end := files.Position(from), files.Position(to)
		old := string(source[start.Offset:end.Offset])
		found = append(found, mutant{name, start.Line, start.Offset, end.Offset, old, text})
	}
	ast.Inspect(file, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.GenDecl:
			return node.Tok != token.IMPORT
		case *ast.BinaryExpr:
			if text, ok := operators[node.Op]; ok {
				add(node.OpPos, node.OpPos+token.Pos(len(node.Op.String())), text)
			}
		case *ast.IfStmt:
			cond := string(source[files.Position(node.Cond.Pos()).Offset:files.Position(node.Cond.End()).Offset])
			add(node.Cond.Pos(), node.Cond.End(), "!("+cond+")")
		case *ast.BasicLit:
			if node.Kind == token.INT {
				add(node.Pos(), node.End(), "("+node.Value+"+1)")
			}
		case *ast.ExprStmt, *ast.IncDecStmt:
			add(node.Pos(), node.End(), "")
		case *ast.AssignStmt:
			if node.Tok != token.DEFINE {
				add(node.Pos(), node.End(), "")
			}
		case *ast.BranchStmt:
			if node.Label == nil && node.Tok == token.CONTINUE {
				add(node.Pos(), node.End(), "break")
			}
		}
		return true
	})
	return found
}

// all returns every mutant below the roots.
func all() []mutant {
	var found []mutant
	for root := range strings.SplitSeq(*roots, ",") {
		err := fs.WalkDir(os.DirFS(*dir), root, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
				return err
			}
			if folder := path.Base(path.Dir(name)); !strings.HasSuffix(folder, "test") {
				found = append(found, sites(name)...)
			}
			return nil
		})
		if err != nil {
			log.Fatal(err)
		}
	}
	return found
}

// imports maps a package to its direct importers below the roots, tests included.
func imports() map[string][]string {
	type listed struct {
		ImportPath                         string
		Imports, TestImports, XTestImports []string
	}
	importers := map[string][]string{}
	for root := range strings.SplitSeq(*roots, ",") {
		list := exec.Command("go", "list", "-json=ImportPath,Imports,TestImports,XTestImports", "./"+root+"/...")
		list.Dir, list.Stderr = *dir, os.Stderr
		out, err := list.Output()
		if err != nil {
			log.Fatalf("go list: %v", err)
		}
		for decoder := json.NewDecoder(bytes.NewReader(out)); decoder.More(); {
			var p listed
			if err := decoder.Decode(&p); err != nil {
				log.Fatalf("go list: %v", err)
			}
			for _, imported := range slices.Concat(p.Imports, p.TestImports, p.XTestImports) {
				if name, ok := strings.CutPrefix(imported, "birthmark/"); ok {
					importers[name] = append(importers[name], strings.TrimPrefix(p.ImportPath, "birthmark/"))
				}
			}
		}
	}
	return importers
}

// run runs go with arguments and the mutant in place of its file. The error names the first test that failed, or
// contains the end of the output.
func (m mutant) run(limit time.Duration, args ...string) error {
	temp, err := os.MkdirTemp("", "mutate")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(temp)
	original, err := filepath.Abs(filepath.Join(*dir, m.file))
	if err != nil {
		log.Fatal(err)
	}
	source, err := os.ReadFile(original)
	if err != nil {
		log.Fatal(err)
	}
	changed := filepath.Join(temp, "mutant.go")
	overlay, _ := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	text := slices.Concat(source[:m.start], []byte(m.new), source[m.end:])
	for name, content := range map[string][]byte{changed: text, filepath.Join(temp, "overlay.json"): overlay} {
		if err := os.WriteFile(name, content, 0o600); err != nil {
			log.Fatal(err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	args = slices.Insert(args, 1, "-overlay="+filepath.Join(temp, "overlay.json"))
	command := exec.CommandContext(ctx, "go", args...)
	command.Dir = *dir
	if out, err := command.CombinedOutput(); err != nil {
		if failed := failure.FindSubmatch(out); failed != nil {
			return errors.New(string(failed[1]))
		}
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out[max(0, len(out)-400):]))
	}
	return nil
}

// failure finds the name of the first test that failed.
var failure = regexp.MustCompile(`--- FAIL: (\S+)`)

// test returns the package and the test that kill the mutant, or "" if it survives. Without importers only the tests of
// its own package run.
func (m mutant) test(importers map[string][]string) string {
	own := path.Dir(m.file)
	packages := []string{own}
	if importers != nil {
		for parent := path.Dir(own); parent != "."; parent = path.Dir(parent) {
			packages = append(packages, parent)
		}
		packages = append(packages, importers[own]...)
	}
	for i, p := range packages {
		if slices.Contains(packages[:i], p) {
			continue
		}
		if found, _ := filepath.Glob(filepath.Join(*dir, p, "*_test.go")); len(found) == 0 {
			continue
		}
		err := m.run(*timeout+time.Minute, "test", "-vet=off", fmt.Sprint("-short=", *short), "-failfast", "-count=1",
			"-timeout="+timeout.String(), "-ldflags=-s -w", "./"+p)
		if err != nil {
			return fmt.Sprintf("%s: %v", p, err)
		}
	}
	return ""
}

func main() {
	log.SetFlags(0)
	log.SetPrefix("mutate: ")
	flag.Parse()
	places := all()
	if *only != "" {
		places = slices.DeleteFunc(places, func(m mutant) bool { return fmt.Sprintf("%s:%d", m.file, m.line) != *only })
		*count = len(places)
	}
	fmt.Printf("%d places, seed %d\n", len(places), *seed)
	rand.New(rand.NewPCG(*seed, 0)).Shuffle(len(places), func(i, j int) { places[i], places[j] = places[j], places[i] })
	var importers map[string][]string
	if !*own {
		importers = imports()
	}
	var tested, survived int
	for _, m := range places {
		if tested == *count {
			break
		}
		if m.run(*timeout, "build", "-o="+os.DevNull, "./"+path.Dir(m.file)) != nil {
			continue
		}
		tested++
		result := "killed by " + m.test(importers)
		if result == "killed by " {
			survived++
			result = "SURVIVED"
		}
		fmt.Printf("%d %s:%d %q -> %q: %s\n", tested, m.file, m.line, m.old, m.new, result)
	}
	fmt.Printf("%d mutants, %d survived\n", tested, survived)
}
