package segment

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Extensions of the files of a log.
const (
	segmentExt = ".segment"
	pendingExt = ".pending"
)

// ErrMissing is returned for a segment that the log does not have: the update was in bulk, or the segment was removed.
var ErrMissing = errors.New("the segment is not in the log")

// FileName returns the name of the file of a segment.
func FileName(seq uint64) string { return fmt.Sprintf("%012d%s", seq, segmentExt) }

// FolderName returns the name of the folder of a lineage.
func FolderName(l schema.Lineage) string { return fmt.Sprintf("%x", l[:]) }

// ParseFileName returns the number in the name of the file of a segment; ok is false for other names.
func ParseFileName(name string) (seq uint64, ok bool) { return parseName(name, segmentExt) }

// parseName returns the number in the name of a file with an extension.
func parseName(name, ext string) (seq uint64, ok bool) {
	digits, ok := strings.CutSuffix(name, ext)
	if !ok {
		return 0, false
	}
	seq, err := strconv.ParseUint(digits, 10, 64)
	return seq, err == nil
}

// Log is the newest segments of a database, as files of a folder. It is safe for concurrent use.
type Log struct {
	folder string // of all lineages
	keep   int64  // bytes above which the oldest segments are removed
	log    *slog.Logger

	mu      sync.Mutex
	at      schema.Position // of the database
	origin  *Segment        // the promotion that began the lineage, without rows; nil: none, or removed
	files   []file          // by number
	bytes   int64
	changed chan struct{} // closed when at changes

	step func(name string) error // for tests; nil: nothing
}

type file struct {
	seq  uint64
	size int64
}

// State is the state of a log.
type State struct {
	schema.Position        // of the database; updates without a segment count too
	First           uint64 // the oldest segment from which on there is no gap; Seq + 1: none
	Bytes           int64  // of all segments
}

// State returns the state, and a channel that is closed when it changes.
func (l *Log) State() (s State, changed <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	s = State{Position: l.at, First: l.at.Seq + 1, Bytes: l.bytes}
	for _, f := range slices.Backward(l.files) {
		if f.seq != s.First-1 {
			break
		}
		s.First = f.seq
	}
	return s, l.changed
}

// Continues returns the position that the first segment of the lineage continues; ok is false if it continues none, or
// the log no longer has this segment.
func (l *Log) Continues() (from schema.Position, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.origin == nil {
		return from, false
	}
	return schema.Position{Lineage: l.origin.Origin, Seq: l.origin.Seq - 1, Hash: l.origin.Previous}, true
}

// Read returns an encoded segment, or [ErrMissing].
func (l *Log) Read(seq uint64) ([]byte, error) {
	l.mu.Lock()
	_, found := l.find(seq)
	path := l.path(seq, segmentExt)
	l.mu.Unlock()
	if !found {
		return nil, ErrMissing
	}
	b, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) { // removed in the meantime
		err = ErrMissing
	}
	return b, err
}

func (l *Log) find(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(l.files, seq, func(f file, seq uint64) int {
		switch {
		case f.seq < seq:
			return -1
		case f.seq > seq:
			return 1
		}
		return 0
	})
}

// path returns the path of a file of the current lineage.
func (l *Log) path(seq uint64, ext string) string {
	return filepath.Join(l.folder, FolderName(l.at.Lineage), strings.TrimSuffix(FileName(seq), segmentExt)+ext)
}

func (l *Log) reach(name string) error {
	if l.step == nil {
		return nil
	}
	return l.step(name)
}

// has reports whether the folder has a log of the lineage that agrees with the position of the database: the database
// can be ahead, by updates without a segment, but not behind.
func (l *Log) has(p schema.Position) (bool, error) {
	entries, err := os.ReadDir(filepath.Join(l.folder, FolderName(p.Lineage)))
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	for _, e := range entries {
		seq, ok := parseName(e.Name(), segmentExt)
		if !ok || seq < p.Seq {
			continue
		}
		if seq > p.Seq {
			return false, err
		}
		b, err := os.ReadFile(filepath.Join(l.folder, FolderName(p.Lineage), e.Name()))
		if err != nil {
			return false, err
		}
		if at, _, err := Header(b); err != nil || at != p {
			return false, nil
		}
	}
	return err == nil, err
}

// open opens the folder of the lineage of a position, or creates it, and settles a pending segment.
func (l *Log) open(p schema.Position) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.at, l.files, l.bytes, l.origin = p, nil, 0, nil
	l.changed = make(chan struct{})
	folder := filepath.Join(l.folder, FolderName(p.Lineage))
	if err := os.MkdirAll(folder, 0o755); err != nil {
		return err
	}
	if err := errors.Join(storage.SyncFolder(filepath.Dir(l.folder)), storage.SyncFolder(l.folder)); err != nil {
		return err
	}
	entries, err := os.ReadDir(folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		path := filepath.Join(folder, e.Name())
		seq, pending := parseName(e.Name(), pendingExt)
		if !pending {
			if seq, ok := parseName(e.Name(), segmentExt); ok {
				if info, err := e.Info(); err == nil {
					l.add(file{seq, info.Size()})
				}
			}
			continue
		}
		if b, err := os.ReadFile(path); err == nil && seq == p.Seq {
			if at, _, err := Header(b); err == nil && at == p {
				if err := os.Rename(path, l.path(seq, segmentExt)); err != nil {
					return err
				}
				l.add(file{seq, int64(len(b))})
				continue
			}
		}
		if err := os.Remove(path); err != nil { // the update did not happen
			return err
		}
	}
	if l.keep == 0 {
		l.keep = max(DefaultKeep, l.bytes)
	}
	l.readOrigin()
	return l.removeOthers()
}

