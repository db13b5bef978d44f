package snapshot

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"

	"birthmark/internal/snapshot/target"
	"birthmark/model"
)

// maxDocument limits the size of manifests, signatures and latest.json.
const maxDocument = 64 << 20

// Repository is the storage with the snapshots of one chain and network.
type Repository struct {
	storage target.Target
	prefix  string // of all names: CHAIN-NETWORK/, or empty
}

// NewRepository returns the repository of a chain and network in a storage. It may not exist yet.
func NewRepository(t target.Target, chain, network string) *Repository {
	return &Repository{t, folderOf(chain, network) + "/"}
}

// folderOf returns the name of the folder of a chain and network.
func folderOf(chain, network string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '_'
	}, chain+"-"+network)
}

// FindRepository returns the repository of a chain and network in a storage, or the only one there is if chain is empty.
// The URL of the storage may also be that of a repository. The error is of kind NotFound (no_snapshot) without one.
func FindRepository(ctx context.Context, t target.Target, chain, network string) (*Repository, error) {
	var prefixes []string
	if chain != "" {
		prefixes = []string{folderOf(chain, network) + "/"}
	}
	for _, prefix := range append(prefixes, "") {
		r := &Repository{t, prefix}
		if _, err := r.latest(ctx); err == nil {
			return r, nil
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	if chain != "" {
		return nil, noSnapshot("%s has no snapshot of %s %s", t, chain, network)
	}
	found, err := repositoriesIn(ctx, t)
	switch {
	case errors.Is(err, target.ErrNoList):
		return nil, noSnapshot("%s has no snapshot: select the chain with --chain, and with --network if it is not the main one", t)
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, noSnapshot("%s has no snapshot", t)
	case len(found) > 1:
		return nil, model.Errorf(model.Usage, "which_chain", "%s has snapshots of %s: select one with --chain and --network",
			t, strings.Join(found, ", "))
	}
	return &Repository{t, found[0] + "/"}, nil
}

// repositoriesIn returns the folders of a storage that hold a repository.
func repositoriesIn(ctx context.Context, t target.Target) (found []string, err error) {
	folders, err := t.Folders(ctx)
	for _, name := range folders {
		r := &Repository{t, name + "/"}
		if _, err := r.latest(ctx); err == nil {
			found = append(found, name)
		} else if !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	slices.Sort(found)
	return found, err
}

func noSnapshot(format string, args ...any) error {
	return model.Errorf(model.NotFound, "no_snapshot", format, args...)
}

// String returns the URL of the repository, without secrets.
func (r *Repository) String() string {
	if r.prefix == "" {
		return r.storage.String()
	}
	base, query, ok := strings.Cut(r.storage.String(), "?")
	if base = strings.TrimSuffix(base, "/") + "/" + strings.TrimSuffix(r.prefix, "/"); ok {
		base += "?" + query
	}
	return base
}

// read returns a document of the repository. The error wraps [fs.ErrNotExist] if it does not exist.
func (r *Repository) read(ctx context.Context, name string) (text []byte, err error) {
	err = retry(ctx, func() error {
		f, err := r.storage.Open(ctx, r.prefix+name, 0)
		if err != nil {
			return err
		}
		defer f.Close()
		text, err = io.ReadAll(io.LimitReader(f, maxDocument+1))
		return err
	})
	if err == nil && len(text) > maxDocument {
		err = damaged("%s has more than %d bytes", name, maxDocument)
	}
	return text, err
}

// write stores a document.
func (r *Repository) write(ctx context.Context, name string, text []byte) error {
	return r.storage.Put(ctx, r.prefix+name, content(text))
}

// latest reads latest.json. The error wraps [fs.ErrNotExist] if it does not exist.
func (r *Repository) latest(ctx context.Context) (*latest, error) {
	text, err := r.read(ctx, latestName)
	if err != nil {
		return nil, err
	}
	return parseLatest(text)
}

// names returns the names of all complete snapshots, newest first: those in the storage if it can be listed, else those
// in latest.json.
func (r *Repository) names(ctx context.Context) (names []string, err error) {
	for e, err := range r.storage.List(ctx, r.prefix+snapshotsFolder) {
		if errors.Is(err, target.ErrNoList) {
			l, err := r.latest(ctx)
			if err != nil {
				return nil, err
			}
			return l.Snapshots, nil
		}
		if err != nil {
			return nil, err
		}
		if name, ok := strings.CutSuffix(path.Base(e.Name), manifestSuffix); ok && nameForm.MatchString(name) {
			names = append(names, name)
		}
	}
	newestFirst(names)
	return names, nil
}

// Snapshot is a snapshot in a repository.
type Snapshot struct {
	Name string
	*Manifest
	SignedBy string // the identifier of the trusted key that verified the signature; empty: not verified
	Signed   bool   // there is a signature
}

// Find returns a snapshot: the newest if which is empty, else the newest with that height, or the one whose name begins
// with which. If key is not nil, the snapshot must be signed with it.
func (r *Repository) Find(ctx context.Context, which string, key *TrustedKey) (*Snapshot, error) {
	var name string
	if which == "" {
		l, err := r.latest(ctx)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, noSnapshot("%s has no snapshot", r)
		}
		if err != nil {
			return nil, err
		}
		name = l.Snapshot
	} else {
		names, err := r.names(ctx)
		if err != nil {
			return nil, err
		}
		height, bad := strconv.ParseUint(which, 10, 32)
		i := slices.IndexFunc(names, func(name string) bool {
			return bad == nil && heightOf(name) == height || bad != nil && strings.HasPrefix(name, which)
		})
		if i < 0 {
			return nil, noSnapshot("%s has no snapshot %.80s: birthmark snapshot list shows all", r, which)
		}
		name = names[i]
	}
	return r.open(ctx, name, key)
}

// open reads the manifest of a snapshot.
func (r *Repository) open(ctx context.Context, name string, key *TrustedKey) (*Snapshot, error) {
	text, err := r.read(ctx, snapshotsFolder+"/"+name+manifestSuffix)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, damaged("%s has no manifest of snapshot %s", r, name)
	}
	if err != nil {
		return nil, err
	}
	s := &Snapshot{Name: name}
	signature, err := r.read(ctx, snapshotsFolder+"/"+name+signatureSuffix)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	s.Signed = err == nil
	if key != nil {
		if !s.Signed {
			return nil, refuseSignature("snapshot %s is not signed, but --trust requires the signature of key %s", name, key.ID())
		}
		if err := key.verify(name, text, signature); err != nil {
			return nil, err
		}
		s.SignedBy = key.ID()
	}
	s.Manifest, err = parseManifest(name, text)
	return s, err
}

// List returns all snapshots, newest first, and the name of the latest one.
func (r *Repository) List(ctx context.Context) (all []*Snapshot, newest string, err error) {
	names, err := r.names(ctx)
	if err != nil {
		return nil, "", err
	}
	l, err := r.latest(ctx)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, "", err
	}
	if l != nil {
		newest = l.Snapshot
	}
	for _, name := range names {
		s, err := r.open(ctx, name, nil)
		if err != nil {
			return nil, "", err
		}
		all = append(all, s)
	}
	return all, newest, nil
}

