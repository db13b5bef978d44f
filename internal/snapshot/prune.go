package snapshot

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"birthmark/internal/snapshot/target"
)

// Pruned is the result of [Repository.Prune].
type Pruned struct {
	Kept    []string // newest first
	Removed []string
	Files   int
	Bytes   int64 // of the removed files
}

// Prune removes all snapshots but the newest ones, and then the files that no snapshot contains. It never removes the
// latest snapshot, nor files that were stored in the last 24 hours: a snapshot may be being created. It removes no file
// if a manifest cannot be read.
func (r *Repository) Prune(ctx context.Context, keep int, now time.Time) (*Pruned, error) {
	names, err := r.listed(ctx)
	if err != nil {
		return nil, err
	}
	l, err := r.latest(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	p := new(Pruned)
	for i, name := range names {
		if i < keep || l != nil && name == l.Snapshot {
			p.Kept = append(p.Kept, name)
		} else {
			p.Removed = append(p.Removed, name)
		}
	}
	if l != nil && len(p.Removed) > 0 {
		text, err := (&latest{l.Snapshot, p.Kept}).encode()
		if err != nil {
			return nil, err
		}
		if err := r.write(ctx, latestName, text); err != nil {
			return nil, err
		}
	}
	for _, name := range p.Removed {
		for _, suffix := range []string{manifestSuffix, signatureSuffix} {
			if err := r.storage.Remove(ctx, r.prefix+snapshotsFolder+"/"+name+suffix); err != nil {
				return nil, err
			}
		}
	}
	return p, r.removeUnused(ctx, p, now)
}

// listed returns the names of all snapshots of storage that can be written.
func (r *Repository) listed(ctx context.Context) ([]string, error) {
	for _, err := range r.storage.List(ctx, r.prefix+snapshotsFolder) {
		if errors.Is(err, target.ErrNoList) {
			return nil, badTarget(r)
		}
		break
	}
	return r.names(ctx)
}

// removeUnused removes files that no snapshot contains. The files are listed before the manifests: a file that is stored
// later is not in the list.
func (r *Repository) removeUnused(ctx context.Context, p *Pruned, now time.Time) error {
	var old []target.Entry
	for _, folder := range []string{filesFolder, snapshotsFolder} {
		for e, err := range r.storage.List(ctx, r.prefix+folder) {
			if err != nil {
				return err
			}
			if now.Sub(e.Time) > removeAfter {
				old = append(old, e)
			}
		}
	}
	names, err := r.names(ctx)
	if err != nil {
		return err
	}
	used := map[string]bool{}
	for _, name := range names {
		s, err := r.open(ctx, name, nil)
		if err != nil {
			return err
		}
		for _, f := range s.Files {
			used[f.SHA256] = true
		}
	}
	for _, e := range old {
		base := path.Base(e.Name)
		if strings.HasPrefix(e.Name, r.prefix+snapshotsFolder+"/") {
			name, signature := strings.CutSuffix(base, signatureSuffix)
			if !signature || slices.Contains(names, name) {
				continue // signatures of manifests that were never written are removed
			}
		} else if used[base] {
			continue
		}
		if err := r.storage.Remove(ctx, e.Name); err != nil {
			return err
		}
		p.Files++
		p.Bytes += e.Size
	}
	return nil
}
