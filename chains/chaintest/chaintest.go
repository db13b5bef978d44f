package chaintest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// Fixture is a chain and its test data.
type Fixture struct {
	New      func(network string) (model.Chain, error)
	Networks []string // names, the default first

	// Inputs are inputs of Decode with real blocks. Together they have a value of every built-in index.
	Inputs []Input

	// Examples has blocks with the examples of the fields, except for fields with the prefixes in NoExample.
	Examples  []Input
	NoExample []string

	// Branches writes two sources and returns their URIs: a chain, and a longer one that forks from it depth blocks
	// before its tip. It is nil if the chain's files have no forks.
	Branches func(t testing.TB, depth int) (network, ours, theirs string)
}

// Input is blocks in a format of Decode.
type Input struct {
	Name, Network string
	Data          []byte
}

// Run runs the suite.
func Run(t *testing.T, f Fixture) {
	t.Run("networks", f.networks)
	t.Run("hashes", f.hashes)
	t.Run("values", f.values)
	t.Run("expressions", f.expressions)
	t.Run("fields", f.fields)
	t.Run("selection", f.selection)
	t.Run("headers", f.headers)
	if testing.Short() {
		return // the rest takes seconds
	}
	t.Run("memory", f.memory)
	t.Run("hostile", f.hostile)
	t.Run("stop", f.stop)
	if f.Branches != nil {
		t.Run("rollbacks", f.rollbacks)
	}
}

// chain returns the chain on a network with custom indexes.
func (f *Fixture) chain(t testing.TB, network string, ds ...model.Definition) model.Chain {
	t.Helper()
	c, err := f.New(network)
	if err != nil {
		t.Fatal(err)
	}
	if c, err = c.Define(ds); err != nil {
		t.Fatal(err)
	}
	return c
}

func names(c model.Chain) (all []string) {
	for _, x := range c.Indexes() {
		all = append(all, x.Name)
	}
	return all
}

func decode(t testing.TB, c model.Chain, in Input, indexes []string) (blocks []*model.Block) {
	t.Helper()
	for b, err := range c.Decode(t.Context(), bytes.NewReader(in.Data), indexes, 0) {
		if err != nil {
			t.Fatalf("%s: %v", in.Name, err)
		}
		blocks = append(blocks, b)
	}
	if len(blocks) == 0 {
		t.Fatalf("%s: no block", in.Name)
	}
	return blocks
}

// outputs calls each with every output of a block, the genesis included.
func outputs(b *model.Block, each func(tx *model.Tx, index int, o *model.Output)) {
	for _, txs := range [][]model.Tx{b.Genesis, b.Txs} {
		for i := range txs {
			for j := range txs[i].Outputs {
				each(&txs[i], j, &txs[i].Outputs[j])
			}
		}
	}
}

func refused(t *testing.T, what string, err error, kind model.ErrorKind, codes ...string) {
	t.Helper()
	got, code := model.KindOf(err)
	if err == nil || got != kind || !slices.Contains(codes, code) || strings.Contains(err.Error(), "\n") {
		t.Errorf("%.100s: kind %v, code %s: %v; expected kind %v and one of %v", what, got, code, err, kind, codes)
	}
}

// networks checks that each network opens under its name and that the first is the default.
func (f *Fixture) networks(t *testing.T) {
	for _, network := range append([]string{""}, f.Networks...) {
		c := f.chain(t, network)
		if want := max(network, f.Networks[0]); network != "" && c.Network() != network || network == "" && c.Network() != f.Networks[0] {
			t.Errorf("network %q opens %s, expected %s", network, c.Network(), want)
		}
		defaults := 0
		for _, x := range c.Indexes() {
			if x.Default {
				defaults++
			}
			if x.Doc == "" || !x.Kind.Valid() || x.Value == "" || x.Custom {
				t.Errorf("index %s: doc %q, kind %v, value %q, custom %v", x.Name, x.Doc, x.Kind, x.Value, x.Custom)
			}
		}
		if defaults == 0 {
			t.Error("no index is a default")
		}
	}
	_, err := f.New("nowhere")
	refused(t, "an unknown network", err, model.Usage, "unknown_network")
	if err != nil && !strings.Contains(err.Error(), f.Networks[len(f.Networks)-1]) {
		t.Errorf("%v does not list the networks", err)
	}
}

