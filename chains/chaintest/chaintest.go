package chaintest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

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
	t.Run("selection", f.selection)
	t.Run("headers", f.headers)
	if testing.Short() {
		return // the rest takes seconds
	}
	t.Run("expressions", f.expressions)
	t.Run("fields", f.fields)
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
