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
	rulesNumber    = rawNumber + 2
)

// RawFamily is the family of raw transactions.
var RawFamily = rawFamily.Declaration

func rawTxs(active, building Features) *Index {
	return &Index{model.Index{Name: RawName}, rawNumber, active, building}
}

func rawPlaces(active, building Features) *Index {
	return &Index{model.Index{Name: RawName}, rawFilesNumber, active, building}
}

func (l *Layout) raws() []*Index { return []*Index{l.RawTxs, l.RawPlaces, l.Rules} }

// rules returns the rules that derive assets, which are added to a database like an index with their name. The database
// has the rules of its chain, or is adding or dropping the ones with the name in meta's row assets_new; nil: there is no
// row.
func rules(c model.Chain, adding []byte) *Index {
	x := &Index{Number: rulesNumber}
	switch tokens := c.Traits().Tokens; {
	case tokens != nil:
		x.Name, x.Active = tokens.Name, FeatureValues
	case len(adding) > 0 && adding[0] == droppedMark:
		x.Name = string(adding[1:])
	case adding != nil:
		x.Name, x.Building = string(adding), FeatureValues
	}
	return x
}

// IsRules reports whether x stands for the rules that derive assets.
func (x *Index) IsRules() bool { return x.Number == rulesNumber }

// Forget removes the name of rules that are dropped.
func (x *Index) Forget() {
	if x.IsRules() && x.Dropped() {
		x.Name = ""
	}
}

// WithRules returns the layout of the database with rules that are being added. It has the same indexes.
func (l *Layout) WithRules() (*Layout, error) {
	c, ok := l.Chain.(model.TokenChain)
	if !ok {
		return nil, model.Errorf(model.Usage, "bad_assets", "%s derives no assets", l.Chain.Name())
	}
	chain, err := c.WithTokens(l.Rules.Name)
	if err != nil {
		return nil, err
	}
	with := *l
	with.Chain, with.Traits = chain, chain.Traits()
	return &with, nil
}

// IsRaw reports whether x stands for raw transactions or their places.
func (x *Index) IsRaw() bool { return x.Number >= rawNumber }

// IsPlaces reports whether x stands for the places of raw transactions.
func (x *Index) IsPlaces() bool { return x.Number == rawFilesNumber }

// rawDeclarations is [Index.DeclarationsOf] of raw transactions or of their places.
func (x *Index) rawDeclarations(p Features) []storage.Declaration {
	switch {
	case !p.Has(FeatureValues), x.IsRules(): // every database has the families of assets
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

// droppedMark precedes the name in meta's row assets_new if the rules were not complete and are being dropped.
const droppedMark = '-'

// The value of meta's rows raw and raw_files, if they are not complete.
const (
	firstBuilding = 1 // they are being added
	againBuilding = 2 // places that exist are being found again
)

// PutRaws writes meta's rows raw, raw_files, assets and assets_new.
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
	switch x := l.Rules; {
	case x.Active != 0:
		b.Put(FamilyMeta, MetaAssets, []byte(x.Name))
		b.Delete(FamilyMeta, MetaAssetsNew)
	case x.Building != 0:
		b.Put(FamilyMeta, MetaAssetsNew, []byte(x.Name))
	case x.Name != "":
		b.Put(FamilyMeta, MetaAssetsNew, append([]byte{droppedMark}, x.Name...))
	default:
		b.Delete(FamilyMeta, MetaAssetsNew)
	}
}

// OfAssets reports whether the rows of a family are about assets.
func OfAssets(f storage.Family) bool {
	switch f {
	case FamilyAssets, FamilyAssetID, FamilyAssetBirth, FamilyAssetRelations, FamilyAssetSupply, FamilyFingerprint,
		FamilyHoldings, FamilyAssetTotals, FamilyAssetInfo:
		return true
	}
	return f >= FirstIndexFamily && (f-FirstIndexFamily)%FamiliesPerIndex == IndexHeld
}
