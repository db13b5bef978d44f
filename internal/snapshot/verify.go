package snapshot

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync/atomic"

	"birthmark/model"
)

// Problem is a fault of a stored file.
type Problem struct {
	File    string `json:"file"` // in the repository
	Problem string `json:"problem"`
}

// Verify reads every file of a snapshot and compares it with its SHA-256. It reports all files at fault, in the order of
// the manifest; an error means that the storage failed.
func (r *Repository) Verify(ctx context.Context, s *Snapshot, jobs int, progress func(done, total uint64)) ([]Problem, error) {
	if jobs == 0 {
		jobs = Jobs
	}
	found := make([]string, len(s.Files))
	var done atomic.Int64
	advance := func(n int64) {
		if now := done.Add(n); progress != nil {
			progress(uint64(max(0, min(now, s.Bytes))), uint64(s.Bytes))
		}
	}
	err := parallel(ctx, len(s.Files), jobs, func(ctx context.Context, i int) (err error) {
		found[i], err = r.verify(ctx, s.Files[i], advance)
		return err
	})
	if err != nil {
		return nil, err
	}
	var problems []Problem
	for i, text := range found {
		if text != "" {
			problems = append(problems, Problem{s.Files[i].stored(), text + " (" + s.Files[i].Name + ")"})
		}
	}
	return problems, nil
}

// verify returns the fault of a file; empty without one.
func (r *Repository) verify(ctx context.Context, f File, advance func(int64)) (problem string, err error) {
	sum, size := sha256.New(), int64(0)
	err = retry(ctx, func() error {
		if size >= f.Size && size > 0 {
			return nil
		}
		from, err := r.storage.Open(ctx, r.prefix+f.stored(), size)
		if err != nil {
			return err
		}
		defer from.Close()
		_, err = io.Copy(writerFunc(func(b []byte) (int, error) {
			size += int64(len(b))
			advance(int64(len(b)))
			return sum.Write(b)
		}), io.LimitReader(reader{ctx, from}, f.Size+1-size))
		return err
	})
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "missing", nil
	case err != nil:
		return "", err
	case size > f.Size:
		return fmt.Sprintf("longer than the expected %d bytes", f.Size), nil
	case size < f.Size:
		return fmt.Sprintf("has %d bytes, expected %d", size, f.Size), nil
	}
	if text := fmt.Sprintf("%x", sum.Sum(nil)); text != f.SHA256 {
		return "has SHA-256 " + text, nil
	}
	return "", nil
}

// VerifyAll checks latest.json, and the manifests of all snapshots that it names. key is as for Find.
func (r *Repository) VerifyAll(ctx context.Context, key *TrustedKey) (problems []Problem, err error) {
	l, err := r.latest(ctx)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, noSnapshot("%s has no snapshot", r)
	}
	if fault(err) {
		return []Problem{{latestName, err.Error()}}, nil
	}
	if err != nil {
		return nil, err
	}
	for _, name := range l.Snapshots {
		if _, err := r.open(ctx, name, key); fault(err) {
			problems = append(problems, Problem{snapshotsFolder + "/" + name + manifestSuffix, err.Error()})
		} else if err != nil {
			return nil, err
		}
	}
	return problems, nil
}

// fault reports whether err is about the content of a repository and not about reaching it.
func fault(err error) bool {
	_, code := model.KindOf(err)
	return code == "snapshot_damaged" || code == "bad_signature"
}
