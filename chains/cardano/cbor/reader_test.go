package cbor_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
)

// walkers are the files outside of this package that walk over maps or sets themselves, with the reason.
var walkers = map[string]string{
	"ledger/tx.go":     "the decoder of blocks: without memory, with the same rule",
	"ledger/output.go": "the same; outputs refuse keys twice",
	"ledger/rawtx.go":  "finds one part of a body, whose keys the decoder refuses twice",
	"ledger/raw.go":    "auxiliary data by position, of which the last one is kept",
	"ledger/block.go":  "the head alone, and a set of flags",

	"ledger/witnesses.go": "redeemers, of which the last one counts",

	"metadata_json.go": "metadata are lists of pairs",
	"plutus_json.go":   "the same, of Plutus data",
	"plutusdata.go":    "the same",
	"kupo/metadata.go": "the same",
	"address/byron.go": "attributes of an address, which are canonical",

	"contents/metadata.go": "Plutus data and the metadata of assets, whose equal keys Blockfrost reads in its own ways",

	"node/dreps.go": "answers of the node, not parts of transactions", "node/stakes.go": "the same", "node/state.go": "the same",
}

// isName reports whether an argument is the name of an item, which the methods of Walker have.
func isName(arg ast.Expr) bool {
	switch arg := arg.(type) {
	case *ast.BasicLit:
		return arg.Kind == token.STRING
	case *ast.Ident:
		return arg.Name == "what"
	}
	return false
}

// The maps and sets of the ledger have one reader, by which an equal key counts once: no other code walks over them.
func TestMapsAndSetsHaveOneReader(t *testing.T) {
	compat := filepath.Join("..", "..", "..", "api", "compat")
	used := map[string]bool{}
	for _, dir := range []string{"..", filepath.Join(compat, "blockfrost"), filepath.Join(compat, "kupo"), filepath.Join(compat, "ogmios"), filepath.Join(compat, "utxo")} {
		err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || filepath.Ext(path) != ".go" || strings.HasSuffix(path, "_test.go") || filepath.Base(filepath.Dir(path)) == "cbor" {
				return err
			}
			files := token.NewFileSet()
			file, err := parser.ParseFile(files, path, nil, 0)
			if err != nil {
				return err
			}
			slashed, excused := filepath.ToSlash(path), ""
			for name := range walkers {
				if strings.HasSuffix(slashed, "/"+name) {
					excused, used[name] = name, true
				}
			}
			found := false
			ast.Inspect(file, func(n ast.Node) bool {
				call, ok := n.(*ast.CallExpr)
				if !ok || len(call.Args) != 1 {
					return true
				}
				if f, ok := call.Fun.(*ast.SelectorExpr); ok && (f.Sel.Name == "Map" || f.Sel.Name == "Set") && isName(call.Args[0]) {
					found = true
					if excused == "" {
						t.Errorf("%s walks over a map or a set: use Entries, Elements or Sequence", files.Position(call.Pos()))
					}
				}
				return true
			})
			if excused != "" && !found {
				t.Errorf("%s walks over no map: remove it from the list", path)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for name := range walkers {
		if !used[name] {
			t.Errorf("no file %s: remove it from the list", name)
		}
	}
}
