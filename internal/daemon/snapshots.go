package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"birthmark/core"
	"birthmark/core/schema"
	"birthmark/core/upgrade"
	"birthmark/internal/config"
	"birthmark/internal/control"
	"birthmark/internal/snapshot"
	"birthmark/internal/snapshot/target"
	"birthmark/model"
	"birthmark/storage"
	"birthmark/storage/rocks"
)

// storageAt returns the storage of snapshots or segments at a URL.
func storageAt(set *config.Chain, url string, write bool) (target.Target, error) {
	o := storageOptions(set)
	o.Write = write
	return target.Open(url, o)
}

func storageOptions(set *config.Chain) target.Options {
	return target.Options{CredentialsFile: set.Snapshots.CredentialsFile, LookupEnv: os.LookupEnv, PlainHTTP: set.Trust != ""}
}

// FindSnapshots returns the repository of the chain of set at a URL, and the key that its snapshots must be signed with.
func (h *Host) FindSnapshots(ctx context.Context, set *config.Chain, url string) (*snapshot.Repository, *snapshot.TrustedKey, error) {
	storage, err := storageAt(set, url, false)
	if err != nil {
		return nil, nil, err
	}
	var key *snapshot.TrustedKey
	if set.Trust != "" {
		if key, err = snapshot.ParseTrustedKey(set.Trust); err != nil {
			return nil, nil, err
		}
	}
	name, network, err := h.chainName(set)
	if err != nil {
		return nil, nil, err
	}
	r, err := snapshot.FindRepository(ctx, storage, name, network)
	return r, key, err
}

// chainName returns the name and the network of the chain that is set; empty if none is.
func (h *Host) chainName(set *config.Chain) (name, network string, err error) {
	if set.Chain == "" {
		return "", "", nil
	}
	chain, err := h.Chain(set)
	if err != nil {
		return "", "", err
	}
	return chain.Name(), chain.Network(), nil
}

// engine is the store of this program.
func engine() snapshot.Engine { return snapshot.Engine{Name: "rocksdb", Version: rocks.Version()} }

// CreateSnapshot are the parameters of [Host.CreateSnapshot].
type CreateSnapshot struct {
	To       string // URL
	Digest   bool   // also hash all rows
	Force    bool   // also if the latest snapshot there is of another branch, or of a newer copy of the database
	Jobs     int
	Progress func(done, total uint64) // in bytes
	Hashing  func(rows uint64)        // with Digest
}

// CreateSnapshot stores a snapshot of the database of set, also while another process writes the database.
func (h *Host) CreateSnapshot(ctx context.Context, set *config.Chain, o CreateSnapshot) (
	r *snapshot.Repository, created *snapshot.Created, err error,
) {
	dir, err := ExistingFolder(set)
	if err != nil {
		return nil, nil, err
	}
	to, err := storageAt(set, o.To, true)
	if err != nil {
		return nil, nil, err
	}
	var key *snapshot.SigningKey
	if set.Snapshots.Sign != "" {
		password, err := set.Snapshots.SigningPassword()
		if err != nil {
			return nil, nil, err
		}
		if key, err = snapshot.ReadSigningKey(set.Snapshots.Sign, password); err != nil {
			return nil, nil, err
		}
	}
	work, err := snapshot.BeginWork(dir, h.holder())
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, work.End()) }()
	if err := h.requestCheckpoint(ctx, set, dir); err != nil {
		return nil, nil, err
	}
	r, m, err := h.describe(ctx, set, to, work.Checkpoint(), o)
	if err != nil {
		return nil, nil, err
	}
	created, err = r.Create(ctx, work.Checkpoint(), m, snapshot.CreateOptions{Work: work, Key: key, Jobs: o.Jobs, Progress: o.Progress})
	return r, created, err
}

// A process that ends removes its control socket before it releases the lock, and one that starts takes the lock before
// it serves the socket.
const (
	checkpointTries = 10
	checkpointPause = 200 * time.Millisecond
)