// CheckChain returns an error if a snapshot is of another chain or network, or of a format or by a version of RocksDB
// that this program cannot read. It reads format, and upgrades the formats from oldest on.
func (s *Snapshot) CheckChain(chain, network string, oldest, format int, engine Engine) error {
	refuse := func(code, format string, args ...any) error {
		return model.Errorf(model.Refused, code, "snapshot "+s.Name+" "+format, args...)
	}
	switch {
	case chain != "" && s.Chain != chain:
		return refuse("wrong_chain", "contains %s, not %s", s.Chain, chain)
	case network != "" && s.Network != network:
		return refuse("wrong_network", "contains %s %s, not %s", s.Chain, s.Network, network)
	case s.Format < oldest || s.Format > format:
		return refuse("wrong_format", "has a database of format %d, this program reads the formats %d to %d: use the program that "+
			"created it (%s), or another snapshot", s.Format, oldest, format, s.Made.By)
	case s.Engine.Name != engine.Name || newer(s.Engine.Version, engine.Version):
		return refuse("wrong_format", "was written by %s %s, which is newer than the %s %s of this program: use a program that is "+
			"built with it", s.Engine.Name, s.Engine.Version, engine.Name, engine.Version)
	}
	return nil
}

// newer reports whether version a is a later minor version than b. Patch versions read each other's files.
func newer(a, b string) bool {
	part := func(version string, i int) int {
		parts := strings.Split(version, ".")
		if i >= len(parts) {
			return 0
		}
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			return 1 << 30 // not a version that this program knows
		}
		return n
	}
	for i := range 2 {
		if x, y := part(a, i), part(b, i); x != y {
			return x > y
		}
	}
	return false
}

// content returns a document as the content of a file.
func content(text []byte) target.Content {
	return target.Content{Bytes: bytes.NewReader(text), Size: int64(len(text)), SHA256: sum256(text)}
}

// badTarget returns the error of a repository that cannot be written.
func badTarget(r *Repository) error {
	return model.Errorf(model.Usage, "bad_url", "%s: %w", r, target.ErrReadOnly)
}
