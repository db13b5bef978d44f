package schema

import (
	"birthmark/model"
	"birthmark/storage"
)

// Raw transactions, or their places in the files of a node, are added to and dropped from a database like an index with
// the name RawName. They are in no list of a [Layout], and rows of meta have their states. RawFilesName selects the
// places if they are added.
const (
	RawName      = "raw"
	RawFilesName = "raw_files"

	rawNumber      = 1 << 16 // numbers of indexes are smaller
	rawFilesNumber = rawNumber + 1
)

// RawFamily is the family of raw transactions.
var RawFamily = rawFamily.Declaration

func rawTxs(active, building Features) *Index {
	return &Index{model.Index{Name: RawName}, rawNumber, active, building}
}

func rawPlaces(active, building Features) *Index {
	return &Index{model.Index{Name: RawName}, rawFilesNumber, active, building}
}

func (l *Layout) raws() []*Index { return []*Index{l.RawTxs, l.RawPlaces} }

// IsRaw reports whether x stands for raw transactions or their places.
func (x *Index) IsRaw() bool { return x.Number >= rawNumber }

// IsPlaces reports whether x stands for the places of raw transactions.
func (x *Index) IsPlaces() bool { return x.Number == rawFilesNumber }

// rawDeclarations is [Index.DeclarationsOf] of raw transactions or of their places.
func (x *Index) rawDeclarations(p Features) []storage.Declaration {
	switch {
	case !p.Has(FeatureValues):
		return nil
	case x.IsPlaces():
		return []storage.Declaration{placeFamily.Declaration, sizesFamily.Declaration}
	}
	return []storage.Declaration{rawFamily.Declaration}
}

// parseRaw returns the state that the value of meta's row raw or raw_files has; nil: there is no row.
func parseRaw(row []byte) (active, building Features) {
	switch {
	case row == nil:
		return 0, 0
	case len(row) == 0:
		return FeatureValues, 0
	case row[0] == againBuilding:
		return FeatureValues, FeatureValues
	}
	return 0, FeatureValues
}

// The value of meta's rows raw and raw_files, if they are not complete.
const (
	firstBuilding = 1 // they are being added
	againBuilding = 2 // places that exist are being found again
)

// PutRaws writes meta's rows raw and raw_files.
func (l *Layout) PutRaws(b storage.Batch) {
	for i, key := range [][]byte{MetaRaw, MetaRawFiles} {
		switch x := l.raws()[i]; {
		case x.Building != 0 && x.Active != 0:
			b.Put(FamilyMeta, key, []byte{againBuilding})
		case x.Building != 0:
			b.Put(FamilyMeta, key, []byte{firstBuilding})
		case x.Active != 0:
			b.Put(FamilyMeta, key, nil)
		default:
			b.Delete(FamilyMeta, key)
		}
	}
}
