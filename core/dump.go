package core

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"hash"
	"io"
	"slices"
	"strings"

	"birthmark/core/schema"
	"birthmark/storage"
)

// Dump calls row for every row of every family that the chain determines, ordered by family name and key. The slices
// are valid until row returns. Databases with equal dumps hold the same chain and give the same answers, except for
// [DB.Forks].
func (db *DB) Dump(ctx context.Context, row func(family string, key, value []byte) error) error {
	return db.view(ctx, func(r storage.Reader, l *schema.Layout) error {
		for _, d := range dumped(l) {
			for kv, err := range r.Scan(d.Family, nil, nil, false) {
				if err != nil {
					return err
				}
				if err := row(d.Name, kv.Key, kv.Value); err != nil {
					return err
				}
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		return nil
	})
}

// Dumped returns the names of the families that [DB.Dump] writes, in its order.
func (db *DB) Dumped() []string {
	var names []string
	for _, d := range dumped(db.layout()) {
		names = append(names, d.Name)
	}
	return names
}

// Families returns the families of the database, including families that [DB.Dump] leaves out.
func (db *DB) Families() []storage.Declaration { return db.layout().Declarations() }

func dumped(l *schema.Layout) []storage.Declaration {
	ds := slices.DeleteFunc(l.Declarations(), func(d storage.Declaration) bool { return !schema.Determined(d.Family) })
	slices.SortFunc(ds, func(a, b storage.Declaration) int { return strings.Compare(a.Name, b.Name) })
	return ds
}

// Digest is the checksums of all rows of [DB.Dump] that make databases comparable. Each is the SHA-256 of lines as
// birthmark dump prints them.
type Digest struct {
	Families []FamilyDigest `json:"families"` // families with rows, by name
	Rows     uint64         `json:"rows"`
	SHA256   string         `json:"sha256"`
}

// FamilyDigest is the checksum of a family.
type FamilyDigest struct {
	Name   string `json:"name"`
	Rows   uint64 `json:"rows"`
	SHA256 string `json:"sha256"`
}

// DumpLines calls use with a line of each row: family, key and value in hex. The line is valid until use returns.
func (db *DB) DumpLines(ctx context.Context, use func(family string, line []byte) error) error {
	var line []byte
	return db.Dump(ctx, func(family string, key, value []byte) error {
		line = append(append(line[:0], family...), ' ')
		line = append(hex.AppendEncode(line, key), ' ')
		line = append(hex.AppendEncode(line, value), '\n')
		return use(family, line)
	})
}

// Digest returns the digest of one family, or of all if only is empty. progress, which may be nil, receives the number
// of rows that were read.
func (db *DB) Digest(ctx context.Context, only string, progress func(rows uint64)) (*Digest, error) {
	all, d := sha256.New(), &Digest{Families: []FamilyDigest{}}
	hashes := []hash.Hash{} // of the families
	err := db.DumpLines(ctx, func(family string, line []byte) error {
		if only != "" && only != family {
			return nil
		}
		last := len(d.Families) - 1
		if last < 0 || d.Families[last].Name != family {
			d.Families, hashes, last = append(d.Families, FamilyDigest{Name: family}), append(hashes, sha256.New()), last+1
		}
		d.Families[last].Rows++
		d.Rows++
		if progress != nil && d.Rows%10_000 == 0 {
			progress(d.Rows)
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		_, err := io.MultiWriter(all, hashes[last]).Write(line)
		return err
	})
	if err != nil {
		return nil, err
	}
	for i, h := range hashes {
		d.Families[i].SHA256 = hex.EncodeToString(h.Sum(nil))
	}
	d.SHA256 = hex.EncodeToString(all.Sum(nil))
	return d, nil
}

// Checksum returns the checksum of the totals as a database of a format has it: see the family meta in docs/schema.md.
// Format 5 adds the raw transactions.
func (db *DB) Checksum(format int) uint64 {
	db.mu.Lock()
	defer db.mu.Unlock()
	if format < 6 {
		return db.totals.Checksum + db.totals.RawChecksum
	}
	return db.totals.Checksum
}