// hashes checks that ParseHash reads what FormatHash writes, and rejects other texts.
func (f *Fixture) hashes(t *testing.T) {
	c := f.chain(t, "")
	for seed := range byte(50) {
		h := model.Hash{seed, 1, 2, 31: ^seed}
		text := c.FormatHash(h)
		for _, written := range []string{text, strings.ToUpper(text)} {
			if got, err := c.ParseHash(written); err != nil || got != h {
				t.Errorf("%s is read as %x, %v", written, got, err)
			}
		}
		for _, bad := range []string{"", text[1:], text + "0", text + "00", text[:63] + "g", "0x" + text[2:], strings.Repeat("é", 32)} {
			_, err := c.ParseHash(bad)
			refused(t, bad, err, model.Usage, "bad_hash")
		}
	}
	for _, bad := range []string{"", "nonsense", "\x00", strings.Repeat("a", 1000)} {
		if id, err := c.ParseAsset(bad); err == nil {
			t.Errorf("%q is read as the asset %x", bad, id)
		}
	}
}

// values checks that Parse reads what Format writes, for values and assets of real blocks, and rejects other texts.
func (f *Fixture) values(t *testing.T) {
	found := map[string]int{}
	for _, in := range f.Inputs {
		c := f.chain(t, in.Network)
		all := c.Indexes()
		for _, b := range decode(t, c, in, names(c)) {
			outputs(b, func(tx *model.Tx, i int, o *model.Output) {
				for n, k := range o.Keys {
					x := &all[k.Index]
					text := x.Format(k.Value)
					if again, err := x.Parse(text); err != nil || !bytes.Equal(again, k.Value) {
						t.Fatalf("%s: %s %x is written %s, which is read as %x, %v", in.Name, x.Name, k.Value, text, again, err)
					}
					if len(k.Value) == 0 || len(k.Value) > model.MaxValueSize || !x.Kind.HasOrdinal() && n > 0 && o.Keys[n-1].Index == k.Index {
						t.Fatalf("%s: output %s:%d has the keys %v", in.Name, c.FormatHash(tx.Hash), i, o.Keys)
					}
					found[x.Name]++
				}
				for _, a := range o.Assets {
					text := c.FormatAsset(a.ID)
					if again, err := c.ParseAsset(text); err != nil || !bytes.Equal(again, a.ID) {
						t.Fatalf("%s: asset %x is written %s, which is read as %x, %v", in.Name, a.ID, text, again, err)
					}
				}
			})
		}
	}
	for _, x := range f.chain(t, "").Indexes() {
		if found[x.Name] == 0 {
			t.Errorf("no output has a value of %s", x.Name)
		}
		for _, bad := range []string{"", "nonsense\x00", strings.Repeat("z", 100_000)} {
			_, err := x.Parse(bad)
			refused(t, x.Name+" "+bad, err, model.Usage, "bad_value", "bad_address")
		}
	}
}

// expressions checks that a custom index with the expression of a built-in index has the same values.
func (f *Fixture) expressions(t *testing.T) {
	for _, in := range slices.Concat(f.Inputs, f.Examples) {
		var ds []model.Definition
		for _, x := range f.chain(t, in.Network).Indexes() {
			ds = append(ds, model.Definition{Name: "own_" + x.Name, Kind: x.Kind, When: x.When, Value: x.Value})
		}
		c := f.chain(t, in.Network, ds...)
		all := c.Indexes()
		for _, b := range decode(t, c, in, names(c)) {
			outputs(b, func(tx *model.Tx, i int, o *model.Output) {
				var builtin, custom []string
				for _, k := range o.Keys {
					x := &all[k.Index]
					if text := x.Format(k.Value); x.Custom {
						custom = append(custom, strings.TrimPrefix(x.Name, "own_")+" "+text)
					} else {
						builtin = append(builtin, x.Name+" "+text)
					}
				}
				slices.Sort(builtin)
				slices.Sort(custom)
				if !slices.Equal(builtin, custom) {
					t.Fatalf("%s: output %s:%d has %q, by expressions %q", in.Name, c.FormatHash(tx.Hash), i, builtin, custom)
				}
			})
		}
	}
}

