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
	ends    []int  // of the text of each pending birth in found
	unknown []unknown
	read    []string // the texts of unknown births, by the position in pending
}

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

// resolve appends the texts of the pending entries: those that are in the cache, the others are read together.
func (p *part) resolve(d *dictionary) error {
	if len(d.pending) == 0 {
		return nil
	}
	d.found, d.ends, d.unknown = d.found[:0], d.ends[:0], d.unknown[:0]
	p.texts.mu.Lock()
	for i, b := range d.pending {
		text, ok := p.texts.get(b, d.values.space)
		if !ok {
			d.unknown = append(d.unknown, unknown{b, i})
		}
		d.found = append(d.found, text...)
		d.ends = append(d.ends, len(d.found))
	}
	p.texts.mu.Unlock()
	if err := p.readTexts(d); err != nil {
		return err
	}
	slices.SortFunc(d.unknown, func(a, b unknown) int { return a.pending - b.pending })
	from, next := 0, 0
	for i, end := range d.ends {
		if next < len(d.unknown) && d.unknown[next].pending == i {
			d.AddText([]byte(d.read[i]))
			next++
			continue
		}
		d.AddText(d.found[from:end])
		from = end
	}
	clear(d.read)
	d.pending = d.pending[:0]
	return nil
}

// readTexts reads the texts of the unknown births and puts them into the cache.
func (p *part) readTexts(d *dictionary) error {
	if len(d.unknown) == 0 {
		return nil
	}
	v := d.values
	slices.SortFunc(d.unknown, func(a, b unknown) int { return schema.CompareBirths(a.birth, b.birth) })
	keys, all := make([][]byte, len(d.unknown)), make([]byte, 0, len(d.unknown)*model.PkOrdinalSize)
	for i := range d.unknown {
		at := len(all)
		all = d.unknown[i].birth.AppendTo(all, v.ordinal)
		keys[i] = all[at:len(all):len(all)]
	}
	rows, err := p.r.GetMany(v.family, keys)
	if err != nil {
		return err
	}
	d.read = slices.Grow(d.read[:0], len(d.pending))[:len(d.pending)]
	for i, u := range d.unknown {
		if rows[i] == nil {
			return fmt.Errorf("the value of birth %v is missing: run birthmark check", u.birth)
		}
		d.read[u.pending] = v.format(rows[i])
	}
	p.texts.mu.Lock()
	defer p.texts.mu.Unlock()
	for _, u := range d.unknown {
		p.texts.put(u.birth, v.space, []byte(d.read[u.pending]))
	}
	return nil
}
