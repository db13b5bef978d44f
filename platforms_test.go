package birthmark_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// listedPackage has the fields of go list.
type listedPackage struct {
	Dir, ImportPath   string
	GoFiles, CgoFiles []string
	ImportMap         map[string]string
	Standard          bool
	Module            *struct{ Main bool }
	Error             *struct{ Err string }
}

// All packages, storage/rocks included, have correct types on macOS. Names of C and tests are not checked. It needs no
// compiler and no headers of that system.
func TestPackagesHaveCorrectTypesOnMacOS(t *testing.T) {
	if testing.Short() {
		t.Skip("type-checks everything that is imported, which takes 5 s of CPU time")
	}
	list := exec.Command("go", "list", "-deps", "-json=Dir,ImportPath,GoFiles,CgoFiles,ImportMap,Standard,Module,Error", "./...")
	list.Env = append(os.Environ(), "GOOS=darwin", "GOARCH=arm64", "CGO_ENABLED=1")
	list.Stderr = os.Stderr
	out, err := list.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := list.Start(); err != nil {
		t.Fatal(err)
	}
	n, err := typeCheck(json.NewDecoder(out), "arm64")
	if err != nil {
		t.Error(err)
	}
	_, _ = io.Copy(io.Discard, out)
	if err := list.Wait(); err != nil || n < 100 {
		t.Errorf("%d packages, %v", n, err)
	}
}

// typeCheck type-checks the packages that go list prints, which come after those they import, and returns the number of
// packages of this module.
func typeCheck(listed *json.Decoder, arch string) (int, error) {
	n := 0
	var faults []error
	fset, done := token.NewFileSet(), map[string]*types.Package{"unsafe": types.Unsafe}
	for {
		var p listedPackage
		if err := listed.Decode(&p); err == io.EOF {
			return n, errors.Join(faults...)
		} else if err != nil {
			return n, err
		}
		if p.Error != nil {
			return n, errors.New(p.Error.Err)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		ours := p.Module != nil && p.Module.Main
		var files []*ast.File
		for _, name := range append(p.GoFiles, p.CgoFiles...) {
			if !filepath.IsAbs(name) {
				name = filepath.Join(p.Dir, name)
			}
			file, err := parser.ParseFile(fset, name, nil, parser.SkipObjectResolution)
			if err != nil {
				return n, err
			}
			files = append(files, file)
		}
		config := types.Config{
			FakeImportC: true, IgnoreFuncBodies: !ours, Sizes: types.SizesFor("gc", arch),
			Importer: importer(func(path string) (*types.Package, error) {
				if mapped, ok := p.ImportMap[path]; ok {
					path = mapped
				}
				if found, ok := done[path]; ok {
					return found, nil
				}
				return nil, fmt.Errorf("%s is not listed", path)
			}),
			Error: func(err error) {
				if ours && !strings.Contains(err.Error(), "invalid type") { // the type of a constant of C
					faults = append(faults, err)
				}
			},
		}
		done[p.ImportPath], _ = config.Check(p.ImportPath, fset, files, nil)
		if ours {
			n++
		}
	}
}

// importer is a types.Importer.
type importer func(path string) (*types.Package, error)

func (i importer) Import(path string) (*types.Package, error) { return i(path) }