// fieldIndexes defines an index for each field and returns the fields by the names of the indexes.
func (f *Fixture) fieldIndexes(t *testing.T) (ds []model.Definition, examples map[string]string) {
	t.Helper()
	examples = map[string]string{}
	for _, field := range f.chain(t, "").(interface{ Fields() []indexexpr.Field }).Fields() {
		if field.Type == "list of entries" {
			continue // their fields have examples
		}
		d, example := model.Definition{Name: fmt.Sprintf("field_%d", len(ds)), Value: field.Name}, field.Example
		list, entry, nested := strings.Cut(field.Name, "[].")
		isList := strings.HasPrefix(field.Type, "list of")
		switch {
		case nested && isList:
			d.Kind, d.Value = model.ManyValued, "flatten(map("+list+", ."+entry+"))"
		case nested:
			d.Kind, d.Value = model.ManyValued, "map("+list+", ."+entry+")"
		case isList:
			d.Kind = model.ManyValued
		case strings.HasPrefix(field.Type, "map"):
			var key string
			key, example, _ = strings.Cut(field.Example, ": ")
			if _, err := strconv.Atoi(key); err != nil {
				key = strconv.Quote(key)
			}
			d.Value = fmt.Sprintf("get(%s, %s)", field.Name, key)
		}
		ds = append(ds, d)
		if example != "" && !slices.ContainsFunc(f.NoExample, func(prefix string) bool { return strings.HasPrefix(field.Name, prefix) }) {
			examples[d.Name] = example
		}
	}
	return ds, examples
}

// fields checks that every field evaluates and that its example is a value in a real block.
func (f *Fixture) fields(t *testing.T) {
	ds, examples := f.fieldIndexes(t)
	for i, in := range f.Examples {
		c := f.chain(t, in.Network, slices.DeleteFunc(slices.Clone(ds), func(d model.Definition) bool {
			_, missing := examples[d.Name]
			return i > 0 && !missing
		})...)
		all := c.Indexes()
		for _, b := range decode(t, c, in, names(c)) {
			outputs(b, func(_ *model.Tx, _ int, o *model.Output) {
				for _, k := range o.Keys {
					x := &all[k.Index]
					want, wanted := examples[x.Name]
					if !wanted {
						continue
					}
					start, cut := strings.CutSuffix(want, "…")
					if text := x.Format(k.Value); text == want || cut && strings.HasPrefix(text, start) {
						delete(examples, x.Name)
					}
				}
			})
		}
	}
	for _, d := range ds {
		if want, missing := examples[d.Name]; missing {
			t.Errorf("%s never has its example %q", d.Value, want)
		}
	}
}

// selection checks that keys are in the order of the selected names, and that the selection does not change values.
func (f *Fixture) selection(t *testing.T) {
	in := f.Inputs[0]
	c := f.chain(t, in.Network, model.Definition{Name: "first", Value: "output.value"}, model.Definition{Name: "second", Value: "output.value + 1"})
	all := names(c)
	want := shown(decode(t, c, in, all), all)
	r := rand.New(rand.NewPCG(1, 2))
	for range 10 {
		r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		selected := all[:r.IntN(len(all)+1)]
		blocks := decode(t, c, in, selected)
		for _, b := range blocks {
			outputs(b, func(_ *model.Tx, _ int, o *model.Output) {
				if !slices.IsSortedFunc(o.Keys, func(a, b model.Key) int { return a.Index - b.Index }) {
					t.Fatalf("selected %v: keys %v", selected, o.Keys)
				}
			})
		}
		got := shown(blocks, selected)
		for i := range want {
			kept := slices.DeleteFunc(slices.Clone(want[i]), func(v string) bool {
				name, _, _ := strings.Cut(v, " ")
				return !slices.Contains(selected, name)
			})
			if !slices.Equal(got[i], kept) {
				t.Fatalf("selected %v: output %d has %q, expected %q", selected, i, got[i], kept)
			}
		}
	}
	for _, bad := range [][]string{{"adress"}, {all[0], all[0]}} {
		for _, err := range c.Decode(t.Context(), bytes.NewReader(in.Data), bad, 0) {
			refused(t, fmt.Sprint(bad), err, model.Usage, "unknown_index")
		}
	}
}

