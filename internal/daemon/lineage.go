package daemon

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"

	"birthmark/api/segments"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/core/segment"
	"birthmark/internal/replica"
	"birthmark/internal/snapshot"
	"birthmark/model"
)

// updateOf returns the last update of a database for its manifest; nil if its updates are not numbered.
func updateOf(ctx context.Context, db *Database) (*snapshot.Update, error) {
	at, known, _, err := segment.Position(ctx, db.Store)
	if err != nil || !known {
		return nil, err
	}
	return &snapshot.Update{Lineage: hex.EncodeToString(at.Lineage[:]), Seq: at.Seq, Hash: hex.EncodeToString(at.Hash[:])}, nil
}

// positionOf is the inverse of updateOf; ok is false for a snapshot without an update.
func positionOf(s *snapshot.Snapshot) (at schema.Position, ok bool, err error) {
	if s.Update == nil {
		return at, false, nil
	}
	lineage, err1 := hex.DecodeString(s.Update.Lineage)
	hash, err2 := hex.DecodeString(s.Update.Hash)
	copy(at.Lineage[:], lineage)
	copy(at.Hash[:], hash)
	at.Seq = s.Update.Seq
	return at, true, errors.Join(err1, err2)
}

// continues returns an error if the snapshot m of a database must not become the latest one of a repository: if the
// latest is of another branch of the chain, which the database never followed, or of a newer copy of the database.
func continues(ctx context.Context, db *Database, r *snapshot.Repository, m *snapshot.Manifest) error {
	last, err := r.Find(ctx, "", nil)
	if kind, code := model.KindOf(err); kind == model.NotFound || code == "snapshot_damaged" {
		return nil // the new snapshot repairs it
	}
	if err != nil {
		return err
	}
	refuse := func(code, format string, args ...any) error {
		return model.Errorf(model.Refused, code, "snapshot %s, the latest of %s, %s: use another folder or bucket, or birthmark snapshot "+
			"create --force", last.Name, r, fmt.Sprintf(format, args...))
	}
	if a, b := m.Update, last.Update; a != nil && b != nil && a.Lineage == b.Lineage && (a.Seq < b.Seq || a.Seq == b.Seq && a.Hash != b.Hash) {
		return refuse("older_copy", "has update %d of lineage %s, and this database is another copy at update %d", b.Seq, b.Lineage, a.Seq)
	}
	if last.Tip.Height > m.Tip.Height {
		return nil // it cannot be compared
	}
	block, err := db.BlockHeader(ctx, fmt.Sprint(last.Tip.Height))
	if err != nil || block.Hash == last.Tip.Hash {
		return err
	}
	orphans, err := db.Forks(ctx, query.Page{Limit: query.MaxLimit})
	if err != nil || slices.ContainsFunc(orphans.Forks, func(o query.LostBlockAnswer) bool { return o.Hash == last.Tip.Hash }) {
		return err
	}
	return refuse("other_branch", "ends with block %d %s, and this database has block %s there: it is of another branch of the chain, "+
		"which this database never followed", last.Tip.Height, last.Tip.Hash, block.Hash)
}

// errAsked ends a feed after its first frame.
var errAsked = errors.New("the first frame")

// follows returns an error if a replica that is restored from a snapshot could not follow a feed. The kind is Refused:
// other_lineage if the snapshot has no update of the primary, or the codes of the feed, such as segment_gap.
func follows(ctx context.Context, s *snapshot.Snapshot, feed replica.Feed) error {
	at, ok, err := positionOf(s)
	if err != nil {
		return err
	}
	if !ok {
		return model.Errorf(model.Refused, "other_lineage", "snapshot %s is of a database that records no segments: expected one of the "+
			"primary, created after segments.keep was set", s.Name)
	}
	err = feed.Follow(ctx, at, false, func(segments.Frame) error { return errAsked })
	if errors.Is(err, errAsked) {
		return nil
	}
	if _, code := model.KindOf(err); code == "diverged" {
		return model.Errorf(model.Refused, "other_lineage", "snapshot %s has update %d of lineage %s, which the primary does not have: %w", s.Name,
			at.Seq, s.Update.Lineage, err)
	}
	return err
}
