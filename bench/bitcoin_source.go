package bench

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"birthmark/model"
)

// Source is a [model.Source] of blocks that a [Generator] generates on demand.
type Source struct {
	chain Chain
	plan  []int
	gen   *Generator
	done  bool
}

// Made is the totals of the blocks that a source yielded.
type Made struct {
	Blocks  int `json:"blocks"`
	Txs     int `json:"txs"`
	Inputs  int `json:"inputs"`
	Outputs int `json:"outputs"`
	Assets  int `json:"assets"`

	CPU time.Duration `json:"-"` // of the goroutine that reads the blocks, which is not part of the measurement
}

// NewSource returns a source of all blocks of c, which can be followed once.
func NewSource(c Chain) (*Source, error) {
	g, err := NewGenerator(c)
	if err != nil {
		return nil, err
	}
	return &Source{chain: g.chain, plan: g.chain.plan(), gen: g}, nil
}

// Tip returns the last block.
func (s *Source) Tip(context.Context) (model.Point, error) {
	last := len(s.plan) - 1
	return model.Point{Height: model.HeightPk(last), Hash: blockHash(s.chain.Seed, last)}, nil
}

// Follow yields all blocks. known must be empty.
func (s *Source) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if slices.ContainsFunc(known, func(p model.Point) bool { return !p.IsOrigin() }) || s.done {
			yield(model.Event{}, errors.New("generated blocks can be followed once, from the origin"))
			return
		}
		s.done = true
		for _, n := range s.plan {
			if err := ctx.Err(); err != nil {
				yield(model.Event{}, err)
				return
			}
			if !yield(model.Event{Block: s.gen.Next(n)}, nil) {
				return
			}
		}
	}
}

// Close does nothing.
func (s *Source) Close() error { return nil }

func (m *Made) count(b *model.Block) {
	m.Blocks++
	m.Txs += len(b.Txs)
	for i := range b.Txs {
		m.Inputs += len(b.Txs[i].Inputs)
		m.Outputs += len(b.Txs[i].Outputs)
		for j := range b.Txs[i].Outputs {
			m.Assets += len(b.Txs[i].Outputs[j].Assets)
		}
	}
}
