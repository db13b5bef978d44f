package daemon

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"birthmark/core/check"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/config"
	"birthmark/internal/progress"
	"birthmark/internal/snapshot"
	"birthmark/model"
	"birthmark/storage/rocks"
)

// RestoreSnapshot are the parameters of [Host.RestoreSnapshot].
type RestoreSnapshot struct {
	From     string // URL
	Which    string // height or name; empty: the newest
	Check    bool   // check all invariants before the database appears
	Digest   bool   // hash all rows and compare them with the manifest
	Jobs     int
	Progress func(done, total uint64) // in bytes
	Rows     func(done, total uint64) // with Check or Digest: rows that were read

	// Suits returns an error for a snapshot that must not be restored; nil: all are.
	Suits func(context.Context, *snapshot.Snapshot) error
}

// RestoreSnapshot restores a snapshot into the folder of set, which must not exist or be empty. Without a folder it is
// the default one of the snapshot's chain.
func (h *Host) RestoreSnapshot(ctx context.Context, set *config.Chain, o RestoreSnapshot) (
	s *snapshot.Snapshot, restored *snapshot.Restored, err error,
) {
	r, key, err := h.FindSnapshots(ctx, set, o.From)
	if err != nil {
		return nil, nil, err
	}
	if s, err = r.Find(ctx, o.Which, key); err != nil {
		return nil, nil, err
	}
	if err := h.checkFormat(set, s); err != nil {
		return nil, nil, err
	}
	if err := h.checkIndexes(set, s); err != nil {
		return nil, nil, err
	}
	if o.Digest && s.Digest == nil {
		return nil, nil, noDigest(s)
	}
	if o.Suits != nil {
		if err := o.Suits(ctx, s); err != nil {
			return nil, nil, err
		}
	}
	if set.Chain == "" {
		set.Chain, set.Network = s.Chain, s.Network // for the default folder
	}
	dir, err := Folder(set)
	if err != nil {
		return nil, nil, err
	}
	restored, err = r.Restore(ctx, s, dir, snapshot.RestoreOptions{
		Lock: rocks.LockName, Holder: h.holder(), Jobs: o.Jobs, Progress: o.Progress,
		Check: func(folder string) error { return h.checkRestored(ctx, set, s, folder, o) },
	})
	return s, restored, err
}

func noDigest(s *snapshot.Snapshot) error {
	return usageError("no_digest", "snapshot %s has no digest: it was created without --digest; --check checks the database too", s.Name)
}

// checkIndexes returns an error before a download if the snapshot lacks an index that the settings require.
func (h *Host) checkIndexes(set *config.Chain, s *snapshot.Snapshot) error {
	chain, err := h.MakeChain(set, s.Chain, s.Network)
	if err != nil {
		return err
	}
	if _, err := IndexesOf(set, chain); err != nil {
		return err
	}
	for _, ix := range set.Indexes {
		i := slices.IndexFunc(s.Indexes, func(has snapshot.Index) bool { return has.Name == ix.Name })
		missing := ""
		for _, option := range []struct {
			name string
			set  bool
		}{
			{"balance", ix.Options.Balance}, {"unspent", ix.Options.Unspent}, {"history", ix.Options.History}, {"prefix", ix.Options.Prefix},
			{"statistics", ix.Options.Statistics},
		} {
			if option.set && i >= 0 && !slices.Contains(s.Indexes[i].Keeps, option.name) {
				missing = "option " + option.name + " of "
			}
		}
		if i < 0 || missing != "" {
			return model.Errorf(model.Refused, "index_mismatch", "%s: snapshot %s lacks %sindex %s: leave it out to restore, and add it "+
				"with birthmark index add", ix.Origin, s.Name, missing, ix.Name)
		}
	}
	if raw := set.Raw; set.RawImplied {
		return nil
	} else if raw == config.RawKeep && s.Raw != string(raw) || raw == config.RawFiles && s.Raw != string(raw) {
		return model.Errorf(model.Refused, "no_raw", "snapshot %s has raw transactions %q, the settings require %q", s.Name, s.Raw, raw)
	}
	return nil
}

