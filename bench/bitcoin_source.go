package bench

import (
	"context"
	"errors"
	"iter"
	"slices"
	"syscall"
	"time"

	"birthmark/model"
)

// Source is a [model.Source] of generated blocks, made as they are asked for.
type Source struct {
	chain Chain
	plan  []int
	gen   *Generator
	done  bool
}

// Made is what a source handed out.
type Made struct {
	Blocks  int `json:"blocks"`
	Txs     int `json:"txs"`
	Inputs  int `json:"inputs"`
	Outputs int `json:"outputs"`
	Assets  int `json:"assets"`

	CPU time.Duration `json:"-"` // of the goroutine that reads them and measures nothing; 0: none does
}

// NewSource is a source of all blocks of c. It can be followed once.
func NewSource(c Chain) (*Source, error) {
	g, err := NewGenerator(c)
	if err != nil {
		return nil, err
	}
	return &Source{chain: g.chain, plan: g.chain.plan(), gen: g}, nil
}

// Tip is the last block.
func (s *Source) Tip(context.Context) (model.Point, error) {
	last := len(s.plan) - 1
	return model.Point{Height: model.HeightPk(last), Hash: blockHash(s.chain.Seed, last)}, nil
}

// Follow yields the blocks from the first on: nothing may be known yet.
func (s *Source) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if slices.ContainsFunc(known, func(p model.Point) bool { return !p.IsOrigin() }) || s.done {
			yield(model.Event{}, errors.New("generated blocks can be followed once, by an empty database"))
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

// Close frees nothing: what a source holds is memory.
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

func threadCPU() time.Duration  { return cpuTime(syscall.RUSAGE_THREAD) }
func processCPU() time.Duration { return cpuTime(syscall.RUSAGE_SELF) }

// cpuTime is what a thread or process took of the processors, in user mode and in the kernel.
func cpuTime(who int) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(who, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
