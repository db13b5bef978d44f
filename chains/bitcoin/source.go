package bitcoin

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"sync"
	"time"

	"birthmark/chains/blocksource"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// fileSource is a folder of block files, or one. It looks at all headers first, 80 bytes of each record, to find the
// best chain; then it reads the blocks of that chain in order.
type fileSource struct {
	net     *network
	path    string
	options model.SourceOptions
	decoder *decoder // what each goroutine clones
	key     []byte
	poll    time.Duration // how often Follow looks for more at the tip

	mu    sync.Mutex // held while what is below changes, and by whoever may look at it meanwhile
	files []*blockFile
	tree  *tree
	told  map[string]string // what was last logged about a matter
}

// openFiles looks at all headers, so that whatever is wrong with the files is known before anything is made of them.
func openFiles(ctx context.Context, n *network, defined *indexexpr.Indexes, path string, o model.SourceOptions) (*fileSource, error) {
	d, err := newDecoder(n, defined, o.Indexes)
	if err != nil {
		return nil, err
	}
	d.raw = o.Raw
	s := &fileSource{net: n, path: path, options: o, decoder: d, poll: time.Second, tree: newTree(n.genesis), told: map[string]string{}}
	if s.key, err = xorKey(path); err != nil {
		return nil, err
	}
	if err := s.refresh(ctx); err != nil {
		return nil, err
	}
	return s, nil
}

// Tip is the end of the best chain when the files were last looked at.
func (s *fileSource) Tip(context.Context) (model.Point, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tree.point(s.tree.best), nil
}

// Close has nothing to free: files are open only while they are read.
func (s *fileSource) Close() error { return nil }

// refresh looks for files and records that were added since it last did.
func (s *fileSource) refresh(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	paths, err := listFiles(s.path)
	if err != nil {
		return err
	}
	for _, p := range paths {
		if !slices.ContainsFunc(s.files, func(f *blockFile) bool { return f.path == p }) {
			s.files = append(s.files, &blockFile{path: p, size: -1})
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
	s.tell("orphans", slog.LevelWarn, len(s.tree.loose), "blocks whose ancestors are in none of the files are left out")
	s.tell("stale", slog.LevelInfo, s.tree.linked-len(s.tree.chain), "blocks of stale branches are left out")
	return nil
}

// writtenAtOnce is the most files a node writes to at the same time: two while it verifies a snapshot it started from.
const writtenAtOnce = 2

// scan looks at the files that changed, several at once, and puts what they hold into the tree in their order.
func (s *fileSource) scan(ctx context.Context) error {
	type job struct {
		file int32
		last bool
	}
	type found struct {
		job
		scan
		now blockFile
	}
	jobs := func(_ context.Context, yield func(job) bool) {
		for i, f := range s.files {
			if i < len(s.files)-writtenAtOnce && f.settled() {
				continue
			}
			if !yield(job{int32(i), i == len(s.files)-1}) {
				return
			}
		}
	}
	look := func(_ context.Context, j job) (found, error) {
		r, err := s.scanFile(*s.files[j.file], j.last)
		return found{j, r.scan, r.now}, err
	}
	worker := func() (func(context.Context, job) (found, error), func()) { return look, func() {} }
	size := func(job) int64 { return 1 }
	for f, err := range blocksource.Ordered(ctx, jobs, size, blocksource.Limits{Workers: s.options.Workers}, worker) {
		if err != nil {
			return err
		}
		for i := range f.records {
			s.tree.add(f.file, &f.records[i])
		}
		*s.files[f.file] = f.now
	}
	return nil
}

type fileScan struct {
	scan
	now blockFile
}

// scanFile looks at one file from where the last look ended.
func (s *fileSource) scanFile(was blockFile, last bool) (fileScan, error) {
	now := was
	file, err := os.Open(was.path)
	if err != nil {
		return fileScan{}, pathError(was.path, err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return fileScan{}, pathError(was.path, err)
	}
	now.size, now.modified = info.Size(), info.ModTime()
	r := recordReader{net: s.net, path: was.path, key: s.key, file: file, size: now.size}
	// Writes that come within one tick of the clock leave the time as it is, so the bytes where a node would go on
	// decide as well.
	if now.size == was.size && now.modified.Equal(was.modified) && was.cut == nil {
		head, err := r.peek(was.end, recordHead)
		if err != nil || !bytes.HasPrefix(head, s.net.magic[:]) {
			return fileScan{now: now}, err
		}
	}
	found, err := r.scan(was.end)
	if err != nil {
		return fileScan{}, err
	}
	if n := len(found.records); last && n > 0 && found.cut == nil {
		found, err = s.dropUnfinished(file, was.path, found)
		if err != nil {
			return fileScan{}, err
		}
	}
	now.end, now.cut = found.end, found.cut
	return fileScan{found, now}, nil
}

// dropUnfinished leaves out the last record where a node is still writing it: its room is there, but it ends in zeros
// and is not a whole block yet.
func (s *fileSource) dropUnfinished(file *os.File, path string, found scan) (scan, error) {
	const tail = 64 // bytes; a block may end in as many zeros, but then it decodes
	last := found.records[len(found.records)-1]
	raw := make([]byte, last.size)
	if _, err := file.ReadAt(raw, last.offset); err != nil {
		return found, pathError(path, err)
	}
	if end := raw[max(0, len(raw)-tail):]; len(bytes.Trim(end, "\x00")) > 0 {
		return found, nil
	}
	unmask(raw, s.key, last.offset)
	if _, err := s.decoder.clone().block(raw, 0); err == nil {
		return found, nil
	}
	r := recordReader{path: path}
	found.records = found.records[:len(found.records)-1]
	found.end = last.offset - recordHead
	found.cut = r.errorf("bad_block", found.end, "the block is not written to its end")
	return found, nil
}

// checkCuts allows the last file to end in less than a record, and no other.
func (s *fileSource) checkCuts() error {
	for i, f := range s.files {
		switch {
		case f.cut == nil:
		case i < len(s.files)-1:
			return f.cut
		default:
			s.tell("cut", slog.LevelWarn, f.cut, "the last block file does not end with a whole block: the blocks before are used")
			return nil
		}
	}
	s.tell("cut", slog.LevelInfo, nil, "")
	return nil
}

// noGenesis says why there is no chain.
func (s *fileSource) noGenesis() error {
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
			"the first block in %s is %s, and none is the genesis block of bitcoin %s, %s (a pruned node has deleted its first files)",
			s.files[n.file].path, formatHash(n.hash), s.net.name, formatHash(s.net.genesis))
	}
	for _, f := range s.files {
		if f.cut != nil {
			return f.cut
		}
	}
	return model.Errorf(model.BadSource, "source_empty", "%s holds no blocks: %s", s.path,
		map[bool]string{true: "it is empty", false: "nothing but padding"}[s.bytes() == 0])
}

func (s *fileSource) bytes() (sum int64) {
	for _, f := range s.files {
		sum += f.size
	}
	return sum
}

// tell logs a matter when it is new or changed; a value of nil or 0 says that there is nothing to tell.
func (s *fileSource) tell(matter string, level slog.Level, value any, message string) {
	text := fmt.Sprint(value)
	if s.told[matter] == text {
		return
	}
	s.told[matter] = text
	if value == nil || value == 0 {
		return
	}
	slog.Log(context.Background(), level, message, matter, value)
}
