package bench

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"syscall"
	"time"

	"birthmark/model"
)

// blocksAhead is how many blocks are generated before they are asked for.
const blocksAhead = 8

// Source is a [model.Source] of generated blocks. They are made by one goroutine while others index them.
type Source struct {
	chain Chain
	plan  []int
	gen   *Generator
	made  Made
}

// Made is what a [Source] handed out, and what making it took.
type Made struct {
	Blocks, Txs, Inputs, Outputs, Assets int
	CPU                                  time.Duration // of the goroutine that generates; 0: none does
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

// Made is what was handed out so far. Follow must have ended.
func (s *Source) Made() Made { return s.made }

// Follow yields the blocks from the first on: nothing may be known yet.
func (s *Source) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		if slices.ContainsFunc(known, func(p model.Point) bool { return !p.IsOrigin() }) || s.made.Blocks > 0 {
			yield(model.Event{}, errors.New("generated blocks can be followed once, by an empty database"))
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		blocks, cpu := s.generate(ctx)
		defer func() {
			cancel()
			for range blocks { // let the generating goroutine end
			}
			s.made.CPU = <-cpu
		}()
		for b := range blocks {
			s.made.count(b)
			if !yield(model.Event{Block: b}, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(model.Event{}, err)
		}
	}
}

func (s *Source) generate(ctx context.Context) (<-chan *model.Block, <-chan time.Duration) {
	blocks, cpu := make(chan *model.Block, blocksAhead), make(chan time.Duration, 1)
	go func() {
		// A thread of its own, whose CPU the kernel counts apart. Not unlocked, so that the thread ends with it.
		runtime.LockOSThread()
		before := threadCPU()
		defer func() { cpu <- threadCPU() - before }()
		defer close(blocks)
		for _, n := range s.plan {
			select {
			case blocks <- s.gen.Next(n):
			case <-ctx.Done():
				return
			}
		}
	}()
	return blocks, cpu
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
