package cardano

import (
	"encoding/hex"
	"math/big"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/blinklabs-io/plutigo/builtin"
	"github.com/blinklabs-io/plutigo/data"
	"github.com/blinklabs-io/plutigo/syn"

	"birthmark/chains/cardano/cbor"
	"birthmark/internal/testrun"
	"birthmark/internal/testseed"
	"birthmark/model"
)

var plutusTokens = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|[][(),]|[^][(),\s]+`)

// withoutLet replaces let by functions that are applied.
func withoutLet(text string) string {
	tokens := plutusTokens.FindAllString(text, -1)
	var term func() string
	term = func() string {
		first := tokens[0]
		tokens = tokens[1:]
		switch first {
		case "let":
			var names, values []string
			for {
				names, tokens = append(names, tokens[0]), tokens[2:] // the name and =
				if values = append(values, term()); tokens[0] != "and" {
					break
				}
				tokens = tokens[1:]
			}
			function := term()
			for _, name := range slices.Backward(names) {
				function = "(lam " + name + " " + function + ")"
			}
			return "[" + function + " " + strings.Join(values, " ") + "]"
		case "(", "[":
			for tokens[0] != ")" && tokens[0] != "]" {
				first += " " + term()
			}
			first += tokens[0]
			tokens = tokens[1:]
		}
		return first
	}
	return term()
}

// parsedPlutus returns the program of a text in the flat format, by the parser of plutigo.
func parsedPlutus(t *testing.T, text string) string {
	t.Helper()
	named, err := syn.Parse(withoutLet(text))
	if err != nil {
		t.Fatalf("%v in\n%.2000s", err, text)
	}
	p, err := syn.NameToDeBruijn(named)
	if err != nil {
		t.Fatalf("%v in\n%.2000s", err, text)
	}
	flat, err := syn.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	return string(flat)
}

// checkPlutusText checks that the text of a program has the same meaning, and the limits of its size.
func checkPlutusText(t *testing.T, flat []byte) {
	t.Helper()
	p, err := syn.DecodeDeBruijn(flat)
	if err != nil {
		t.Fatal(err)
	}
	canonical, err := syn.Encode(p)
	if err != nil {
		t.Fatal(err)
	}
	text, whole := printPlutus(flat, 1<<24)
	if !whole || parsedPlutus(t, text) != string(canonical) {
		t.Fatalf("the text of %x, whole %t, is another program:\n%.2000s", flat[:min(len(flat), 100)], whole, text)
	}
	for line := range strings.SplitSeq(text, "\n") {
		if indent := len(line) - len(strings.TrimLeft(line, " ")); indent > plutusIndent {
			t.Fatalf("a line of %d spaces and %q", indent, line)
		}
	}
	for _, most := range []int{0, 1, 20, 200, 5000, len(text) - 1, len(text), len(text) + 1} {
		part, all := printPlutus(flat, most)
		if len(part) > most || !strings.HasPrefix(text, part) || all != (most >= len(text)) {
			t.Fatalf("at most %d of %d bytes: %d, whole %t, a prefix %t", most, len(text), len(part), all, strings.HasPrefix(text, part))
		}
	}
}

// The scripts are those of plutigo's benchmarks, which are contracts of mainnet compiled from Haskell.
func TestPlutusScriptsAreText(t *testing.T) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/blinklabs-io/plutigo").Output()
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(strings.TrimSpace(string(dir)), "tests/bench/*.flat"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	if testing.Short() {
		files = files[:20]
	}
	for _, file := range files {
		flat, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if len(flat) <= mostPlutus {
			checkPlutusText(t, flat)
		}
	}
}

// The scripts of real transactions are in one or two byte strings.
func TestPlutusScriptsOfRealBlocksAreText(t *testing.T) {
	testrun.Slow(t)
	scripts := map[string]bool{}
	add := func(d *model.ScriptDetails) {
		if code, err := hex.DecodeString(d.Raw); err == nil && strings.HasPrefix(d.Language, "plutus") {
			scripts[string(code)] = true
		}
	}
	realBlocks(t, func(name, network string, raw []byte) {
		c, err := New(network)
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range whole(t, network, raw).Txs {
			d, err := c.(model.TxDescriber).DescribeTx(tx.Raw, nil, nil)
			if err != nil {
				t.Fatalf("%s: %s: %v", name, tx.Hash, err)
			}
			for i := range d.Scripts {
				add(&d.Scripts[i])
			}
			for i := range d.Outputs {
				if ref := d.Outputs[i].ScriptRef; ref != nil {
					add(ref)
				}
			}
		}
	})
	if len(scripts) == 0 {
		t.Skip("no real blocks")
	}
	t.Logf("%d scripts", len(scripts))
	for s := range scripts {
		flat := []byte(s)
		for {
			w := cbor.Walker{Data: flat}
			inner := w.Bytes("script")
			if w.Err != nil || w.Offset < len(flat) {
				break
			}
			flat = inner
		}
		checkPlutusText(t, flat)
		text, _ := printPlutus([]byte(s), 1<<24)
		if inner, _ := printPlutus(flat, 1<<24); text != inner || text == "" {
			t.Fatalf("the text of %x in byte strings differs", s)
		}
	}
}

func TestRandomPlutusScriptsAreText(t *testing.T) {
	g := plutusGenerator{rand.New(rand.NewPCG(testseed.New(t), 0))}
	for range 300 {
		p := &syn.Program[syn.DeBruijn]{Version: [3]uint32{1, 1, 0}, Term: g.term(g.IntN(14), 0)}
		if flat, err := syn.Encode(p); err != nil {
			t.Fatal(err)
		} else if len(flat) <= mostPlutus {
			checkPlutusText(t, flat)
		}
	}
}

// plutusGenerator makes random terms.
type plutusGenerator struct{ *rand.Rand }

func (g plutusGenerator) term(depth, vars int) syn.Term[syn.DeBruijn] {
	if depth == 0 || g.IntN(12) == 0 {
		switch kind := g.IntN(5); {
		case kind == 0:
			return &syn.Error{}
		case kind == 1:
			return &syn.Builtin{DefaultFunction: builtin.DefaultFunction(g.IntN(50))}
		case kind < 4 && vars > 0:
			return &syn.Var[syn.DeBruijn]{Name: syn.DeBruijn(1 + g.IntN(vars))}
		}
		typ := g.typ(3)
		return &syn.Constant{Con: g.constant(typ)}
	}
	switch g.IntN(7) {
	case 0:
		return &syn.Delay[syn.DeBruijn]{Term: g.term(depth-1, vars)}
	case 1:
		return &syn.Force[syn.DeBruijn]{Term: g.term(depth-1, vars)}
	case 2:
		return &syn.Constr[syn.DeBruijn]{Tag: uint(g.IntN(300)), Fields: g.terms(depth-1, vars)}
	case 3:
		return &syn.Case[syn.DeBruijn]{Constr: g.term(depth-1, vars), Branches: g.terms(depth-1, vars)}
	case 4:
		return &syn.Lambda[syn.DeBruijn]{Body: g.term(depth-1, vars+1)}
	}
	return &syn.Apply[syn.DeBruijn]{Function: g.term(depth-1, vars), Argument: g.term(depth-1, vars)}
}

func (g plutusGenerator) terms(depth, vars int) []syn.Term[syn.DeBruijn] {
	list := make([]syn.Term[syn.DeBruijn], g.IntN(3))
	for i := range list {
		list[i] = g.term(depth, vars)
	}
	return list
}

func (g plutusGenerator) typ(depth int) syn.Typ {
	switch kind := g.IntN(8); {
	case kind == 0:
		return &syn.TBool{}
	case kind == 1:
		return &syn.TInteger{}
	case kind == 2:
		return &syn.TByteString{}
	case kind == 3:
		return &syn.TString{}
	case kind == 4:
		return &syn.TUnit{}
	case kind == 5 || depth == 0:
		return &syn.TData{}
	case kind == 6:
		return &syn.TList{Typ: g.typ(depth - 1)}
	}
	return &syn.TPair{First: g.typ(depth - 1), Second: g.typ(depth - 1)}
}

func (g plutusGenerator) constant(typ syn.Typ) syn.IConstant {
	switch typ := typ.(type) {
	case *syn.TBool:
		return &syn.Bool{Inner: g.IntN(2) == 0}
	case *syn.TInteger:
		return &syn.Integer{Inner: g.integer()}
	case *syn.TByteString:
		return &syn.ByteString{Inner: g.bytes()}
	case *syn.TString:
		text := make([]rune, g.IntN(6))
		for i := range text {
			text[i] = []rune("a \"\\\n\u007f\u200b\u202eé€\U0001f600")[g.IntN(11)]
		}
		return &syn.String{Inner: string(text)}
	case *syn.TUnit:
		return &syn.Unit{}
	case *syn.TList:
		list := make([]syn.IConstant, g.IntN(30))
		for i := range list {
			list[i] = g.constant(typ.Typ)
		}
		return &syn.ProtoList{LTyp: typ.Typ, List: list}
	case *syn.TPair:
		return &syn.ProtoPair{FstType: typ.First, SndType: typ.Second, First: g.constant(typ.First), Second: g.constant(typ.Second)}
	}
	return &syn.Data{Inner: g.data(4)}
}

func (g plutusGenerator) integer() *big.Int {
	n := new(big.Int).SetUint64(g.Uint64() >> g.IntN(64))
	if g.IntN(4) == 0 {
		n.Lsh(n, 70)
	}
	if g.IntN(2) == 0 {
		n.Neg(n)
	}
	return n
}

func (g plutusGenerator) bytes() []byte {
	b := make([]byte, g.IntN(70))
	for i := range b {
		b[i] = byte(g.IntN(256))
	}
	return b
}

func (g plutusGenerator) data(depth int) data.PlutusData {
	switch kind := g.IntN(5); {
	case kind == 0 || depth == 0:
		return data.NewInteger(g.integer())
	case kind == 1:
		return data.NewByteString(g.bytes())
	case kind == 2:
		pairs := make([][2]data.PlutusData, g.IntN(4))
		for i := range pairs {
			pairs[i] = [2]data.PlutusData{g.data(depth - 1), g.data(depth - 1)}
		}
		return data.NewMap(pairs)
	}
	items := make([]data.PlutusData, g.IntN(4))
	for i := range items {
		items[i] = g.data(depth - 1)
	}
	if g.IntN(2) == 0 {
		return data.NewList(items...)
	}
	return data.NewConstr(uint(g.IntN(200)), items...)
}

// Terms that are nested as deep as a script permits: the text ends at its limit.
func TestDeepPlutusScriptsEnd(t *testing.T) {
	for _, size := range []int{4 << 10, 2*mostPlutus - 100} {
		for name, make := range map[string]func(syn.Term[syn.DeBruijn]) syn.Term[syn.DeBruijn]{
			"delay":  func(t syn.Term[syn.DeBruijn]) syn.Term[syn.DeBruijn] { return &syn.Delay[syn.DeBruijn]{Term: t} },
			"lambda": func(t syn.Term[syn.DeBruijn]) syn.Term[syn.DeBruijn] { return &syn.Lambda[syn.DeBruijn]{Body: t} },
			"function": func(t syn.Term[syn.DeBruijn]) syn.Term[syn.DeBruijn] {
				return &syn.Apply[syn.DeBruijn]{Function: t, Argument: &syn.Error{}}
			},
			"argument": func(t syn.Term[syn.DeBruijn]) syn.Term[syn.DeBruijn] {
				return &syn.Apply[syn.DeBruijn]{Function: &syn.Error{}, Argument: t}
			},
			"case": func(t syn.Term[syn.DeBruijn]) syn.Term[syn.DeBruijn] { return &syn.Case[syn.DeBruijn]{Constr: t} },
		} {
			term := syn.Term[syn.DeBruijn](&syn.Error{})
			for range size {
				term = make(term)
			}
			flat, err := syn.Encode(&syn.Program[syn.DeBruijn]{Version: [3]uint32{1, 1, 0}, Term: term})
			if err != nil {
				t.Fatal(err)
			}
			flat = flat[:min(len(flat), mostPlutus)]
			text, whole := printPlutus(flat, 16<<10)
			if _, err := syn.DecodeDeBruijn(flat); (err == nil) != (text != "") || whole || len(text) > 16<<10 {
				t.Errorf("%s, %d bytes: %d bytes of text, whole %t, %v", name, len(flat), len(text), whole, err)
			}
		}
	}
	if text, _ := printPlutus(make([]byte, mostPlutus+1), 100); text != "" {
		t.Errorf("of a script that is too large: %q", text)
	}
}

func TestOddPlutusScripts(t *testing.T) {
	unbound, err := syn.Encode(&syn.Program[syn.DeBruijn]{Version: [3]uint32{1, 0, 0}, Term: &syn.Lambda[syn.DeBruijn]{
		Body: &syn.Var[syn.DeBruijn]{Name: 3}}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []struct{ code, want string }{
		{string(unbound), "(program 1.0.0\n (lam v0 unbound3))"},
		{"", ""}, {"\x01", ""}, {"\x40", ""}, {"\x41\x40", ""}, {string(unbound) + "\x00", ""}, {"\x45hello", ""},
	} {
		text, whole := printPlutus([]byte(s.code), 1000)
		if text != s.want || whole != (s.want != "") {
			t.Errorf("%x: %q, %t", s.code, text, whole)
		}
	}
}
