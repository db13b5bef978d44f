package export

import (
	"fmt"
	"slices"

	"birthmark/core/export/tablefile"
	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// need reads the texts of births that are not in the cache.
func (p *part) need(v *values, births []model.BirthPk) error {
	if len(births) == 0 {
		return nil
	}
	slices.SortFunc(births, schema.CompareBirths)
	keys, all := make([][]byte, len(births)), make([]byte, 0, len(births)*model.PkOrdinalSize)
	for i, b := range births {
		at := len(all)
		all = b.AppendTo(all, v.ordinal)
		keys[i] = all[at:len(all):len(all)]
	}
	rows, err := p.r.GetMany(v.family, keys)
	if err != nil {
		return err
	}
	for i, b := range births {
		if rows[i] == nil {
			return fmt.Errorf("the value of birth %v is missing: run birthmark check", b)
		}
		p.texts.put(b, v.space, []byte(v.format(rows[i])))
	}
	return nil
}

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

// appendEntries appends the positions of births in a dictionary, in which new ones have the order of their first
// occurrence. birth returns birth i; false if it is absent.
func (p *part) appendEntries(at []uint32, d *dictionary, v *values, n int, birth func(i int) (model.BirthPk, bool)) ([]uint32, error) {
	at, p.added = slices.Grow(at, n), p.added[:0]
	for i := range n {
		b, ok := birth(i)
		if !ok {
			at = append(at, tablefile.NoEntry)
			continue
		}
		number, added := d.at.add(b)
		if added {
			p.added = append(p.added, b)
		}
		at = append(at, number)
	}
	p.unknown = p.unknown[:0]
	for _, b := range p.added {
		if _, ok := p.texts.get(b, v.space); !ok {
			p.unknown = append(p.unknown, b)
		}
	}
	if err := p.need(v, p.unknown); err != nil {
		return at, err
	}
	for _, b := range p.added {
		text, ok := p.texts.get(b, v.space)
		for !ok { // the cache is too small for the chunk
			if err := p.need(v, []model.BirthPk{b}); err != nil {
				return at, err
			}
			text, ok = p.texts.get(b, v.space)
		}
		d.Add(text, v.id(b))
	}
	return at, nil
}
