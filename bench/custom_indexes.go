package bench

import (
	"bytes"
	"context"
	"runtime"

	"birthmark/model"
)

// Evaluation is what a custom index adds to decoding, per output.
type Evaluation struct {
	Outputs int     `json:"outputs"` // in the blocks
	Values  int     `json:"values"`  // of the index
	Nanos   float64 `json:"ns_per_output"`
	Allocs  float64 `json:"allocs_per_output"`
	Base    float64 `json:"base_ns_per_output"` // decoding with the default indexes
}

// Together is the key of all custom indexes together in the result of [Evaluate].
const Together = "all"

// Evaluate measures the CPU time that custom indexes add to decoding blocks in the format of [Decode] on one goroutine:
// each index alone and, if there are several, all together.
func Evaluate(ctx context.Context, chain model.Chain, ds []model.Definition, blocks [][]byte) (map[string]*Evaluation, error) {
	base := &evaluated{name: "", chain: chain}
	for _, x := range chain.Indexes() {
		if (x.Default || x.Always) && !x.Custom {
			base.indexes = append(base.indexes, x.Name)
		}
	}
	all := []*evaluated{base}
	add := func(name string, ds ...model.Definition) error {
		defined, err := chain.Define(ds)
		if err != nil {
			return err
		}
		e := &evaluated{name: name, chain: defined, indexes: base.indexes[:len(base.indexes):len(base.indexes)], firstCustom: len(base.indexes)}
		for _, d := range ds {
			e.indexes = append(e.indexes, d.Name)
		}
		all = append(all, e)
		return nil
	}
	for _, d := range ds {
		if err := add(d.Name, d); err != nil {
			return nil, err
		}
	}
	if len(ds) > 1 {
		if err := add(Together, ds...); err != nil {
			return nil, err
		}
	}
	inputs := joined(blocks)
	for _, e := range all {
		e.measured.round = func() (int, error) { return e.decode(ctx, inputs) }
	}
	// Alternating, so that other load on the machine affects all.
	for range turns {
		for _, e := range all {
			if err := e.turn(); err != nil {
				return nil, err
			}
		}
	}
	found := map[string]*Evaluation{}
	for _, e := range all[1:] {
		found[e.name] = &Evaluation{
			Outputs: e.outputs, Values: e.values, Base: base.nanos(),
			Nanos: e.nanos() - base.nanos(), Allocs: e.allocs() - base.allocs(),
		}
	}
	return found, nil
}

// evaluated measures decoding with a set of indexes.
type evaluated struct {
	name        string
	chain       model.Chain
	indexes     []string
	firstCustom int // position of the first custom index
	measured
	outputs, values int // per round
	mallocs         uint64
}

func (e *evaluated) decode(ctx context.Context, inputs [][]byte) (txs int, err error) {
	e.outputs, e.values = 0, 0
	for _, in := range inputs {
		for b, err := range e.chain.Decode(ctx, bytes.NewReader(in), e.indexes, 0) {
			if err != nil {
				return 0, err
			}
			txs += len(b.Txs)
			for i := range b.Txs {
				e.outputs += len(b.Txs[i].Outputs)
				for j := range b.Txs[i].Outputs {
					for _, k := range b.Txs[i].Outputs[j].Keys {
						if k.Index >= e.firstCustom {
							e.values++
						}
					}
				}
			}
		}
	}
	return txs, ctx.Err()
}

// turn measures one turn and its allocations.
func (e *evaluated) turn() error {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	err := e.work(MinTurn)
	runtime.ReadMemStats(&after)
	e.mallocs += after.Mallocs - before.Mallocs
	return err
}

func (e *evaluated) perOutput(sum float64) float64 {
	return sum / max(float64(e.rounds)*float64(e.outputs), 1)
}
func (e *evaluated) nanos() float64  { return e.perOutput(float64(e.cpu.Nanoseconds())) }
func (e *evaluated) allocs() float64 { return e.perOutput(float64(e.mallocs)) }