// shown lists the values of all outputs, sorted per output.
func shown(blocks []*model.Block, selected []string) (values [][]string) {
	for _, b := range blocks {
		outputs(b, func(_ *model.Tx, _ int, o *model.Output) {
			var vs []string
			for _, k := range o.Keys {
				vs = append(vs, fmt.Sprintf("%s %x", selected[k.Index], k.Value))
			}
			slices.Sort(vs)
			values = append(values, vs)
		})
	}
	return values
}

// headers checks that a header has JSON and hashes to its block, and that a truncated one does not.
func (f *Fixture) headers(t *testing.T) {
	for _, in := range f.Inputs {
		c := f.chain(t, in.Network)
		for i, b := range decode(t, c, in, nil) {
			header, err := c.Header(b.Header)
			if err != nil {
				t.Fatalf("%s: block %d: %v", in.Name, b.Height, err)
			}
			if text, err := json.Marshal(header); err != nil || len(text) < 10 {
				t.Fatalf("%s: block %d: header %s, %v", in.Name, b.Height, text, err)
			}
			hasher, ok := c.(model.HeaderHasher)
			if ok {
				if h, err := hasher.HashHeader(b.Header); err != nil || h != b.Hash {
					t.Fatalf("%s: block %d hashes to %s, %v", in.Name, b.Height, c.FormatHash(h), err)
				}
			}
			for n := 0; i < 3 && n < len(b.Header); n++ {
				if _, err := c.Header(b.Header[:n]); err == nil {
					t.Errorf("%s: a header of %d bytes instead of %d is valid", in.Name, n, len(b.Header))
				}
				if ok {
					if h, err := hasher.HashHeader(b.Header[:n]); err == nil && h == b.Hash {
						t.Errorf("%s: %d bytes of the header have its hash", in.Name, n)
					}
				}
			}
		}
	}
}

// memory checks that decoding other blocks does not change a block.
func (f *Fixture) memory(t *testing.T) {
	for _, in := range f.Inputs {
		c := f.chain(t, in.Network)
		input := bytes.Clone(in.Data)
		var blocks []*model.Block
		var before []string
		for b, err := range c.Decode(t.Context(), bytes.NewReader(input), names(c), 0) {
			if err != nil {
				t.Fatal(err)
			}
			if blocks, before = append(blocks, b), append(before, fmt.Sprint(*b)); len(blocks) == 20 {
				break
			}
		}
		clear(input)
		for i, b := range blocks {
			if fmt.Sprint(*b) != before[i] {
				t.Errorf("%s: block %d has changed", in.Name, b.Height)
			}
		}
	}
}

// hostile checks that a damaged input yields an error of the source, or blocks, but never panics.
func (f *Fixture) hostile(t *testing.T) {
	ds, _ := f.fieldIndexes(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, in := range f.Inputs {
		data := in.Data[:min(len(in.Data), 100_000)]
		c := f.chain(t, in.Network, ds...)
		all := names(c)
		for round := range max(300/len(f.Inputs), 5) {
			bad := bytes.Clone(data)
			for range 1 + r.IntN(4) {
				at := r.IntN(len(bad))
				switch end := min(at+r.IntN(50), len(bad)); r.IntN(4) {
				case 0:
					bad[at] ^= 1 << r.IntN(8)
				case 1:
					bad = slices.Delete(bad, at, end)
				case 2:
					bad = slices.Insert(bad, at, bytes.Clone(bad[at:end])...)
				default:
					bad = bad[:at+1]
				}
				if len(bad) == 0 {
					bad = []byte{0}
				}
			}
			for _, err := range c.Decode(t.Context(), bytes.NewReader(bad), all, 0) {
				if kind, code := model.KindOf(err); err != nil && (kind != model.BadSource || strings.Contains(err.Error(), "\n")) {
					t.Errorf("%s, round %d: kind %v, code %s: %v", in.Name, round, kind, code, err)
				}
			}
		}
	}
}

// stop checks that decoding ends with its context and with its consumer.
func (f *Fixture) stop(t *testing.T) {
	in := f.Inputs[0]
	c := f.chain(t, in.Network)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range c.Decode(ctx, bytes.NewReader(in.Data), nil, 0) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("%v after the context was cancelled", err)
		}
	}
	for range c.Decode(t.Context(), bytes.NewReader(in.Data), nil, 0) {
		break
	}
}

