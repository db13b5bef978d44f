package schema

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"birthmark/model"
	"birthmark/storage"
)

// Keys of the family meta.
var (
	MetaFormat  = []byte("format")
	MetaChain   = []byte("chain")
	MetaNetwork = []byte("network")
	MetaIndexes = []byte("indexes")
	MetaTip     = []byte("tip")
	MetaTotals  = []byte("totals")
	MetaRaw     = []byte("raw") // exists if raw transactions are stored
)

func ParseTip(b []byte) (model.Point, error) {
	r := reader{b: b}
	h, err := model.ParseHeightPk(r.take(model.HeightPkSize, "height"))
	p := model.Point{Height: h, Hash: r.hash("hash"), Slot: r.uvarint("slot")}
	return p, errors.Join(err, r.end())
}

func AppendTip(b []byte, p model.Point) []byte {
	b = p.Height.AppendTo(b)
	b = append(b, p.Hash[:]...)
	return binary.AppendUvarint(b, p.Slot)
}

// readTip reads the tip; the origin before the first block.
func readTip(r storage.Reader) (model.Point, error) {
	b, err := r.Get(FamilyMeta, MetaTip)
	if errors.Is(err, storage.ErrNotFound) {
		return model.Point{}, nil
	}
	if err != nil {
		return model.Point{}, err
	}
	return ParseTip(b)
}

// Totals are the counts in meta, which every write updates with the tip.
type Totals struct {
	Assets         uint64 // asset entries of outputs
	GenesisTxs     uint64
	GenesisOutputs uint64
	UnspentValue   uint64
	Checksum       uint64                    // sum of the numbers that no other row repeats: see metaSchema
	Rows           map[storage.Family]uint64 // of every family but meta and lost_block_by_lost_pk
}

func (t *Totals) Clone() Totals {
	c := *t
	c.Rows = make(map[storage.Family]uint64, len(t.Rows))
	for f, n := range t.Rows {
		c.Rows[f] = n
	}
	return c
}

func (t *Totals) AppendTo(b []byte) []byte {
	for _, n := range []uint64{t.Assets, t.GenesisTxs, t.GenesisOutputs, t.UnspentValue, t.Checksum} {
		b = binary.AppendUvarint(b, n)
	}
	for _, f := range sortedFamilies(t.Rows) {
		b = binary.AppendUvarint(b, uint64(f))
		b = binary.AppendUvarint(b, t.Rows[f])
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

func parseTotals(b []byte) (Totals, error) {
	r := reader{b: b}
	t := Totals{
		Assets: r.uvarint("assets"), GenesisTxs: r.uvarint("genesis transactions"),
		GenesisOutputs: r.uvarint("genesis outputs"), UnspentValue: r.uvarint("unspent value"),
		Checksum: r.uvarint("checksum"),
		Rows:     map[storage.Family]uint64{},
	}
	for len(r.b) > 0 {
		f := r.ordinal("family")
		t.Rows[storage.Family(f)] = r.uvarint("rows")
	}
	return t, r.end()
}

// Identity identifies the chain, network and format of a database.
type Identity struct {
	Chain, Network string
	Format         int
	Definitions    []model.Definition // of custom indexes; empty if the format is another version
}

func ReadIdentity(r storage.Reader) (id Identity, ok bool, err error) {
	vs, err := r.GetMany(FamilyMeta, [][]byte{MetaFormat, MetaChain, MetaNetwork, MetaIndexes})
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
	entries, _, err := parseIndexes(vs[3])
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
