package blockfile

import (
	"bytes"
	"context"
	"fmt"
	"iter"
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
	logged map[string]string // last logged value of each key

	rejected map[model.Hash]error // the errors of complete records with invalid blocks, by parent
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
	s := &files{options: o, net: o.Network, path: path, poll: time.Second, tree: newTree(o.Network.Genesis), logged: map[string]string{},
		rejected: map[model.Hash]error{}}
	s.readers.New = func() any { return &reader{decoder: o.Decoder(), format: o.Network.Coin.Format, places: o.Places} }
	var err error
	if s.key, err = xorKey(path); err != nil {
		return nil, err
	}
	return s, s.refresh(ctx)
}

func (s *files) source() *source {
	o := blocksource.Options{Name: s.path, SourceOptions: s.options.SourceOptions}
	if o.Workers <= 0 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	src := blocksource.NewSource(s, o)
	return &source{src, src.(model.BlockReader), s, s}
}

// source is the stream of the best chain.
type source struct {
	model.Source
	model.BlockReader
	model.Measurer
	files *files
}

// Follow implements [model.Source]. It returns an error after the last block if the files have a gap
// there, unless it follows the files: a node downloads blocks in any order.
func (s *source) Follow(ctx context.Context, known []model.Point) iter.Seq2[model.Event, error] {
	return func(yield func(model.Event, error) bool) {
		for e, err := range s.Source.Follow(ctx, known) {
			if !yield(e, err) || err != nil {
				return
			}
		}
		if err := s.files.checkGap(); err != nil {
			yield(model.Event{}, err)
		}
	}
}

// checkGap returns the error of files that lack a block of the best chain, or have an invalid one after it, if the
// stream ends there.
func (s *files) checkGap() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	end := s.tree.nodes[s.tree.best].height
	if s.options.Follow || s.options.To != nil && int32(*s.options.To) <= end {
		return nil
	}
	if fault := s.rejected[s.tree.nodes[s.tree.best].hash]; fault != nil {
		return model.Errorf(model.BadSource, "bad_block", "block %d: %w", end+1, fault)
	}
	g, ok := s.tree.gap()
	if !ok {
		return nil
	}
	first, missing, hint := &s.tree.nodes[g.first], uint64(end)+1, ""
	for _, at := range append([]location{first.location}, s.tree.more[g.first]...) {
		raw := make([]byte, at.size)
		if _, err := readAt(s.list[at.file].path, raw, at.offset); err != nil {
			continue
		}
		unmask(raw, s.key, at.offset)
		if h, ok := s.net.Coin.Format.CoinbaseHeight(raw); ok && h > 0 {
			missing = min(missing, h-1) // end can be the tip of a stale branch
			break
		}
	}
	for _, f := range s.list {
		if f.fault != nil {
			hint = fmt.Sprintf(" (the first damage: %s)", f.fault)
			break
		}
	}
	return model.Errorf(model.BadSource, "block_missing", "block %d is in none of the files of %s, but %d blocks after it are, from offset %d of %s%s: "+
		"copy the files again, or start the node, which downloads missing blocks",
		missing, s.path, g.blocks, first.offset, s.list[first.file].path, hint)
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
	s.logFaults()
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
		for _, r := range f.rejected {
			s.rejected[r.parent] = r.fault
		}
		for _, fault := range f.skipped {
			s.log(fault.Error(), slog.LevelWarn, fault, "a block file has damaged data, which are ignored")
		}
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
	r := s.recordReader(file, was.path, now.size)
	r.first = i == 0
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
	now.end, now.cut = found.end, found.cut
	if now.fault == nil && len(found.skipped) > 0 {
		now.fault = found.skipped[0]
	}
	if now.fault == nil {
		now.fault = found.cut
	}
	return fileScan{found, i, now}, nil
}

func (s *files) recordReader(file *os.File, path string, size int64) recordReader {
	decode := func(raw []byte) error {
		_, err := s.options.Decoder().Block(raw, 0)
		return err
	}
	return recordReader{net: s.net, path: path, key: s.key, decode: decode, file: file, size: size}
}

// logFaults logs the truncated records at the ends of files.
func (s *files) logFaults() {
	for _, f := range s.list {
		if f.cut != nil {
			s.log(f.path, slog.LevelWarn, f.cut, "a block file ends with a truncated block, which is ignored")
		}
	}
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
		if f.fault != nil {
			return f.fault
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

// log logs the value of a key when it changes; nil and 0 are not logged.
func (s *files) log(key string, level slog.Level, value any, message string) {
	text := fmt.Sprint(value)
	if s.logged[key] == text {
		return
	}
	s.logged[key] = text
	switch value := value.(type) {
	case error:
		slog.Log(context.Background(), level, message, "error", value)
	case int:
		if value > 0 {
			slog.Log(context.Background(), level, message, key, value)
		}
	}
}
