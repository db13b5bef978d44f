package blockfile

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/blocksource"
	"birthmark/model"
)

// Options are the options of [Open].
type Options struct {
	Network             *params.Network
	Decoder             func() *block.Decoder // called once per goroutine
	model.SourceOptions                       // Follow, To, Workers (0: one per processor) and Memory
}

// files is a folder of block files, or one file, as a [blocksource.Node].
type files struct {
	options Options
	net     *params.Network
	path    string
	key     []byte        // of the XOR, nil if the files are plain
	poll    time.Duration // how often Changed scans for new blocks
	readers sync.Pool

	mu     sync.Mutex // protects the fields below
	list   []*blockFile
	tree   *tree
	logged map[string]string // last logged value of each condition
}

// Open returns block files as a source. It reads the headers of all blocks, so that errors in the files are found
// before any block is indexed.
func Open(ctx context.Context, path string, o Options) (model.Source, error) {
	s, err := openFiles(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return s.source(), nil
}

func openFiles(ctx context.Context, path string, o Options) (*files, error) {
	s := &files{options: o, net: o.Network, path: path, poll: time.Second, tree: newTree(o.Network.Genesis), logged: map[string]string{}}
	s.readers.New = func() any { return &reader{decoder: o.Decoder(), format: o.Network.Coin.Format, places: o.Places} }
	var err error
	if s.key, err = xorKey(path); err != nil {
		return nil, err
	}
	return s, s.refresh(ctx)
}

func (s *files) source() model.Source {
	o := blocksource.Options{Name: s.path, SourceOptions: s.options.SourceOptions}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	return blocksource.NewSource(s, o)
}

// Tip implements [blocksource.Node]: the end of the best chain when the files were last scanned.
func (s *files) Tip(context.Context) (model.Point, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree.point(s.tree.best), nil
}

// Hashes implements [blocksource.Node].
func (s *files) Hashes(_ context.Context, from model.HeightPk, n int) (hashes []model.Hash, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := min(int(from)+n, len(s.tree.chain))
	for h := int(from); h < end; h++ {
		hashes = append(hashes, s.tree.nodes[s.tree.chain[h]].hash)
	}
	return hashes, nil
}

// Measure implements [model.Measurer] with the sizes of the blocks.
func (s *files) Measure(_ context.Context, after model.Point, to model.HeightPk) (e model.Extent, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h, i := range s.tree.chain {
		if h > int(to) {
			break
		}
		n := &s.tree.nodes[i]
		e.Total += uint64(n.size)
		if n.hash == after.Hash {
			e.Done = e.Total
		}
	}
	if e.Done == 0 && !after.IsOrigin() {
		return model.Extent{}, nil // another branch
	}
	return e, nil
}

// Changed implements [blocksource.Node]: it scans the files periodically.
func (s *files) Changed(ctx context.Context, tip model.Point) error {
	for {
		if err := blocksource.Sleep(ctx, s.poll); err != nil {
			return err
		}
		if err := s.refresh(ctx); err != nil {
			return err
		}
		if now, _ := s.Tip(ctx); now != tip {
			return nil
		}
	}
}

// Close implements [blocksource.Node]. Files are open only while they are read.
func (s *files) Close() error { return nil }

// refresh scans for files and records that were added since the last scan.
func (s *files) refresh(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	paths, err := listFiles(s.path)
	if err != nil {
		return err
	}
	for _, p := range paths {
		if !slices.ContainsFunc(s.list, func(f *blockFile) bool { return f.path == p }) {
			s.list = append(s.list, &blockFile{path: p, size: -1})
		}
	}
	if err := s.scan(ctx); err != nil {
		return err
	}
	s.tree.link()
	if err := s.checkCuts(); err != nil {
		return err
	}
	if s.tree.best == none {
		return s.noGenesis()
	}
	s.log("orphans", slog.LevelWarn, len(s.tree.loose), "ignoring blocks whose ancestors are in none of the files")
	s.log("stale", slog.LevelInfo, s.tree.linked-len(s.tree.chain), "ignoring blocks of stale branches")
	return nil
}

// maxOpenFiles is how many files a node appends to at the same time: two while it verifies the snapshot that it was
// started from.
const maxOpenFiles = 2

// scan scans the files that changed, several in parallel, and adds their records to the tree in the order of the files.
func (s *files) scan(ctx context.Context) error {
	jobs := func(_ context.Context, yield func(int) bool) {
		for i, f := range s.list {
			if i < len(s.list)-maxOpenFiles && f.unchanged() {
				continue
			}
			if !yield(i) {
				return
			}
		}
	}
	worker := func() (func(context.Context, int) (fileScan, error), func()) { return s.scanFile, func() {} }
	size := func(int) int64 { return 1 }
	for f, err := range blocksource.Ordered(ctx, jobs, size, blocksource.Limits{Workers: s.options.Workers}, worker) {
		if err != nil {
			return err
		}
		for i := range f.records {
			s.tree.add(int32(f.file), &f.records[i])
		}
		*s.list[f.file] = f.now
	}
	return nil
}

// fileScan is the scan of the file at a position in the list, and the file's new state.
type fileScan struct {
	scan
	file int
	now  blockFile
}

// scanFile scans one file from the end of the previous scan.
func (s *files) scanFile(_ context.Context, i int) (fileScan, error) {
	was, now := *s.list[i], *s.list[i]
	file, err := os.Open(was.path)
	if err != nil {
		return fileScan{}, adapter.PathError(was.path, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fileScan{}, adapter.PathError(was.path, err)
	}
	now.size, now.modified = info.Size(), info.ModTime()
	r := recordReader{net: s.net, path: was.path, key: s.key, file: file, size: now.size}
	// Two writes within one tick of the clock have the same time: look also for a record at the end of the last scan.
	if now.size == was.size && now.modified.Equal(was.modified) && was.cut == nil {
		head, err := r.peek(was.end, RecordHead)
		if err != nil || !bytes.HasPrefix(head, s.net.Magic[:]) {
			return fileScan{file: i, now: now}, err
		}
	}
	found, err := r.scan(was.end)
	if err != nil {
		return fileScan{}, err
	}
	if i == len(s.list)-1 && len(found.records) > 0 && found.cut == nil {
		found, err = s.dropUnfinished(file, was.path, found)
		if err != nil {
			return fileScan{}, err
		}
	}
	now.end, now.cut = found.end, found.cut
	return fileScan{found, i, now}, nil
}

// dropUnfinished removes the last record if a node is still writing it: its space is reserved, but it ends in zeros and
// does not decode yet.
func (s *files) dropUnfinished(file *os.File, path string, found scan) (scan, error) {
	const tail = 64 // bytes; a valid block can end in as many zeros
	last := found.records[len(found.records)-1]
	raw := make([]byte, last.size)
	if _, err := file.ReadAt(raw, last.offset); err != nil {
		return found, adapter.PathError(path, err)
	}
	if end := raw[max(0, len(raw)-tail):]; len(bytes.Trim(end, "\x00")) > 0 {
		return found, nil
	}
	unmask(raw, s.key, last.offset)
	if _, err := s.options.Decoder().Block(raw, 0); err == nil {
		return found, nil
	}
	r := recordReader{path: path}
	found.records = found.records[:len(found.records)-1]
	found.end = last.offset - RecordHead
	found.cut = r.errorf("bad_block", found.end, "the block is not completely written")
	return found, nil
}

// checkCuts returns an error if a file other than the last ends in a truncated record.
func (s *files) checkCuts() error {
	for i, f := range s.list {
		switch {
		case f.cut == nil:
		case i < len(s.list)-1:
			return f.cut
		default:
			s.log("cut", slog.LevelWarn, f.cut, "the last block file ends with a truncated block, which is ignored")
			return nil
		}
	}
	s.log("cut", slog.LevelInfo, nil, "")
	return nil
}

// noGenesis returns the error of files without a chain.
func (s *files) noGenesis() error {
	first := int32(none)
	for i := range s.tree.nodes {
		n := &s.tree.nodes[i]
		if n.file == none {
			continue
		}
		if first == none || n.before(&s.tree.nodes[first]) {
			first = int32(i)
		}
	}
	if first != none {
		n := &s.tree.nodes[first]
		return model.Errorf(model.BadSource, "no_genesis",
			"no genesis block of %[3]s (%[4]s): the first block in %[1]s is %[2]s (a pruned node deletes its first files)",
			s.list[n.file].path, block.FormatHash(n.hash), s.net.FullName(), block.FormatHash(s.net.Genesis))
	}
	for _, f := range s.list {
		if f.cut != nil {
			return f.cut
		}
	}
	return model.Errorf(model.BadSource, "source_empty", "no blocks in %s: %s", s.path,
		map[bool]string{true: "empty", false: "only padding"}[s.bytes() == 0])
}

func (s *files) bytes() (sum int64) {
	for _, f := range s.list {
		sum += f.size
	}
	return sum
}

// log logs a condition when its value changes; nil and 0 are not logged.
func (s *files) log(condition string, level slog.Level, value any, message string) {
	text := fmt.Sprint(value)
	if s.logged[condition] == text {
		return
	}
	s.logged[condition] = text
	if value == nil || value == 0 {
		return
	}
	slog.Log(context.Background(), level, message, condition, value)
}
