package ergo

import (
	"bytes"
	"context"
	"io"
	"os"
	"slices"
	"sync"

	"birthmark/chains/adapter"
	"birthmark/chains/ergo/jsonstream"
	"birthmark/model"
)

// Tip returns the last complete block of the file.
func (s *fileSource) Tip(ctx context.Context) (model.Point, error) {
	f, err := openBlockFile(s.path, jsonstream.Position{})
	if err != nil {
		return model.Point{}, err
	}
	defer f.close()
	if !f.gz {
		if p, ok := lastLine(f); ok {
			return p, nil
		}
	}
	var last stored
	for {
		h, _, err := f.header(ctx)
		if err == io.EOF {
			return last.Point, nil
		}
		if err != nil {
			return model.Point{}, err
		}
		last = h
	}
}

// lastLine returns the last block of a plain file with one block per line, without reading the blocks before it.
func lastLine(f *blockFile) (model.Point, bool) {
	info, err := f.file.Stat()
	if err != nil {
		return model.Point{}, false
	}
	for size := min(int64(1<<20), info.Size()); ; size = min(8*size, info.Size()) {
		tail := make([]byte, size)
		if _, err := f.file.ReadAt(tail, info.Size()-size); err != nil && err != io.EOF {
			return model.Point{}, false
		}
		for end := len(tail); ; {
			at := bytes.LastIndex(tail[:end], []byte("\n{"))
			if at < 0 {
				break
			}
			raw, err := jsonstream.New(bytes.NewReader(tail[at+1:]), maxBlockJSON).Next()
			if err == nil {
				h, err := peek(raw)
				return h.Point, err == nil
			}
			end = at + 1
		}
		if size == info.Size() || size > maxBlockJSON {
			return model.Point{}, false
		}
	}
}

// indexStep is the distance in blocks between stored positions.
const indexStep = 64

// lookup finds single blocks of a file. It reads forwards, for one caller at a time, lowest height first, because a
// gzipped file cannot be read in another order. It stores positions in plain files.
type lookup struct {
	mu     sync.Mutex
	free   sync.Cond // of mu: a caller has finished reading
	wanted []model.HeightPk
	busy   bool

	file   *blockFile     // nil: none open
	next   model.HeightPk // file has only blocks from this height on left
	of     os.FileInfo    // of the file of places
	places map[model.HeightPk]jsonstream.Position
}

// BlockAt returns the block at a height. In a gzipped file it reads everything before the block.
func (s *fileSource) BlockAt(ctx context.Context, h model.HeightPk) (*model.Block, error) {
	l := &s.lookup
	if err := l.begin(ctx, h); err != nil {
		return nil, err
	}
	defer l.end(h)
	raw, line, err := l.find(ctx, s, h)
	if err != nil {
		l.close()
		return nil, err
	}
	b, err := s.decoder.clone().block(raw)
	if err != nil {
		return nil, lineError(s.path, line, "bad_block", err)
	}
	if h == firstHeight {
		err = s.link(model.Point{}, numbered{b, line})
	}
	return b, err
}

// begin waits until it is the turn of a height, or until the context ends. If it returns no error, end must follow.
func (l *lookup) begin(ctx context.Context, h model.HeightPk) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.free.L = &l.mu
	l.wanted = append(l.wanted, h)
	stop := context.AfterFunc(ctx, func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.free.Broadcast()
	})
	defer stop()
	for l.busy || h != l.turn() {
		if err := ctx.Err(); err != nil {
			l.leave(h)
			return err
		}
		l.free.Wait()
	}
	l.busy = true
	return nil
}

// leave removes a height from the waiting ones and wakes the other callers, because the turn may have changed.
func (l *lookup) leave(h model.HeightPk) {
	i := slices.Index(l.wanted, h)
	l.wanted = slices.Delete(l.wanted, i, i+1)
	l.free.Broadcast()
}

// turn returns the lowest waiting height that is still ahead in the file, else the lowest waiting height.
func (l *lookup) turn() model.HeightPk {
	best := l.wanted[0]
	for _, h := range l.wanted[1:] {
		if ahead := h >= l.next; ahead == (best >= l.next) && h < best || ahead && best < l.next {
			best = h
		}
	}
	return best
}

func (l *lookup) end(h model.HeightPk) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.busy = false
	l.leave(h)
}

// find reads up to a height.
func (l *lookup) find(ctx context.Context, s *fileSource, h model.HeightPk) (raw []byte, line int, err error) {
	if err := l.open(s, h); err != nil {
		return nil, 0, err
	}
	for {
		at, raw, err := l.file.header(ctx)
		if err == io.EOF {
			return nil, 0, model.Errorf(model.NotFound, "unknown_block", "no block at height %d in %s: the last is %d", h, s.path, max(l.next, 1)-1)
		}
		if err != nil {
			return nil, 0, err
		}
		if at.Height > h {
			return nil, 0, model.Errorf(model.NotFound, "unknown_block", "no block at height %d in %s", h, s.path)
		}
		l.passed(at.Height)
		if at.Height == h {
			return raw, l.file.s.Line(), nil
		}
	}
}

// passed stores the position of a block.
func (l *lookup) passed(h model.HeightPk) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = h + 1
	if h%indexStep == 0 && !l.file.gz {
		l.places[h] = l.file.s.Position()
	}
}

// open seeks to a position at or before a height.
func (l *lookup) open(s *fileSource, h model.HeightPk) error {
	info, err := os.Stat(s.path)
	if err != nil {
		return adapter.PathError(s.path, err)
	}
	if l.of == nil || !os.SameFile(l.of, info) || info.Size() < l.of.Size() {
		l.close()
		l.of, l.places = info, map[model.HeightPk]jsonstream.Position{}
	}
	place, known := l.places[h/indexStep*indexStep]
	if l.file != nil && l.next <= h && (!known || h-l.next < indexStep) {
		return nil
	}
	if !known {
		for at, p := range l.places {
			if at <= h && p.Offset > place.Offset {
				place = p
			}
		}
	}
	l.close()
	l.file, err = openBlockFile(s.path, place)
	return err
}

func (l *lookup) close() {
	if l.file != nil {
		l.file.close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.file, l.next = nil, 0
}
