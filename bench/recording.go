package bench

import (
	"bufio"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sort"

	"birthmark/model"
)

// Recording is the blocks of a [Chain] in a folder, as the chain's adapter hands them over: generated and decoded once,
// by a process that measures nothing.
//
// Generating, and decoding what Cardano and Ergo have, takes up to ten times as long as indexing. Done beside a run it
// would take one of the processors from it; done in pieces while the clock stands still, the store would compact for
// nothing meanwhile, and each piece would begin and end with a pipeline that is half empty. Reading a recording takes
// a thread of its own 0.3 to 0.5 µs of a transaction of Bitcoin and 1.6 of Cardano's, some parts in a hundred of what a run
// takes, most of it for the memory of the blocks; and what the process has in memory is the indexer's.
type Recording struct {
	Chain   Chain             `json:"chain"`   // its indexes are those of the database
	Network string            `json:"network"` // of Cardano the folder of the genesis files
	Hottest map[string]string `json:"hottest"` // by index: the value that occurs in more outputs than any other
	Made    Made              `json:"made"`

	dir    string
	blocks int64 // as many
}

// The files of a recording: blocks each behind its length in 4 bytes; of each where it begins and how many transactions
// there are up to its end, 8 bytes each; what is known of all.
const (
	blocksFile  = "blocks"
	headsFile   = "heads"
	summaryFile = "recording.json"
	headBytes   = 16
)

// Record makes the blocks of c, as many transactions as it says, in an empty folder. told, which may be nil, hears how many there are.
func Record(ctx context.Context, dir string, c Chain, told func(txs int)) (r *Recording, err error) {
	if c, err = c.Resolve(ctx); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	made, err := generators[c.Name](ctx, dir, c)
	if err != nil {
		return nil, err
	}
	r = &Recording{Chain: c, Network: made.network, dir: dir}
	src, err := made.open(ctx, c.Indexes)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, src.Close()) }()
	w, err := newRecorder(dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	hot := newHottest(made.adapter, c.Indexes)
	for e, err := range src.Follow(ctx, nil) {
		if err != nil {
			return nil, err
		}
		b := e.Block
		b.Txs = b.Txs[:min(len(b.Txs), c.Txs-r.Made.Txs)]
		r.Made.count(b)
		hot.count(b)
		if err := w.write(b, r.Made.Txs); err != nil {
			return nil, err
		}
		if told != nil {
			told(r.Made.Txs)
		}
		if r.Made.Txs == c.Txs {
			break
		}
	}
	if r.Made.Txs != c.Txs {
		return nil, fmt.Errorf("%d transactions were generated of %d", r.Made.Txs, c.Txs)
	}
	r.Hottest, r.blocks = hot.values(), int64(r.Made.Blocks)
	return r, errors.Join(r.Save(dir), made.clear())
}

// Save writes what is known of the blocks, without them, into a folder: beside a database that was made of them.
// [OpenRecording] finds it there.
func (r *Recording) Save(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, summaryFile), text, 0o644)
}

// OpenRecording is what [Record] made in a folder.
func OpenRecording(dir string) (*Recording, error) {
	text, err := os.ReadFile(filepath.Join(dir, summaryFile))
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_value", "%s holds no recorded blocks: %w", dir, err)
	}
	r := &Recording{dir: dir}
	if err := json.Unmarshal(text, r); err != nil {
		return nil, model.Errorf(model.Usage, "bad_value", "%s holds no recorded blocks: %w", dir, err)
	}
	r.blocks = int64(r.Made.Blocks)
	return r, nil
}

// Adapter is the chain that the blocks are of.
func (r *Recording) Adapter() (model.Chain, error) {
	return r.Chain.define(adapterOf(r.Chain.Name, r.Network))
}

// recorder writes the files of a recording.
type recorder struct {
	blocks, heads *os.File
	to, index     *bufio.Writer
	at            uint64
	raw           []byte
}

func newRecorder(dir string) (*recorder, error) {
	blocks, err := os.OpenFile(filepath.Join(dir, blocksFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, err
	}
	heads, err := os.OpenFile(filepath.Join(dir, headsFile), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return nil, errors.Join(err, blocks.Close())
	}
	return &recorder{blocks: blocks, heads: heads, to: bufio.NewWriterSize(blocks, 1<<20), index: bufio.NewWriter(heads)}, nil
}

// write adds a block with which there are so many transactions.
func (w *recorder) write(b *model.Block, txs int) error {
	w.raw = appendBlock(append(w.raw[:0], 0, 0, 0, 0), b)
	binary.LittleEndian.PutUint32(w.raw, uint32(len(w.raw)-4))
	var head [headBytes]byte
	binary.LittleEndian.PutUint64(head[:], w.at)
	binary.LittleEndian.PutUint64(head[8:], uint64(txs))
	w.at += uint64(len(w.raw))
	_, err := w.to.Write(w.raw)
	if err == nil {
		_, err = w.index.Write(head[:])
	}
	return err
}

// close also has the blocks on disk, so that the system does not write them while a run is measured.
func (w *recorder) close() error {
	return errors.Join(w.to.Flush(), w.index.Flush(), w.blocks.Sync(), w.blocks.Close(), w.heads.Close())
}

// head is where block i of the recording begins, and how many transactions there are up to its end.
func (r *Recording) head(heads io.ReaderAt, i int64) (at int64, txs int, err error) {
	var b [headBytes]byte
	if _, err := heads.ReadAt(b[:], i*headBytes); err != nil {
		return 0, 0, fmt.Errorf("%s: block %d: %w", filepath.Join(r.dir, headsFile), i, err)
	}
	return int64(binary.LittleEndian.Uint64(b[:])), int(binary.LittleEndian.Uint64(b[8:])), nil
}

// until is how many blocks have so many transactions.
func (r *Recording) until(heads io.ReaderAt, txs int) (blocks int64, err error) {
	i := sort.Search(int(r.blocks), func(i int) bool {
		_, n, headErr := r.head(heads, int64(i))
		err = errors.Join(err, headErr)
		return n >= txs
	})
	return min(int64(i)+1, r.blocks), err
}
