package schema

import (
	"encoding/binary"
	"fmt"
	"maps"
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
	MetaRaw     = []byte("raw") // see raw.go

	MetaRawFiles  = []byte("raw_files")
	MetaRevision  = []byte("revision") // see [model.Reviser]
	MetaAssets    = []byte("assets")   // see [model.Tokens]
	MetaAssetsNew = []byte("assets_new")
)

var metaFamily = declare(FamilyMeta, "meta", storage.Lookup, 0,
	"name", "bytes", "properties and state of the database: its rows are listed below")

// metaSchema describes the rows of meta, as the AppendTo methods of their types encode them.
var metaSchema = []struct{ name, value, purpose string }{
	{string(MetaFormat), "uvarint version", "the version of this layout; a database with another version is refused"},
	{string(MetaChain), "text", "the chain; a database of another chain is refused"},
	{string(MetaNetwork), "text", "the network, checked likewise"},
	{string(MetaIndexes),
		"uvarint next_index_number|[uvarint index_number|kind|live|coming|own|text name|text when|text value]",
		"every index that ever existed, by number; kind, live, coming and own are bytes. live: bits of its families " +
			"(1 values, 2 balance, 4 unspent, 8 history, 16 prefix); coming: bits of the families being added; own 1: defined " +
			"in the settings, with its expressions"},
	{string(MetaTip), "height_pk|block_hash|uvarint slot", "the last block; no row before the first block"},
	{string(MetaTotals),
		"uvarint assets|uvarint genesis_txs|uvarint genesis_outputs|uvarint unspent_value|uvarint checksum|" +
			"uvarint raw_checksum|[uvarint family|uvarint rows]",
		"counts, the value of all unspent outputs, and the number of rows of every family that the chain determines, but " +
			"meta. The checksum is the sum of all outputs' values, assets' amounts, stated fees, blocks' " +
			"sizes, slots and parents (as four big-endian words), transactions' hashes (the last three of their words), and " +
			"the FNV-1a hashes of assets' infos. The raw checksum is the sum of the SipHash-2-4 of raw transactions keyed with " +
			"their tx_pk. Both are modulo 2^64"},
	{string(MetaRaw), "state", "exists if raw transactions are stored; a byte 1: they are being added; 2: they are being found again"},
	{string(MetaRevision), "uvarint", "how many changes of the chain's values of indexes the values include; no row: none"},
	{string(MetaAssets), "text", "the rules that derive assets, such as runes; no row: none"},
	{string(MetaAssetsNew), "text", "rules that are being added; after `-`, rules that were not complete and are being dropped"},
	{string(MetaRawFiles), "state", "likewise for the places of raw transactions in a node's files"},
	{string(MetaChange), "uvarint index_number|utxo_pk|height_pk|block_hash|uvarint slot|uvarint raw_checksum|" +
		"[uvarint family|uvarint rows]",
		"the index that is being added or dropped, if any; the numbers 65536 and 65537 are raw transactions and their places. " +
			"Added: its last block, the checksum of its raw transactions, and the rows " +
			"of its families. Dropped: outputs below utxo_pk no longer contain it"},
}

func ParseTip(b []byte) (model.Point, error) {
	r := reader{b: b}
	p := r.point()
	return p, r.end()
}

func AppendTip(b []byte, p model.Point) []byte {
	b = p.Height.AppendTo(b)
	b = append(b, p.Hash[:]...)
	return binary.AppendUvarint(b, p.Slot)
}

// readTip reads the tip; the origin before the first block.
func readTip(r storage.Reader) (model.Point, error) {
	b, err := find(r, FamilyMeta, MetaTip)
	if b == nil || err != nil {
		return model.Point{}, err
	}
	return ParseTip(b)
}

