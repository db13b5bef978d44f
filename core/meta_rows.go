package core

import (
	"birthmark/model"
	"birthmark/storage"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
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

func parseTip(b []byte) (model.Point, error) {
	r := reader{b: b}
	h, err := model.ParseHeightPk(r.take(model.HeightPkSize, "height"))
	p := model.Point{Height: h, Hash: r.hash("hash"), Slot: r.uvarint("slot")}
	return p, errors.Join(err, r.end())
}

func appendTip(b []byte, p model.Point) []byte {
	b = p.Height.AppendTo(b)
	b = append(b, p.Hash[:]...)
	return binary.AppendUvarint(b, p.Slot)
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

// Identity says what a database holds.
type Identity struct {
	Chain, Network string
	Format         int
	Definitions    []model.Definition // of the indexes that are its user's; none of a database of another format
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