// requestCheckpoint lets the process that writes the database create a checkpoint. If there is none, this process does it.
func (h *Host) requestCheckpoint(ctx context.Context, set *config.Chain, dir string) error {
	for try := 1; ; try++ {
		_, err := control.Ask(ctx, dir, control.Request{Do: control.Checkpoint})
		if !errors.Is(err, control.ErrNobody) {
			return err
		}
		err = h.checkpointHere(ctx, set, dir)
		if _, locked := errors.AsType[*storage.LockedError](err); !locked || try == checkpointTries {
			return err
		}
		select {
		case <-time.After(checkpointPause):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// checkpointHere creates a checkpoint of a database that no process writes.
func (h *Host) checkpointHere(ctx context.Context, set *config.Chain, dir string) (err error) {
	store, err := rocks.Open(dir, rocks.Options{WAL: set.WAL, Compression: set.Compression, Holder: h.holder()})
	if err != nil {
		return cannotOpen(err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	return checkpoint(ctx, store, dir)
}

// checkpoint creates the checkpoint of the database in dir.
func checkpoint(ctx context.Context, store storage.Store, dir string) error {
	c, ok := store.(storage.Checkpointer)
	if !ok {
		return usageError("no_checkpoint", "the store of %s has no checkpoints", dir)
	}
	return c.Checkpoint(ctx, snapshot.CheckpointOf(dir))
}

// describe returns the manifest of a checkpoint, without its files, and the repository that it belongs to. The error is
// Refused (other_branch, older_copy) if the snapshot must not become the latest one there.
func (h *Host) describe(ctx context.Context, set *config.Chain, to target.Target, checkpoint string, o CreateSnapshot) (
	r *snapshot.Repository, m snapshot.Manifest, err error,
) {
	db, err := h.openStored(ctx, set, checkpoint)
	if err != nil {
		return nil, m, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	status, err := db.Status(ctx)
	if err != nil {
		return nil, m, err
	}
	if status.Tip == nil {
		return nil, m, model.Errorf(model.Refused, "no_block", "the database %s has no block yet", set.DB)
	}
	m = snapshot.Manifest{
		Chain: status.Chain, Network: status.Network, Format: status.Format, Raw: string(rawOf(db)),
		Tip:  snapshot.Tip{Height: status.Tip.Height, Hash: status.Tip.Hash, Time: status.Tip.Time},
		Rows: map[string]uint64{}, Checksum: fmt.Sprintf("%016x", db.Checksum(status.Format)), Engine: engine(),
		Made: snapshot.Made{At: h.Now().UTC().Truncate(time.Millisecond), By: "birthmark " + cmp.Or(h.Version, "unknown")},
	}
	for _, ix := range status.Indexes {
		m.Indexes = append(m.Indexes, snapshot.Index{Name: ix.Name, Kind: ix.Kind, Keeps: ix.Keeps, When: ix.When, Value: ix.Value})
	}
	for _, f := range status.Families {
		if f.Keys != nil {
			m.Rows[f.Name] = *f.Keys
		}
	}
	if m.Update, err = updateOf(ctx, db); err != nil {
		return nil, m, err
	}
	r = snapshot.NewRepository(to, m.Chain, m.Network)
	if !o.Force {
		if err := continues(ctx, db, r, &m); err != nil {
			return nil, m, err
		}
	}
	if o.Digest {
		if m.Digest, err = digestOf(ctx, db, o.Hashing); err != nil {
			return nil, m, err
		}
	}
	return r, m, nil
}

func rawOf(db *Database) config.Raw {
	switch {
	case db.KeepsRaw():
		return config.RawKeep
	case db.HasRawFiles():
		return config.RawFiles
	}
	return config.RawOff
}

func digestOf(ctx context.Context, db *Database, progress func(uint64)) (*snapshot.Digest, error) {
	d, err := db.Digest(ctx, "", progress)
	if err != nil {
		return nil, err
	}
	digest := &snapshot.Digest{Rows: d.Rows, SHA256: d.SHA256, Families: map[string]string{}}
	for _, f := range d.Families {
		digest.Families[f.Name] = f.SHA256
	}
	return digest, nil
}

// openStored opens the database in a folder for reading, with what is stored in it and without a node.
func (h *Host) openStored(ctx context.Context, set *config.Chain, dir string) (*Database, error) {
	stored := *set
	stored.DB, stored.Indexes, stored.Raw, stored.Node = dir, nil, config.RawOff, ""
	return h.OpenReading(ctx, &stored, core.Options{})
}

// checkFormat returns an error if this program cannot restore a snapshot, or if it is of another chain than set.
func (h *Host) checkFormat(set *config.Chain, s *snapshot.Snapshot) error {
	name, network, err := h.chainName(set)
	if err != nil {
		return err
	}
	return s.CheckChain(name, network, upgrade.Oldest, schema.FormatVersion, engine())
}