// Totals are the counts in meta, which every write updates with the tip. The counts of rows make the command status
// immediate, and show a missing or superfluous row of any family. The checksum covers numbers that no other row
// contradicts if a bit of them changes, such as the value of a spent output.
type Totals struct {
	Assets         uint64 // asset entries of outputs
	GenesisTxs     uint64
	GenesisOutputs uint64
	UnspentValue   uint64
	Checksum       uint64                    // sum of the numbers that no other row repeats: see metaSchema
	RawChecksum    uint64                    // sum of [RawChecksum] of the raw transactions
	Rows           map[storage.Family]uint64 // of every family that the chain determines, but meta
}

func (t *Totals) Clone() Totals {
	c := *t
	c.Rows = map[storage.Family]uint64{} // never nil: the clone is counted up
	maps.Copy(c.Rows, t.Rows)
	return c
}

func (t *Totals) AppendTo(b []byte) []byte {
	for _, n := range []uint64{t.Assets, t.GenesisTxs, t.GenesisOutputs, t.UnspentValue, t.Checksum, t.RawChecksum} {
		b = binary.AppendUvarint(b, n)
	}
	return appendCounts(b, t.Rows)
}

// appendCounts appends [uvarint family|uvarint rows] in the order of the families.
func appendCounts(b []byte, rows map[storage.Family]uint64) []byte {
	for _, f := range slices.Sorted(maps.Keys(rows)) {
		b = binary.AppendUvarint(b, uint64(f))
		b = binary.AppendUvarint(b, rows[f])
	}
	return b
}

// counts parses the result of appendCounts, up to the end.
func (r *reader) counts() map[storage.Family]uint64 {
	rows := map[storage.Family]uint64{}
	for len(r.b) > 0 {
		f := r.ordinal("family")
		rows[storage.Family(f)] = r.uvarint("rows")
	}
	return rows
}

// ParseTotals parses the result of [Totals.AppendTo].
func ParseTotals(b []byte) (Totals, error) {
	r := reader{b: b}
	t := Totals{
		Assets: r.uvarint("assets"), GenesisTxs: r.uvarint("genesis transactions"),
		GenesisOutputs: r.uvarint("genesis outputs"), UnspentValue: r.uvarint("unspent value"),
		Checksum: r.uvarint("checksum"), RawChecksum: r.uvarint("raw checksum"),
	}
	t.Rows = r.counts()
	return t, r.err
}

// Identity identifies the chain, network and format of a database.
type Identity struct {
	Chain, Network string
	Format         int
	Assets         string             // the name of the rules that derive assets; empty: none
	Definitions    []model.Definition // of custom indexes; empty if the format is another version
}

func ReadIdentity(r storage.Reader) (id Identity, ok bool, err error) {
	vs, err := r.GetMany(FamilyMeta, [][]byte{MetaFormat, MetaChain, MetaNetwork, MetaIndexes, MetaAssets})
	if err != nil || vs[0] == nil {
		return id, false, err
	}
	id, err = ParseIdentity(vs[0], vs[1], vs[2], vs[3], vs[4])
	return id, err == nil, err
}

// ParseIdentity parses the rows of meta with these names.
func ParseIdentity(format, chain, network, indexes, assets []byte) (id Identity, err error) {
	f := reader{b: format}
	id = Identity{Chain: string(chain), Network: string(network), Format: f.size("format"), Assets: string(assets)}
	if err := f.end(); err != nil {
		return id, fmt.Errorf("meta format: %w", err)
	}
	if id.Format != FormatVersion {
		return id, nil
	}
	id.Definitions, err = ParseDefinitions(indexes)
	return id, err
}

// ParseDefinitions returns the custom indexes of meta's row indexes.
func ParseDefinitions(indexes []byte) (ds []model.Definition, err error) {
	all, _, err := parseIndexes(indexes)
	if err != nil {
		return nil, fmt.Errorf("meta indexes: %w", err)
	}
	for _, x := range all {
		if d, custom := x.Definition(); custom && !x.Dropped() {
			ds = append(ds, d)
		}
	}
	return ds, nil
}
