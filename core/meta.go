package core

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"birthmark/model"
	"birthmark/storage"
)

// Names in the meta family.
var (
	metaFormat  = []byte("format")
	metaChain   = []byte("chain")
	metaNetwork = []byte("network")
	metaIndexes = []byte("indexes")
	metaTip     = []byte("tip")
	metaTotals  = []byte("totals")
	metaRaw     = []byte("raw") // there where transactions' bytes are kept
)

// Identity says what a database holds.
type Identity struct {
	Chain, Network string
	Format         int
	Definitions    []model.Definition // of the indexes that are its user's; none of a database of another format
}

// Identify reads the identity of a database; not ok where the store is empty.
func Identify(ctx context.Context, s storage.Store) (id Identity, ok bool, err error) {
	if err := s.Declare(schema[familyMeta].Declaration); err != nil {
		return id, false, err
	}
	err = s.View(ctx, func(r storage.Reader) error {
		id, ok, err = readIdentity(r)
		return err
	})
	return id, ok, err
}

func readIdentity(r storage.Reader) (id Identity, ok bool, err error) {
	vs, err := r.GetMany(familyMeta, [][]byte{metaFormat, metaChain, metaNetwork, metaIndexes})
	if err != nil || vs[0] == nil {
		return id, false, err
	}
	f := reader{b: vs[0]}
	id = Identity{Chain: string(vs[1]), Network: string(vs[2]), Format: f.size("format")}
	if err := f.end(); err != nil {
		return id, false, fmt.Errorf("meta format: %w", err)
	}
	if id.Format != FormatVersion {
		return id, true, nil
	}
	entries, _, err := parseCatalogue(vs[3])
	if err != nil {
		return id, false, fmt.Errorf("meta indexes: %w", err)
	}
	for _, e := range entries {
		if e.own && e.live|e.coming != 0 {
			id.Definitions = append(id.Definitions, e.definition)
		}
	}
	return id, true, nil
}

func appendTip(b []byte, p model.Point) []byte {
	b = p.Height.AppendTo(b)
	b = append(b, p.Hash[:]...)
	return binary.AppendUvarint(b, p.Slot)
}

func parseTip(b []byte) (model.Point, error) {
	r := reader{b: b}
	h, err := model.ParseHeightPk(r.take(model.HeightPkSize, "height"))
	p := model.Point{Height: h, Hash: r.hash("hash"), Slot: r.uvarint("slot")}
	return p, errors.Join(err, r.end())
}

// readTip is the tip of the snapshot r reads; the origin before the first block.
func readTip(r storage.Reader) (model.Point, error) {
	b, err := r.Get(familyMeta, metaTip)
	if errors.Is(err, storage.ErrNotFound) {
		return model.Point{}, nil
	}
	if err != nil {
		return model.Point{}, err
	}
	return parseTip(b)
}

// totals are the counts that meta carries along with the tip.
type totals struct {
	assets         uint64 // asset entries of outputs
	genesisTxs     uint64
	genesisOutputs uint64
	unspentValue   uint64
	checksum       uint64                    // sum of the numbers that nothing else in the database says again: see schema.go
	rows           map[storage.Family]uint64 // of every declared family but meta and what the chain does not determine
}

func (t *totals) clone() totals {
	c := *t
	c.rows = make(map[storage.Family]uint64, len(t.rows))
	for f, n := range t.rows {
		c.rows[f] = n
	}
	return c
}

func (t *totals) appendTo(b []byte) []byte {
	for _, n := range []uint64{t.assets, t.genesisTxs, t.genesisOutputs, t.unspentValue, t.checksum} {
		b = binary.AppendUvarint(b, n)
	}
	for _, f := range sortedFamilies(t.rows) {
		b = binary.AppendUvarint(b, uint64(f))
		b = binary.AppendUvarint(b, t.rows[f])
	}
	return b
}

func sortedFamilies(rows map[storage.Family]uint64) []storage.Family {
	fs := make([]storage.Family, 0, len(rows))
	for f := range rows {
		fs = append(fs, f)
	}
	slices.Sort(fs)
	return fs
}

func parseTotals(b []byte) (totals, error) {
	r := reader{b: b}
	t := totals{
		assets: r.uvarint("assets"), genesisTxs: r.uvarint("genesis transactions"),
		genesisOutputs: r.uvarint("genesis outputs"), unspentValue: r.uvarint("unspent value"),
		checksum: r.uvarint("checksum"),
		rows:     map[storage.Family]uint64{},
	}
	for len(r.b) > 0 {
		f := r.ordinal("family")
		t.rows[storage.Family(f)] = r.uvarint("rows")
	}
	return t, r.end()
}

// openMeta makes the meta rows of a new database, or reads those of an old one, into db.
func (db *DB) openMeta(ctx context.Context, o Options) error {
	c := o.Chain
	id, known, err := Identify(ctx, db.store)
	if err != nil {
		return err
	}
	if !known {
		if o.ReadOnly {
			return model.Errorf(model.Refused, "no_database", "the database is empty: nothing was synced into it yet")
		}
		cat, err := newCatalogue(c, o.Indexes, o.Keep)
		if err != nil {
			return err
		}
		db.indexed.Store(cat)
		db.raw = o.Raw
	} else {
		switch {
		case id.Format != FormatVersion:
			return model.Errorf(model.Refused, "wrong_format", "the database has format %d, this program reads and writes format %d: sync it anew, or use the program it was made with", id.Format, FormatVersion)
		case id.Chain != c.Name():
			return model.Errorf(model.Refused, "wrong_chain", "the database holds %s, not %s", id.Chain, c.Name())
		case id.Network != c.Network():
			return model.Errorf(model.Refused, "wrong_network", "the database holds %s %s, not %s", id.Chain, id.Network, c.Network())
		}
		cat, err := db.readCatalogue(ctx, c)
		if err != nil {
			return err
		}
		db.indexed.Store(cat)
		if err := db.wanted(o.Indexes, o.Keep); err != nil {
			return err
		}
		if err := db.openRaw(ctx, o.Raw); err != nil {
			return err
		}
	}
	if err := db.declare(); err != nil {
		return err
	}
	if !known {
		if err := db.create(ctx, c); err != nil {
			return err
		}
	}
	return db.recall(ctx)
}

// recall takes tip and totals from the store.
func (db *DB) recall(ctx context.Context) error {
	return db.store.View(ctx, func(r storage.Reader) error {
		s, err := db.readStand(r)
		if err != nil {
			return err
		}
		db.building.Lock()
		db.work = s.work
		db.building.Unlock()
		db.mu.Lock()
		defer db.mu.Unlock()
		db.head, db.totals = s.tip, s.totals
		db.move(s.tip)
		return nil
	})
}

// create writes the meta rows of a database without blocks.
func (db *DB) create(ctx context.Context, c model.Chain) error {
	return db.store.Update(ctx, func(_ storage.Reader, b storage.Batch) error {
		b.Put(familyMeta, metaFormat, binary.AppendUvarint(nil, FormatVersion))
		b.Put(familyMeta, metaChain, []byte(c.Name()))
		b.Put(familyMeta, metaNetwork, []byte(c.Network()))
		if db.raw {
			b.Put(familyMeta, metaRaw, nil)
		}
		b.Put(familyMeta, metaIndexes, db.catalogue().appendTo(nil))
		t := totals{rows: map[storage.Family]uint64{}}
		for _, d := range db.declarations() {
			if d.Family != familyMeta && determined(d.Family) {
				t.rows[d.Family] = 0
			}
		}
		b.Put(familyMeta, metaTotals, t.appendTo(nil))
		return nil
	})
}
