package bench

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"birthmark/model"
)

// Replay is a [model.Source] of recorded blocks, which a separate goroutine reads.
type Replay struct {
	recording     *Recording
	blocks, heads *os.File
	first, tip    model.Point
	count         int64 // blocks
	txs           int
	made          Made
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
	s = &Replay{recording: r, txs: txs}
	if s.blocks, err = os.Open(filepath.Join(r.dir, blocksFile)); err != nil {
		return nil, err
	}
	if s.heads, err = os.Open(filepath.Join(r.dir, headsFile)); err != nil {
		_ = s.blocks.Close()
		return nil, err
	}
	err = func() (err error) {
		if s.count, err = r.until(s.heads, txs); err != nil {
			return err
		}
		if s.first, err = s.point(0); err != nil {
			return err
		}
		s.tip, err = s.point(s.count - 1)
		return err
	}()
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return s, nil
}

// point returns the point of block i.
func (s *Replay) point(i int64) (model.Point, error) {
	at, _, err := s.recording.head(s.heads, i)
	if err != nil {
		return model.Point{}, err
	}
	raw, err := readRecorded(io.NewSectionReader(s.blocks, at, 1<<62))
	if err != nil {
		return model.Point{}, err
	}
	b, err := parseBlock(raw)
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

// Made returns the totals of the yielded blocks. Follow must have ended.
func (s *Replay) Made() Made { return s.made }

// Close closes the files.
func (s *Replay) Close() error {
	_ = s.heads.Close() // only read
	return s.blocks.Close()
}

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
			s.made.CPU += end.cpu
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
func (s *Replay) after(known []model.Point) (int64, error) {
	if len(known) == 0 || known[0].IsOrigin() {
		return 0, nil
	}
	i := int64(known[0].Height) - int64(s.first.Height)
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
	cpu time.Duration
	err error
}

// read sends batches of blocks from begin on. It sets end before it closes the channel.
func (s *Replay) read(ctx context.Context, begin int64, end *reading) <-chan []*model.Block {
	batches := make(chan []*model.Block, batchesAhead)
	go func() {
		// A separate thread, whose CPU time the kernel accounts for. It is not unlocked, so that it ends with the
		// goroutine.
		runtime.LockOSThread()
		before := threadCPU()
		end.err = s.readBatches(ctx, begin, batches)
		end.cpu = threadCPU() - before
		close(batches)
	}()
	return batches
}

func (s *Replay) readBatches(ctx context.Context, begin int64, batches chan<- []*model.Block) error {
	if begin == s.count {
		return nil
	}
	at, _, err := s.recording.head(s.heads, begin)
	if err != nil {
		return err
	}
	_, txs, err := s.recording.head(s.heads, s.count-1)
	if err != nil {
		return err
	}
	from := bufio.NewReaderSize(io.NewSectionReader(s.blocks, at, 1<<62), 1<<20)
	var batch []*model.Block
	size := 0
	for i := begin; i < s.count; i++ {
		raw, err := readRecorded(from)
		if err != nil {
			return err
		}
		b, err := parseBlock(raw)
		if err != nil {
			return err
		}
		if i == s.count-1 {
			b.Txs = b.Txs[:len(b.Txs)-(txs-s.txs)]
		}
		if batch, size = append(batch, b), size+len(raw); size < batchBytes && i < s.count-1 {
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
