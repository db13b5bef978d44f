package replica

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"birthmark/api/segments"
	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/model"
	"birthmark/storage"
)

// Names of files in a folder of segments.
const (
	lineageName = "lineage"
	newestName  = "newest"
	fencedName  = "fenced"
)

// Folder is the feed of a folder to which a primary publishes.
type Folder struct{ Path string }

// pollEvery is how often a folder is read.
const pollEvery = 250 * time.Millisecond

func (f *Folder) path(l schema.Lineage, name string) string {
	return filepath.Join(f.Path, segment.FolderName(l), name)
}

// Follow implements [Feed].
func (f *Folder) Follow(ctx context.Context, at schema.Position, follow bool, on func(segments.Frame) error) error {
	for {
		seq, err := f.send(ctx, &at, on)
		if err != nil {
			return err
		}
		if !follow && at.Seq >= seq {
			return nil
		}
		select {
		case <-time.After(pollEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// send sends the segments after at, which it moves, and the state of the publisher. It returns the newest number.
func (f *Folder) send(ctx context.Context, at *schema.Position, on func(segments.Frame) error) (newest uint64, err error) {
	if at.Lineage == (schema.Lineage{}) {
		if at.Lineage, err = f.lineage(); err != nil {
			return 0, err
		}
	}
	for ctx.Err() == nil {
		next := at.Lineage
		to, first, fenced, err := f.fence(at.Lineage)
		switch {
		case err != nil:
			return 0, err
		case fenced && at.Seq+1 == first:
			next = to
		case fenced && at.Seq+1 > first:
			return 0, segment.Diverged("lineage %x ended at update %d, where a replica was promoted, and the replica is at update %d",
				at.Lineage, first-1, at.Seq)
		}
		b, err := os.ReadFile(f.path(next, segment.FileName(at.Seq+1)))
		if errors.Is(err, fs.ErrNotExist) {
			return f.state(at, next, on)
		}
		if err != nil {
			return 0, unreadable(err)
		}
		position, previous, err := segment.Header(b)
		if err != nil {
			return 0, err
		}
		if previous != at.Hash {
			return 0, segment.Diverged("segment %d of %s continues another update %d than the one of the replica", position.Seq, f.Path, at.Seq)
		}
		if err := on(segments.Frame{Segment: b}); err != nil {
			return 0, err
		}
		*at = position
	}
	return 0, ctx.Err()
}

// state sends the state of the publisher. The error is a gap if it has segments after a missing one.
func (f *Folder) state(at *schema.Position, lineage schema.Lineage, on func(segments.Frame) error) (uint64, error) {
	var seq uint64
	var height uint32
	text, err := os.ReadFile(f.path(lineage, newestName))
	if errors.Is(err, fs.ErrNotExist) { // nothing of the lineage was published yet
		if now, err := f.lineage(); err == nil && now != lineage && at.Seq > 0 {
			return 0, segment.Diverged("%s has the lineage %x and nothing of %x, the lineage of the replica", f.Path, now, lineage)
		}
		return at.Seq, nil
	}
	if err != nil {
		return 0, unreadable(err)
	}
	if n, _ := fmt.Sscan(string(text), &seq, &height); n != 2 {
		return 0, model.Errorf(model.BadSource, "bad_segment", "%s: %.60q: expected a number and a height", f.path(lineage, newestName), text)
	}
	if seq > at.Seq {
		if _, err := os.Stat(f.path(lineage, segment.FileName(at.Seq+1))); errors.Is(err, fs.ErrNotExist) { // else it was just published
			return 0, segment.Gap(at.Seq+1, seq)
		}
	}
	return seq, on(segments.Frame{Seq: seq, Height: model.HeightPk(height)})
}

// lineage returns the lineage of the newest publisher.
func (f *Folder) lineage() (l schema.Lineage, err error) {
	text, err := os.ReadFile(filepath.Join(f.Path, lineageName))
	if err != nil {
		return l, unreadable(err)
	}
	return l, parseLineage(&l, string(text), filepath.Join(f.Path, lineageName))
}

func parseLineage(l *schema.Lineage, text, path string) error {
	b, err := hex.DecodeString(strings.TrimSpace(text))
	if err != nil || len(b) != len(l) {
		return model.Errorf(model.BadSource, "bad_segment", "%s: %.60q: expected a lineage, 32 hexadecimal digits", path, text)
	}
	copy(l[:], b)
	return nil
}

// fence returns the lineage that continues another one, and its first number; ok is false if none does.
func (f *Folder) fence(l schema.Lineage) (to schema.Lineage, first uint64, ok bool, err error) {
	path := f.path(l, fencedName)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return to, 0, false, nil
	}
	if err != nil {
		return to, 0, false, unreadable(err)
	}
	lineage, number, _ := strings.Cut(string(text), " ")
	if n, _ := fmt.Sscan(number, &first); n != 1 {
		return to, 0, false, model.Errorf(model.BadSource, "bad_segment", "%s: %.60q: expected a lineage and a number", path, text)
	}
	return to, first, true, parseLineage(&to, lineage, path)
}

func unreadable(err error) error {
	return model.Errorf(model.BadSource, "unreachable", "the folder of segments: %w", err)
}

// create writes a file that does not exist yet. If it does, it must be equal: else ok is false.
func create(path string, b []byte) (ok bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return false, err
	}
	unfinished := path + storage.UnfinishedSuffix
	if err := storage.ReplaceFile(unfinished, 0o644, func(w io.Writer) error { _, err := w.Write(b); return err }); err != nil {
		return false, err
	}
	defer os.Remove(unfinished)
	err = os.Link(unfinished, path)
	if err == nil {
		return true, storage.SyncFolder(filepath.Dir(path))
	}
	if !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	there, err := os.ReadFile(path)
	return err == nil && bytes.Equal(there, b), err
}