// rollbacks checks a source whose chain has forked from the known points at any depth: it yields one rollback to the
// fork and then its blocks, and returns each of them by height or parent. Raw transactions hash to their ids.
func (f *Fixture) rollbacks(t *testing.T) {
	for _, depth := range []int{0, 1, 2, 5, 9} {
		network, ours, theirs := f.Branches(t, depth)
		c := f.chain(t, network)
		old, _ := follow(t, c, ours, nil)
		want, _ := follow(t, c, theirs, nil)
		if depth >= len(old) {
			t.Fatalf("%d blocks, expected more than %d", len(old), depth)
		}
		known := make([]model.Point, len(old))
		for i, b := range old {
			known[len(old)-1-i] = b.Point()
		}
		got, rollbacks := follow(t, c, theirs, known)
		kept := len(old) - depth
		if depth == 0 && len(rollbacks) != 0 || depth > 0 && (len(rollbacks) != 1 || rollbacks[0] != known[depth]) {
			t.Errorf("%d blocks orphaned: rollbacks %v, expected one to %v", depth, rollbacks, known[depth])
		}
		if len(got) != len(want)-kept {
			t.Fatalf("%d blocks orphaned: %d new blocks, expected %d", depth, len(got), len(want)-kept)
		}
		for i, b := range got {
			if fmt.Sprint(*b) != fmt.Sprint(*want[kept+i]) {
				t.Errorf("%d blocks orphaned: block %d differs from that of a first sync", depth, b.Height)
			}
		}
	}
}

// follow reads a source from the known points to its end.
func follow(t *testing.T, c model.Chain, uri string, known []model.Point) (blocks []*model.Block, rollbacks []model.Point) {
	t.Helper()
	src, err := c.Open(t.Context(), model.SourceOptions{URI: uri, Indexes: names(c), Known: known, Workers: 3, Raw: true})
	if err != nil {
		t.Fatal(err)
	}
	defer src.Close()
	for e, err := range src.Follow(t.Context(), known) {
		switch {
		case err != nil:
			t.Fatalf("%s: %v", uri, err)
		case e.Rollback != nil:
			rollbacks = append(rollbacks, *e.Rollback)
		default:
			blocks = append(blocks, e.Block)
		}
	}
	hasher, hashes := c.(model.TxHasher)
	reader, reads := src.(model.BlockReader)
	parents, readsChildren := src.(model.ChildReader)
	for n, b := range blocks {
		for i := range b.Txs {
			if len(b.Txs[i].Raw) == 0 {
				t.Fatalf("%s: transaction %d of block %d has no bytes", uri, i, b.Height)
			}
			if hashes {
				if h, err := hasher.HashTx(b.Txs[i].Raw); err != nil || h != b.Txs[i].Hash {
					t.Fatalf("%s: transaction %d of block %d hashes to %s, %v", uri, i, b.Height, c.FormatHash(h), err)
				}
			}
		}
		if reads {
			if at, err := reader.BlockAt(t.Context(), b.Height); err != nil || fmt.Sprint(at.Txs) != fmt.Sprint(b.Txs) || at.Hash != b.Hash {
				t.Fatalf("%s: block %d by height differs: %v", uri, b.Height, err)
			}
		}
		if readsChildren && (n > 0 || b.Height == 0) {
			var parent model.Point
			if n > 0 {
				parent = blocks[n-1].Point()
			}
			if child, err := parents.Child(t.Context(), parent); err != nil || fmt.Sprint(*child) != fmt.Sprint(*b) {
				t.Fatalf("%s: block %d differs as the child of its parent: %v", uri, b.Height, err)
			}
		}
	}
	return blocks, rollbacks
}
