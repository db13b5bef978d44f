package bench

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"sort"
	"time"

	"birthmark/bench/process"
	"birthmark/model"
)

// Replay is a [model.Source] of recorded blocks, which a separate goroutine reads.
type Replay struct {
	recording  *Recording
	parse      func(raw []byte) (*model.Block, error)
	blocks     *os.File
	heads      []byte // of headsFile
	first, tip model.Point
	count      int // blocks
	txs        int
	made       Made
}

// Replay returns a source of the first txs transactions of a recording, of all with 0. The last block is truncated if
// it has more.
func (r *Recording) Replay(txs int) (s *Replay, err error) {
	if txs == 0 {
		txs = r.Made.Txs
	}
	if txs > r.Made.Txs {
		return nil, fmt.Errorf("%d transactions of %d in %s", txs, r.Made.Txs, r.dir)
	}
	s = &Replay{recording: r, parse: r.parser(), txs: txs}
	if s.heads, err = os.ReadFile(filepath.Join(r.dir, headsFile)); err != nil {
		return nil, err
	}
	if s.blocks, err = os.Open(filepath.Join(r.dir, blocksFile)); err != nil {
		return nil, err
	}
	s.count = s.until(txs)
	if s.first, err = s.point(0); err == nil {
		s.tip, err = s.point(s.count - 1)
	}
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// head returns the offset of block i and the number of transactions up to its end.
func (s *Replay) head(i int) (at int64, txs int) {
	b := s.heads[i*headBytes:]
	return int64(binary.LittleEndian.Uint64(b)), int(binary.LittleEndian.Uint64(b[8:]))
}

// until returns the number of blocks that contain the first txs transactions.
func (s *Replay) until(txs int) (blocks int) {
	last := len(s.heads)/headBytes - 1
	return 1 + sort.Search(last, func(i int) bool {
		_, n := s.head(i)
		return n >= txs
	})
}

// parser returns the function that decodes a recorded block, for one goroutine at a time.
func (r *Recording) parser() func(raw []byte) (*model.Block, error) {
	if !r.Chain.generated() {
		return parseBlock
	}
	x, o := newExpander(&r.Chain), outline{}
	return func(raw []byte) (*model.Block, error) {
		if err := o.parse(raw); err != nil {
			return nil, err
		}
		return x.block(&o), nil
	}
}

// point returns the point of block i.
func (s *Replay) point(i int) (model.Point, error) {
	at, _ := s.head(i)
	raw, err := readRecorded(io.NewSectionReader(s.blocks, at, 1<<62))
	if err != nil {
		return model.Point{}, err
	}
	b, err := s.parse(raw)
	if err != nil {
		return model.Point{}, err
	}
	return b.Point(), nil
}

// readRecorded reads the next block into new memory.
func readRecorded(from io.Reader) ([]byte, error) {
	var size [4]byte
	if _, err := io.ReadFull(from, size[:]); err != nil {
		return nil, err
	}
	raw := make([]byte, binary.LittleEndian.Uint32(size[:]))
	_, err := io.ReadFull(from, raw)
	return raw, err
}

// Tip returns the last block.
func (s *Replay) Tip(context.Context) (model.Point, error) { return s.tip, nil }

// Measure implements [model.Measurer] with the number of transactions.
func (s *Replay) Measure(_ context.Context, after model.Point, to model.HeightPk) (model.Extent, error) {
	e := model.Extent{Txs: true, Total: uint64(s.txs)}
	if to < s.tip.Height {
		_, txs := s.head(int(to - s.first.Height))
		e.Total = uint64(txs)
	}
	begin, err := s.after([]model.Point{after})
	if begin > 0 {
		_, txs := s.head(begin - 1)
		e.Done = uint64(txs)
	}
	return e, err
}

// Made returns the totals of the yielded blocks. Follow must have ended.
func (s *Replay) Made() Made { return s.made }

// Close closes the file of the blocks.
func (s *Replay) Close() error { return s.blocks.Close() }

// Blocks are passed between goroutines in batches: a thread switch costs more than reading a small block.
const (
	batchBytes   = 256 << 10
	batchesAhead = 2
)

// Follow yields the blocks after known[0], which must be one of them, or all blocks if known is empty.
func (s *Replay) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		begin, err := s.after(known)
		if err != nil {
			yield(model.Event{}, err)
			return
		}
		ctx, cancel := context.WithCancel(ctx)
		var end reading
		batches := s.read(ctx, begin, &end)
		defer func() {
			cancel()
			for range batches { // let the reading goroutine end
			}
			s.made.CPU, s.made.disk = s.made.CPU+end.cpu, end.disk
		}()
		for batch := range batches {
			for _, b := range batch {
				s.made.count(b)
				if !yield(model.Event{Block: b}, nil) {
					return
				}
			}
		}
		if end.err != nil {
			yield(model.Event{}, end.err)
		}
	}
}

// after returns the number of the block after the newest of known.
func (s *Replay) after(known []model.Point) (int, error) {
	if len(known) == 0 || known[0].IsOrigin() {
		return 0, nil
	}
	i := int(known[0].Height) - int(s.first.Height)
	if i >= 0 && i < s.count {
		p, err := s.point(i)
		if err != nil {
			return 0, err
		}
		if p == known[0] {
			return i + 1, nil
		}
	}
	return 0, fmt.Errorf("block %d %v is not in the recording %s", known[0].Height, known[0].Hash, s.recording.dir)
}

// reading is the cost and the error of reading the blocks.
type reading struct {
	cpu  time.Duration
	disk process.IO
	err  error
}

// read sends batches of blocks from begin on. It sets end before it closes the channel.
func (s *Replay) read(ctx context.Context, begin int, end *reading) <-chan []*model.Block {
	batches := make(chan []*model.Block, batchesAhead)
	go func() {
		// A separate thread, whose CPU time the kernel accounts for. It is not unlocked, so that it ends with the
		// goroutine.
		runtime.LockOSThread()
		before, disk := process.ThreadCPU(), process.ThreadIO()
		end.err = s.readBatches(ctx, begin, batches)
		end.cpu, end.disk = process.ThreadCPU()-before, process.ThreadIO().Minus(disk)
		close(batches)
	}()
	return batches
}

func (s *Replay) readBatches(ctx context.Context, begin int, batches chan<- []*model.Block) error {
	if begin == s.count {
		return nil
	}
	at, _ := s.head(begin)
	_, txs := s.head(s.count - 1)
	from := bufio.NewReaderSize(io.NewSectionReader(s.blocks, at, 1<<62), 1<<20)
	var batch []*model.Block
	size := 0
	for i := begin; i < s.count; i++ {
		raw, err := readRecorded(from)
		if err != nil {
			return err
		}
		b, err := s.parse(raw)
		if err != nil {
			return err
		}
		if i == s.count-1 {
			b.Txs = b.Txs[:len(b.Txs)-(txs-s.txs)]
		}
		if batch, size = append(batch, b), size+max(len(raw), b.Size); size < batchBytes && i < s.count-1 {
			continue
		}
		select {
		case batches <- batch:
			batch, size = nil, 0
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
