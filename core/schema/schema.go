package schema

import (
	"fmt"
	"slices"
	"strings"

	"birthmark/model"
	"birthmark/storage"
)

// FormatVersion is the version of the layout below. Opening a database with another version fails.
const FormatVersion = 6

// The families of every database. The numbers are stored and must not change.
const (
	FamilyMeta storage.Family = iota
	FamilyBlock
	FamilyHeight
	FamilyTxHash
	FamilyTxPk
	FamilyUtxo
	FamilySpentUtxo
	FamilySpentInput
	FamilyAssets
	FamilyAssetID
	FamilyAssetBirth
	FamilyAssetRelations
	FamilyAssetSupply
	FamilyOrphanBlock
	FamilyFingerprint
	FamilyHoldings
	FamilyAssetTotals
	FamilyAssetInfo
	FamilyRaw
	FamilyPlace
	FamilySizes
	FamilySegments
	fixedFamilies
)

// The families of index n are FirstIndexFamily + n*FamiliesPerIndex + one of these.
const (
	IndexValue          = iota // value by birth
	IndexBirth                 // birth by value
	IndexRelations             // later occurrences
	IndexBalance               // balances, with the option balance
	IndexHeld                  // held assets, with the option balance
	IndexUnspent               // unspent outputs, with the option unspent
	IndexHistory               // transactions, with the option history
	IndexText                  // values in the order of their texts, with the option prefix
	IndexBlocks                // blocks by value, of indexes of blocks
	IndexRichest               // the largest balances, with the option balance
	IndexStatistics            // numbers of values by block, with the option statistics
	IndexStatisticsDays        // the same by day
	IndexSums                  // sums by block, of the index statistics
	IndexSumsDays              // the same by day

	FirstIndexFamily storage.Family = 64
	FamiliesPerIndex storage.Family = 16
)

// Schema is the families of every database, in the order of docs/schema.md.
var Schema = []declaration{
	metaFamily, blockFamily, heightFamily, txHashFamily, txPkFamily, utxoFamily, spentUtxoFamily, spentInputFamily,
	assetsFamily, assetIDFamily, assetBirthFamily, assetRelationsFamily, supplyFamily, orphanFamily, fingerprintFamily,
	holdingsFamily, assetTotalsFamily, assetInfoFamily,
}

// Determined reports whether the chain determines the rows of a family. Dumps and the counts in meta leave out the
// other families, the orphaned blocks, the places in a node's files, the lists of the largest balances and the state of
// replication, because they differ between databases of the same chain.
func Determined(f storage.Family) bool {
	if f >= FirstIndexFamily {
		return (f-FirstIndexFamily)%FamiliesPerIndex != IndexRichest
	}
	return f != FamilyOrphanBlock && f != FamilyPlace && f != FamilySizes && f != FamilySegments
}

// The families of one index by its kind; I is a placeholder for its name.
var (
	outputsSchema = []declaration{
		valueFamily, birthFamily, relationsFamily, balanceFamily, richestFamily, heldFamily, unspentFamily, historyFamily,
		textFamily, valuesFamily, valuesDayFamily,
	}
	blocksSchema = []declaration{blocksFamily}
	sumsSchema   = []declaration{sumsFamily, sumsDayFamily}
)

// schemaOf returns the families of an index of a kind.
func schemaOf(kind model.Kind) []declaration {
	switch kind {
	case model.PerBlock:
		return blocksSchema
	case model.Sums:
		return sumsSchema
	}
	return outputsSchema
}

func (x *Index) Family(which storage.Family) storage.Family {
	return FirstIndexFamily + storage.Family(x.Number)*FamiliesPerIndex + which
}

// StatisticsOf returns the family of the statistics of blocks of an index.
func StatisticsOf(x *Index) storage.Family {
	if x.Kind == model.Sums {
		return IndexSums
	}
	return IndexStatistics
}

// FeatureOf returns the feature that a family of an index belongs to.
func FeatureOf(which storage.Family) Features {
	switch which {
	case IndexBalance, IndexHeld, IndexRichest:
		return FeatureBalance
	case IndexUnspent:
		return FeatureUnspent
	case IndexHistory:
		return FeatureHistory
	case IndexText:
		return FeaturePrefix
	case IndexStatistics, IndexStatisticsDays:
		return FeatureStatistics
	}
	return FeatureValues
}

// DeclarationsOf returns the families of some features of the index.
func (x *Index) DeclarationsOf(p Features) []storage.Declaration {
	if x.IsRaw() {
		return x.rawDeclarations(p)
	}
	var ds []storage.Declaration
	for _, d := range schemaOf(x.Kind) {
		if !p.Has(FeatureOf(d.Family)) || x.Kind == model.OneToOne && d.Family == IndexRelations {
			continue
		}
		own := d.Declaration
		own.Family, own.Name = x.Family(d.Family), strings.Replace(d.Name, "I", x.Name, 1)
		ds = append(ds, own)
	}
	return ds
}

func (l *Layout) Declarations() []storage.Declaration {
	var ds []storage.Declaration
	for _, d := range Schema {
		ds = append(ds, d.Declaration)
	}
	for _, x := range slices.Concat(l.raws(), l.All) {
		ds = append(ds, x.DeclarationsOf(x.Active|x.Building)...)
	}
	return ds
}

// FamilyCount returns a number larger than any family number of the layout.
func (l *Layout) FamilyCount() int {
	most := fixedFamilies
	for _, x := range l.All {
		most = max(most, x.Family(FamiliesPerIndex))
	}
	return int(most)
}

func (l *Layout) FamilyName(f storage.Family) string {
	for _, d := range l.Declarations() {
		if d.Family == f {
			return d.Name
		}
	}
	return fmt.Sprintf("family %d", f)
}