// add registers a segment.
func (l *Log) add(f file) {
	i, found := l.find(f.seq)
	if found {
		return
	}
	l.files = slices.Insert(l.files, i, f)
	l.bytes += f.size
}

// readOrigin reads the oldest segment: it may be the promotion that began the lineage.
func (l *Log) readOrigin() {
	if len(l.files) == 0 {
		return
	}
	b, err := os.ReadFile(l.path(l.files[0].seq, segmentExt))
	if err != nil {
		return
	}
	if s, err := Decode(b); err == nil && s.Kind == Promotion {
		l.origin = s
	}
}

// removeOthers removes the folders of earlier lineages.
func (l *Log) removeOthers() error {
	entries, err := os.ReadDir(l.folder)
	for _, e := range entries {
		if e.Name() != FolderName(l.at.Lineage) {
			err = errors.Join(err, os.RemoveAll(filepath.Join(l.folder, e.Name())))
		}
	}
	return err
}

// write writes a pending segment durably.
func (l *Log) write(seq uint64, encoded []byte) (err error) {
	if err := l.reach("write"); err != nil {
		return err
	}
	path := l.path(seq, pendingExt)
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return err
	}
	half := len(encoded) / 2
	if _, err = f.Write(encoded[:half]); err == nil {
		if err = l.reach("write half"); err == nil {
			_, err = f.Write(encoded[half:])
		}
	}
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = storage.SyncFolder(filepath.Dir(path))
	}
	if err == nil {
		err = l.reach("update")
	}
	return err
}

// complete renames a pending segment after its update, and removes old segments.
func (l *Log) complete(s *Segment, size int64) error {
	if err := l.reach("rename"); err != nil {
		return err
	}
	if err := os.Rename(l.path(s.Seq, pendingExt), l.path(s.Seq, segmentExt)); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.add(file{s.Seq, size})
	if s.Kind == Promotion {
		l.origin = s
	}
	l.moved(s.Position)
	return l.prune()
}

// skip registers an update without a segment.
func (l *Log) skip(p schema.Position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.moved(p)
}

func (l *Log) moved(p schema.Position) {
	l.at = p
	close(l.changed)
	l.changed = make(chan struct{})
}

// prune removes the oldest segments above the limit, but never the newest.
func (l *Log) prune() error {
	for l.bytes > l.keep && len(l.files) > 1 {
		if err := l.reach("prune"); err != nil {
			return err
		}
		old := l.files[0]
		if err := os.Remove(l.path(old.seq, segmentExt)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if l.origin != nil && l.origin.Seq == old.seq {
			l.origin = nil
		}
		l.files, l.bytes = l.files[1:], l.bytes-old.size
	}
	return nil
}

// discard removes a pending segment whose update did not happen.
func (l *Log) discard(seq uint64) error {
	if err := l.reach("discard"); err != nil {
		return err
	}
	err := os.Remove(l.path(seq, pendingExt))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Diverged is the error of a replica whose updates are not those of the primary.
func Diverged(format string, args ...any) error {
	return model.Errorf(model.Refused, "diverged", format+": restore a copy of the primary's database, then replicate again", args...)
}

// Gap is the error of a replica that lacks segments which the primary does not have.
func Gap(seq, first uint64) error {
	return model.Errorf(model.Refused, "segment_gap", "segment %d is not available, only those from %d on: updates of a first sync "+
		"are not recorded, and old segments are removed: restore the newest snapshot or copy of the primary's database, then replicate again",
		seq, first)
}

// Follows returns an error if a replica at a position cannot continue with the segments of the log: Refused (diverged) if
// it is not at an earlier update of the database, Refused (segment_gap) if segments are missing. An empty replica has
// the zero position.
func (l *Log) Follows(at schema.Position) error {
	state, _ := l.State()
	origin, continues := l.Continues()
	switch {
	case at == schema.Position{}:
	case continues && at == origin:
	case at.Lineage != state.Lineage:
		return Diverged("the replica has the lineage %x, the primary %x", at.Lineage, state.Lineage)
	case at.Seq > state.Seq:
		return Diverged("the replica is at update %d, the primary only at %d", at.Seq, state.Seq)
	case at.Seq == state.Seq && at.Hash != state.Hash:
		return Diverged("the replica is at another update %d than the primary", at.Seq)
	}
	if at.Seq == state.Seq {
		return nil
	}
	if at.Seq+1 < state.First {
		return Gap(at.Seq+1, state.First)
	}
	b, err := l.Read(at.Seq + 1)
	if errors.Is(err, ErrMissing) { // removed in the meantime
		return Gap(at.Seq+1, at.Seq+2)
	}
	if err != nil {
		return err
	}
	if _, previous, err := Header(b); err != nil {
		return err
	} else if previous != at.Hash {
		return Diverged("the replica is at another update %d than the primary was", at.Seq)
	}
	return nil
}
