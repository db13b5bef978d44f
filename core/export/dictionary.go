package export

import (
	"fmt"
	"slices"

	"birthmark/core/export/tablefile"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// values is the texts of one index, or of assets, for the entries of a dictionary.
type values struct {
	space   uint16
	family  storage.Family
	ordinal bool
	format  func([]byte) string
	id      func(model.BirthPk) model.Uint128
}

// valuesOf returns the values of an exported index.
func (p *part) valuesOf(i int) *values {
	x := p.indexes[i]
	return &values{uint16(i + 1), x.Family(schema.IndexValue), x.Kind.HasOrdinal(), x.Format, birthID}
}

// valuesOfAssets returns the ids of assets.
func (p *part) valuesOfAssets() *values {
	return &values{assetSpace, schema.FamilyAssetID, true, p.l.Chain.FormatAsset, assetID}
}

// birthID is the id of a value of an index that is not many-valued: its birth.
func birthID(b model.BirthPk) model.Uint128 { return model.Uint128Of(uint64(b.Utxo)) }

// assetID is the id of an asset: its birth, then the 16 bits of its position in the output.
func assetID(b model.BirthPk) model.Uint128 {
	return model.Uint128{Hi: uint64(b.Utxo) >> 48, Lo: uint64(b.Utxo)<<16 | uint64(b.Ordinal)}
}

// dictionary is a dictionary of a group and the positions of its births. New entries have the order of their first
// occurrence.
type dictionary struct {
	tablefile.Dictionary
	at      births
	values  *values
	pending []model.BirthPk // of the last entries, which have no texts yet

	// Scratch of resolve.
	found   []byte // texts
	texts   []textAt
	unknown []unknown
}

// textAt is the place of the text of a pending birth in found.
type textAt struct{ from, to uint32 }

// unknown is a pending birth whose text is not in the cache.
type unknown struct {
	birth   model.BirthPk
	pending int
}

// reset begins a new group.
func (d *dictionary) reset() {
	d.Texts, d.Ends, d.IDs = d.Texts[:0], d.Ends[:0], d.IDs[:0]
	d.at.clear()
}

// entry returns the position of a birth.
func (d *dictionary) entry(b model.BirthPk) uint32 {
	n, added := d.at.add(b)
	if added {
		d.IDs = append(d.IDs, d.values.id(b))
		d.pending = append(d.pending, b)
	}
	return n
}

// appendKeys appends the positions of the values of an index.
func (d *dictionary) appendKeys(at []uint32, k *keyRows) []uint32 {
	at = slices.Grow(at, len(k.births))
	for i, birth := range k.births {
		b := model.BirthPk{Utxo: model.UtxoPk(birth)}
		if k.ordinals != nil {
			b.Ordinal = k.ordinals[i]
		} else if birth == noBirth {
			at = append(at, tablefile.NoEntry)
			continue
		}
		at = append(at, d.entry(b))
	}
	return at
}

// full reports whether the texts of the pending entries should be read: they have about pendingBytes, if they are as long
// as the others of the group. Texts that are read together share blocks of the store.
func (d *dictionary) full() bool {
	average := 256 // of the first ones
	if n := len(d.Ends); n > 0 {
		average = len(d.Texts)/n + 1
	}
	return len(d.pending)*average >= pendingBytes
}

// readTogether is the number of texts of one call of the store.
const readTogether = 16 << 10

// resolve appends the texts of the pending entries, from the cache if it has them. The others are read in chain order.
func (p *part) resolve(d *dictionary) error {
	d.found, d.texts, d.unknown = d.found[:0], slices.Grow(d.texts[:0], len(d.pending))[:len(d.pending)], d.unknown[:0]
	for from := 0; from < len(d.pending); from += readTogether { // other goroutines need the cache meanwhile
		p.findTexts(d, from, min(from+readTogether, len(d.pending)))
	}
	slices.SortFunc(d.unknown, func(a, b unknown) int { return schema.CompareBirths(a.birth, b.birth) })
	for some := range slices.Chunk(d.unknown, readTogether) {
		if err := p.readTexts(d, some); err != nil {
			return err
		}
	}
	for _, at := range d.texts {
		d.AddText(d.found[at.from:at.to])
	}
	d.pending = d.pending[:0]
	return nil
}

// findTexts looks for the texts of some pending births in the cache.
func (p *part) findTexts(d *dictionary, from, to int) {
	p.texts.mu.Lock()
	defer p.texts.mu.Unlock()
	for i, b := range d.pending[from:to] {
		if text, ok := p.texts.get(b, d.values.space); ok {
			d.find(from+i, text)
		} else {
			d.unknown = append(d.unknown, unknown{b, from + i})
		}
	}
}

// find keeps the text of a pending birth.
func (d *dictionary) find(pending int, text []byte) {
	at := uint32(len(d.found))
	d.found = append(d.found, text...)
	d.texts[pending] = textAt{at, uint32(len(d.found))}
}

// readTexts reads the texts of some births and puts them into the cache.
func (p *part) readTexts(d *dictionary, births []unknown) error {
	v := d.values
	keys, all := make([][]byte, len(births)), make([]byte, 0, len(births)*model.PkOrdinalSize)
	for i := range births {
		at := len(all)
		all = births[i].birth.AppendTo(all, v.ordinal)
		keys[i] = all[at:len(all):len(all)]
	}
	rows, err := p.r.GetMany(v.family, keys)
	if err != nil {
		return err
	}
	for i, u := range births {
		if rows[i] == nil {
			return fmt.Errorf("the value of birth %v is missing: run birthmark check", u.birth)
		}
		d.find(u.pending, []byte(v.format(rows[i])))
	}
	p.texts.mu.Lock()
	defer p.texts.mu.Unlock()
	for _, u := range births {
		at := d.texts[u.pending]
		p.texts.put(u.birth, v.space, d.found[at.from:at.to])
	}
	return nil
}
