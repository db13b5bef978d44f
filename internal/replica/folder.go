package replica

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"time"

	"birthmark/api/segments"
	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/internal/snapshot/target"
	"birthmark/model"
)

// Names of files in a folder of segments.
const (
	lineageName = "lineage"
	newestName  = "newest"
	fencedName  = "fenced"
)

// Folder is the feed of a folder or bucket to which a primary publishes.
type Folder struct {
	Files target.Target
	Every time.Duration // how often it is read; 0: pollEvery
}

// Intervals at which a folder and a bucket, whose requests cost more, are read.
const (
	pollEvery   = 250 * time.Millisecond
	pollBucket  = 2 * time.Second
	maxDocument = 4096 // bytes of a file that is not a segment
)

// in returns the name of a file of a lineage.
func in(l schema.Lineage, name string) string { return segment.FolderName(l) + "/" + name }

// read returns a file. The error wraps [fs.ErrNotExist] if it does not exist.
func (f *Folder) read(ctx context.Context, name string, most int64) ([]byte, error) {
	r, err := f.Files.Open(ctx, name, 0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, most+1))
	if err == nil && int64(len(b)) > most {
		err = model.Errorf(model.BadSource, "bad_segment", "%s of %s has more than %d bytes", name, f.Files, most)
	}
	return b, err
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
		case <-time.After(cmp.Or(f.Every, pollEvery)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// send sends the segments after at, which it moves, and the state of the publisher. It returns the newest number.
func (f *Folder) send(ctx context.Context, at *schema.Position, on func(segments.Frame) error) (newest uint64, err error) {
	if at.Lineage == (schema.Lineage{}) {
		if at.Lineage, err = f.lineage(ctx); err != nil {
			return 0, err
		}
	}
	var reported time.Time
	for ctx.Err() == nil {
		next := at.Lineage
		if now := time.Now(); now.Sub(reported) >= pollBucket { // a replica that is behind shows how far
			reported = now
			if seq, height, err := f.newest(ctx, at.Lineage); err == nil && seq > at.Seq {
				if err := on(segments.Frame{Seq: seq, Height: height}); err != nil {
					return 0, err
				}
			}
		}
		to, first, fenced, err := f.fence(ctx, at.Lineage)
		switch {
		case err != nil:
			return 0, err
		case fenced && at.Seq+1 == first:
			next = to
		case fenced && at.Seq+1 > first:
			return 0, segment.Diverged("lineage %x ended at update %d, where a replica was promoted, and the replica is at update %d",
				at.Lineage, first-1, at.Seq)
		}
		b, err := f.read(ctx, in(next, segment.FileName(at.Seq+1)), segment.MaxSize)
		if errors.Is(err, fs.ErrNotExist) {
			return f.state(ctx, at, next, on)
		}
		if err != nil {
			return 0, unreadable(err)
		}
		position, previous, err := segment.Header(b)
		if err != nil {
			return 0, err
		}
		if previous != at.Hash {
			return 0, segment.Diverged("segment %d of %s continues another update %d than the one of the replica", position.Seq, f.Files, at.Seq)
		}
		if err := on(segments.Frame{Segment: b}); err != nil {
			return 0, err
		}
		*at = position
	}
	return 0, ctx.Err()
}

// state sends the state of the publisher. The error is a gap if it has segments after a missing one.
func (f *Folder) state(ctx context.Context, at *schema.Position, lineage schema.Lineage, on func(segments.Frame) error) (uint64, error) {
	seq, height, err := f.newest(ctx, lineage)
	if errors.Is(err, fs.ErrNotExist) { // nothing of the lineage was published yet
		if now, err := f.lineage(ctx); err == nil && now != lineage && at.Seq > 0 {
			return 0, segment.Diverged("%s has the lineage %x and nothing of %x, the lineage of the replica", f.Files, now, lineage)
		}
		return at.Seq, nil
	}
	if err != nil {
		return 0, err
	}
	if seq > at.Seq {
		r, err := f.Files.Open(ctx, in(lineage, segment.FileName(at.Seq+1)), 0)
		if errors.Is(err, fs.ErrNotExist) {
			return 0, segment.Gap(at.Seq+1, seq)
		}
		if err == nil { // it was just published
			err = r.Close()
		}
		if err != nil {
			return 0, unreadable(err)
		}
	}
	return seq, on(segments.Frame{Seq: seq, Height: height})
}

// newest returns the number of the newest segment of a lineage and the height of its publisher. The error wraps
// [fs.ErrNotExist] if nothing of the lineage was published yet.
func (f *Folder) newest(ctx context.Context, lineage schema.Lineage) (seq uint64, height model.HeightPk, err error) {
	text, err := f.read(ctx, in(lineage, newestName), maxDocument)
	if err != nil {
		return 0, 0, unreadable(err)
	}
	if n, _ := fmt.Sscan(string(text), &seq, &height); n != 2 {
		return 0, 0, model.Errorf(model.BadSource, "bad_segment", "%s: %.60q: expected a number and a height", in(lineage, newestName), text)
	}
	return seq, height, nil
}

// lineage returns the lineage of the newest publisher.
func (f *Folder) lineage(ctx context.Context) (l schema.Lineage, err error) {
	text, err := f.read(ctx, lineageName, maxDocument)
	if err != nil {
		return l, unreadable(err)
	}
	return l, parseLineage(&l, string(text), lineageName)
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
func (f *Folder) fence(ctx context.Context, l schema.Lineage) (to schema.Lineage, first uint64, ok bool, err error) {
	path := in(l, fencedName)
	text, err := f.read(ctx, path, maxDocument)
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

// create stores a file that does not exist yet. If it does, it must be equal: else ok is false.
func (f *Folder) create(ctx context.Context, name string, b []byte) (ok bool, err error) {
	err = f.Files.Create(ctx, name, content(b))
	if !errors.Is(err, fs.ErrExist) {
		return err == nil, err
	}
	there, err := f.read(ctx, name, segment.MaxSize)
	return err == nil && bytes.Equal(there, b), err
}

func (f *Folder) replace(ctx context.Context, name, text string) error {
	return f.Files.Put(ctx, name, content([]byte(text)))
}

func content(b []byte) target.Content {
	return target.Content{Bytes: bytes.NewReader(b), Size: int64(len(b)), SHA256: sha256.Sum256(b)}
}