// checkRestored upgrades a database that was restored from a manifest of an earlier format, and compares it with it.
func (h *Host) checkRestored(ctx context.Context, set *config.Chain, s *snapshot.Snapshot, folder string, o RestoreSnapshot) (err error) {
	if s.Format < schema.FormatVersion {
		h.Log.Info("upgrading the restored database", "from_format", s.Format, "to_format", schema.FormatVersion)
		if _, err := h.upgrade(ctx, set, folder, true, o.Rows); err != nil {
			return fmt.Errorf("the restored database: %w", err)
		}
	}
	db, err := h.openStored(ctx, set, folder)
	if err != nil {
		return fmt.Errorf("the restored database: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	differences, err := h.compare(ctx, db, s, o.Digest, o.Rows)
	if err != nil {
		return err
	}
	if len(differences) > 0 {
		return model.Errorf(model.BadSource, "snapshot_damaged", "the restored database differs from the manifest of snapshot %s: %s",
			s.Name, strings.Join(differences, "; "))
	}
	if !o.Check {
		return nil
	}
	result, err := db.Check(ctx, check.Options{Progress: o.Rows})
	if err == nil && !result.OK {
		err = model.Errorf(model.BadSource, "snapshot_damaged", "the database of snapshot %s is inconsistent: %s: %s", s.Name,
			result.Problems[0].Family, result.Problems[0].Problem)
	}
	return err
}

// compare returns how a database with the tip of a snapshot differs from its manifest.
func (h *Host) compare(ctx context.Context, db *Database, s *snapshot.Snapshot, digest bool, rows func(done, total uint64)) (
	differences []string, err error,
) {
	status, err := db.Status(ctx)
	if err != nil {
		return nil, err
	}
	differ := func(what string, has, want any) {
		if has != want {
			differences = append(differences, fmt.Sprintf("%s is %v, expected %v", what, has, want))
		}
	}
	differ("the chain", status.Chain+" "+status.Network, s.Chain+" "+s.Network)
	tip := query.TipAnswer{}
	if status.Tip != nil {
		tip = *status.Tip
	}
	differ("the tip", fmt.Sprint(tip.Height, " ", tip.Hash), fmt.Sprint(s.Tip.Height, " ", s.Tip.Hash))
	differ("the checksum", fmt.Sprintf("%016x", db.Checksum(s.Format)), s.Checksum)
	total, has := uint64(0), map[string]bool{}
	for _, f := range status.Families {
		if has[f.Name] = true; f.Keys != nil { // snapshots of earlier releases count the others too
			differ("the number of rows of "+f.Name, *f.Keys, s.Rows[f.Name])
			total += *f.Keys
		}
	}
	for name := range s.Rows {
		if !has[name] {
			differ("family "+name, "missing", fmt.Sprint(s.Rows[name], " rows"))
		}
	}
	if !digest || len(differences) > 0 {
		return differences, nil
	}
	d, err := digestOf(ctx, db, func(done uint64) {
		if rows != nil {
			rows(done, total)
		}
	})
	if err != nil {
		return nil, err
	}
	upgraded := s.Format != schema.FormatVersion
	for name, sum := range s.Digest.Families {
		if !upgraded || name != schema.Schema[schema.FamilyMeta].Name { // an upgrade changes rows of meta
			differ("the digest of "+name, d.Families[name], sum)
		}
	}
	if !upgraded {
		differ("the digest", d.SHA256, s.Digest.SHA256)
	}
	return differences, nil
}

// ComparedSnapshot is how a database compares with a snapshot.
type ComparedSnapshot struct {
	Tip         snapshot.Tip `json:"tip"`
	SameTip     bool         `json:"same_tip"`    // all counts were compared
	Digest      bool         `json:"digest"`      // all rows were compared
	Differences []string     `json:"differences"` // empty: none
}

// CompareSnapshot compares the database of set with a snapshot. If the database has more blocks, only the block of the
// snapshot's tip is compared.
func (h *Host) CompareSnapshot(ctx context.Context, set *config.Chain, s *snapshot.Snapshot, digest bool, rows func(done, total uint64)) (
	c *ComparedSnapshot, err error,
) {
	if err := h.checkFormat(set, s); err != nil {
		return nil, err
	}
	if digest && s.Digest == nil {
		return nil, noDigest(s)
	}
	db, err := h.openStored(ctx, set, set.DB)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	status, err := db.Status(ctx)
	if err != nil {
		return nil, err
	}
	c = &ComparedSnapshot{Differences: []string{}}
	if status.Tip != nil {
		c.Tip = snapshot.Tip{Height: status.Tip.Height, Hash: status.Tip.Hash, Time: status.Tip.Time}
	}
	if c.SameTip = status.Tip != nil && status.Tip.Hash == s.Tip.Hash; c.SameTip || status.Tip == nil || status.Chain != s.Chain {
		differences, err := h.compare(ctx, db, s, digest, rows)
		c.Differences, c.Digest = append(c.Differences, differences...), digest && len(differences) == 0
		return c, err
	}
	if c.Tip.Height < s.Tip.Height {
		return c, model.Errorf(model.Refused, "behind_snapshot", "the database %s is at block %d, below block %d of snapshot %s: sync it "+
			"first", db.Dir, c.Tip.Height, s.Tip.Height, s.Name)
	}
	if digest {
		return c, model.Errorf(model.Refused, "other_tip", "the database %s is at block %d: its rows can only be compared at block %d, "+
			"the tip of snapshot %s", db.Dir, c.Tip.Height, s.Tip.Height, s.Name)
	}
	block, err := db.BlockHeader(ctx, fmt.Sprint(s.Tip.Height))
	if err == nil && block.Hash != s.Tip.Hash {
		c.Differences = append(c.Differences, fmt.Sprintf("block %d is %s, in the snapshot %s: they are of different branches of the chain",
			s.Tip.Height, block.Hash, s.Tip.Hash))
	}
	return c, err
}

// bootstrap restores the database of set if it has none and the settings name a storage of snapshots. suits is as in
// RestoreSnapshot.
func (h *Host) bootstrap(ctx context.Context, set *config.Chain, suits func(context.Context, *snapshot.Snapshot) error) error {
	if set.Bootstrap == "" {
		return nil
	}
	dir, err := Folder(set)
	if err != nil {
		return err
	}
	if found, err := HoldsDatabase(dir); found || err != nil {
		return err
	}
	t := progress.NewTransfer(h.Now)
	stop := h.Console.Watch(h.Log, "restore", t.Reading)
	defer stop()
	s, restored, err := h.RestoreSnapshot(ctx, set, RestoreSnapshot{From: set.Bootstrap, Progress: t.Advance, Suits: suits})
	stop()
	if err != nil {
		return fmt.Errorf("bootstrap: %w", err)
	}
	h.Log.Info("restored a snapshot", "db", dir, "snapshot", s.Name, "height", s.Tip.Height, "bytes", s.Bytes,
		"downloaded_bytes", restored.DownloadedBytes, "signed_by", s.SignedBy)
	return nil
}
