package schema

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"birthmark/internal/suggest"
	"birthmark/model"
	"birthmark/storage"
)

// Features are the parts of an index that a database maintains.
type Features uint8

const (
	FeatureValues Features = 1 << iota // values, births and relations, and the births in the rows of outputs
	FeatureBalance
	FeatureUnspent
	FeatureHistory
	FeaturePrefix
	FeatureStatistics

	AllFeatures     = FeatureStatistics<<1 - 1
	AccountFeatures = FeatureBalance | FeatureUnspent | FeatureHistory
	SpendFeatures   = AccountFeatures | FeatureStatistics // spends change these too
)

// FeaturesOf returns the features that the options enable.
func FeaturesOf(o model.IndexOptions) (p Features) {
	for part, on := range map[Features]bool{FeatureBalance: o.Balance, FeatureUnspent: o.Unspent, FeatureHistory: o.History, FeaturePrefix: o.Prefix,
		FeatureStatistics: o.Statistics} {
		if on {
			p |= part
		}
	}
	return p
}

func (p Features) Has(part Features) bool { return p&part == part }

// Index is an index of a database. Rows name it by its number, which is assigned when it is added and stored in meta, so
// that the order of indexes in the settings has no meaning.
type Index struct {
	model.Index
	Number   int      // never reused
	Active   Features // complete up to the tip of the database
	Building Features // being added, complete up to IndexChange.BuiltTo
}

// Dropped reports whether the index is being dropped: it has neither active nor building features.
func (x *Index) Dropped() bool { return x.Active|x.Building == 0 }

// Layout is the chain and the indexes of a database. The layout of a database is immutable: adding or dropping an index
// replaces it.
type Layout struct {
	Chain  model.Chain
	Traits model.Traits

	Raw      bool // whether raw transactions are stored: the state of RawTxs
	RawFiles bool // whether the places of raw transactions in a node's files are stored: the state of RawPlaces

	RawTxs, RawPlaces, Rules *Index // see raw.go

	All        []*Index // by number
	Indexes    []*Index // the active ones of outputs, by number: the order that [model.Key.Index] refers to
	PerBlock   []*Index // the active ones of blocks, by number
	Statistics *Index   // the active index of statistics, or nil
	next       int      // the number of the next index
	SpendIndex *Index   // the index whose values inputs refer to; nil if they refer to outpoints
}

// Arrange derives Indexes, PerBlock, Statistics and SpendIndex from All, and Raw and RawFiles from RawTxs and RawPlaces.
func (l *Layout) Arrange() {
	slices.SortFunc(l.All, func(a, b *Index) int { return a.Number - b.Number })
	l.Indexes, l.PerBlock, l.Statistics = nil, nil, nil
	for _, x := range l.All {
		switch {
		case !x.Active.Has(FeatureValues):
		case x.Kind == model.PerBlock:
			l.PerBlock = append(l.PerBlock, x)
		case x.Kind == model.Sums:
			l.Statistics = x
		default:
			l.Indexes = append(l.Indexes, x)
		}
	}
	l.SpendIndex = l.Active(l.Traits.SpendIndex)
	l.Raw, l.RawFiles = l.RawTxs.Active != 0, l.RawPlaces.Active != 0
}

// HasStatistics reports whether the database keeps statistics of blocks.
func (l *Layout) HasStatistics() bool {
	return l.Statistics != nil || slices.ContainsFunc(l.Indexes, func(x *Index) bool { return x.Active.Has(FeatureStatistics) })
}

// Entry returns the index of that name, active or building; nil if there is none.
func (l *Layout) Entry(name string) *Index {
	if name == RawFilesName && !l.RawPlaces.Dropped() {
		return l.RawPlaces
	}
	for _, list := range [2][]*Index{l.All, l.raws()} {
		for _, x := range list {
			if x.Name == name && !x.Dropped() {
				return x
			}
		}
	}
	return nil
}

func (l *Layout) Active(name string) *Index {
	for _, x := range l.Indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// ByNumber returns the index with number n, even a dropped one; nil if there is none.
func (l *Layout) ByNumber(n uint64) *Index {
	all := l.All
	if n >= rawNumber {
		all = l.raws()
	}
	for _, x := range all {
		if uint64(x.Number) == n {
			return x
		}
	}
	return nil
}

func (l *Layout) Names() []string {
	names := make([]string, len(l.Indexes))
	for i, x := range l.Indexes {
		names[i] = x.Name
	}
	return names
}

// AppendTo appends the value of meta's row indexes. The expressions of indexes that the chain defines are empty.
func (l *Layout) AppendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(l.next))
	for _, x := range l.All {
		custom, expressions := byte(0), []string{"", ""}
		if x.Custom {
			custom, expressions = 1, []string{x.When, x.Value}
		}
		b = binary.AppendUvarint(b, uint64(x.Number))
		b = append(b, byte(x.Kind), byte(x.Active), byte(x.Building), custom)
		for _, text := range append([]string{x.Name}, expressions...) {
			b = binary.AppendUvarint(b, uint64(len(text)))
			b = append(b, text...)
		}
	}
	return b
}

// parseIndexes decodes what AppendTo appended: the indexes without the functions of the chain, and the next number.
func parseIndexes(b []byte) (all []*Index, next int, err error) {
	r := reader{b: b}
	next = r.size("next index number")
	for len(r.b) > 0 {
		x := &Index{Number: r.size("index number")}
		bytes := r.take(4, "kind, live, coming and own")
		x.Kind, x.Active, x.Building, x.Custom = model.Kind(bytes[0]), Features(bytes[1]), Features(bytes[2]), bytes[3] == 1
		for _, to := range []*string{&x.Name, &x.When, &x.Value} {
			*to = string(r.take(int(r.atMost(uint64(len(r.b)), "length of text")), "text"))
		}
		switch {
		case x.Kind > model.Sums:
			r.fail("unknown kind of index " + x.Name)
		case x.Active|x.Building > AllFeatures || bytes[3] > 1:
			r.fail("unknown features of index " + x.Name)
		case x.Number >= next || !numberFits(x.Number):
			r.fail("index number out of range")
		}
		all = append(all, x)
	}
	return all, next, r.end()
}

// numberFits reports whether the families of index number n fit the 16 bits of a family number.
func numberFits(n int) bool {
	return n < (1<<16-int(FirstIndexFamily))/int(FamiliesPerIndex)
}

// NewLayout returns the layout of a new database: the named indexes or the chain's defaults, and the indexes that are
// always on. Numbers follow the chain's order of indexes, so the order of names has no effect. Errors: unknown_index,
// bad_option, bad_value.
func NewLayout(c model.Chain, names []string, keep map[string]model.IndexOptions, raw, rawFiles bool) (*Layout, error) {
	l := &Layout{Chain: c, Traits: c.Traits(), RawTxs: rawTxs(0, 0), RawPlaces: rawPlaces(0, 0), Rules: rules(c, nil)}
	if raw {
		l.RawTxs.Active = FeatureValues
	}
	if rawFiles {
		l.RawPlaces.Active = FeatureValues
	}
	l.Arrange()
	offered := model.AllIndexes(c)
	for _, name := range names {
		if !slices.ContainsFunc(offered, func(x model.Index) bool { return x.Name == name }) {
			return nil, UnknownIndex(c, name)
		}
	}
	for _, x := range offered {
		if x.Always || slices.Contains(names, x.Name) || (names == nil && x.Default) {
			if err := l.Add(x, FeatureValues|FeaturesOf(keep[x.Name]), 0); err != nil {
				return nil, err
			}
		}
	}
	return l, nil
}

// Add appends an index with the next number. Errors: bad_option, bad_value (a family name is taken), too_many_indexes.
func (l *Layout) Add(x model.Index, live, coming Features) error {
	added := &Index{x, l.next, live, coming}
	if err := added.CheckFeatures(live | coming); err != nil {
		return err
	}
	if !numberFits(l.next) {
		return model.Errorf(model.Refused, "too_many_indexes", "index %s: all %d index numbers of the database are used", x.Name, l.next)
	}
	taken := map[string]string{}
	for _, d := range Schema {
		taken[d.Name] = "the schema"
	}
	for _, other := range l.All {
		for _, d := range other.DeclarationsOf(AllFeatures) {
			taken[d.Name] = "index " + other.Name
		}
	}
	for _, d := range added.DeclarationsOf(AllFeatures) {
		if whose, found := taken[d.Name]; found {
			return model.Errorf(model.Usage, "bad_value", "index %s: its family %s would collide with one of %s: choose another name", x.Name, d.Name, whose)
		}
	}
	l.All = append(l.All, added)
	l.next++
	l.Arrange()
	return nil
}

// CheckFeatures returns bad_option if an index of this kind cannot have the features.
func (x *Index) CheckFeatures(p Features) error {
	if !x.Kind.Valid() && p&^FeatureValues != 0 {
		return model.Errorf(model.Usage, "bad_option", "index %s is of blocks: it has no options", x.Name)
	}
	if x.Kind == model.OneToOne && p&SpendFeatures != 0 {
		return model.Errorf(model.Usage, "bad_option", "index %s is one-to-one, each of its values occurs in one output: balance, unspent, history and statistics do not apply", x.Name)
	}
	return nil
}

// UnknownIndex returns the error of a name that no index of the chain has: kind [model.Usage], code unknown_index.
func UnknownIndex(c model.Chain, name string) error {
	var names []string
	for _, x := range model.AllIndexes(c) {
		names = append(names, x.Name)
	}
	hint := suggest.Name(name, names)
	if strings.ContainsAny(name, " ;") {
		hint = "; separate names by commas"
	}
	return model.Errorf(model.Usage, "unknown_index", "%s has no index %q; it offers %s%s", c.Name(), name, strings.Join(names, ", "), hint)
}

// ReadLayout reads the layout of an existing database from meta. Returns index_mismatch if the chain does not define an
// index, or defines it differently.
func ReadLayout(r storage.Reader, c model.Chain) (*Layout, error) {
	rows, err := r.GetMany(FamilyMeta, [][]byte{MetaIndexes, MetaRaw, MetaRawFiles, MetaAssetsNew})
	if err != nil {
		return nil, err
	}
	return ParseLayout(c, rows[0], rows[1], rows[2], rows[3])
}

// ParseLayout is [ReadLayout] from meta's rows indexes, raw, raw_files and assets_new; nil: there is no such row.
func ParseLayout(c model.Chain, indexes, raw, rawFiles, assetsNew []byte) (l *Layout, err error) {
	l = &Layout{Chain: c, Traits: c.Traits(), RawTxs: rawTxs(parseRaw(raw)), RawPlaces: rawPlaces(parseRaw(rawFiles)), Rules: rules(c, assetsNew)}
	if l.All, l.next, err = parseIndexes(indexes); err != nil {
		return nil, fmt.Errorf("meta indexes: %w", err)
	}
	offered := model.AllIndexes(c)
	for _, x := range l.All {
		if x.Dropped() {
			continue // only its number is still needed
		}
		i := slices.IndexFunc(offered, func(o model.Index) bool { return o.Name == x.Name && (o.Custom || o.Kind == x.Kind) })
		if i < 0 {
			return nil, model.Errorf(model.Refused, "index_mismatch",
				"the database has a %v index %s that this program does not support", x.Kind, x.Name)
		}
		stored, _ := x.Definition()
		if d, custom := offered[i].Definition(); custom != x.Custom || custom && d != stored {
			return nil, model.Errorf(model.Refused, "index_mismatch", "index %s is defined as %s, the database was created with %s: "+
				"give the new definition a name of its own, or drop the index and add it again (birthmark index drop %s)",
				x.Name, describe(d), describe(stored), x.Name)
		}
		x.Index = offered[i]
	}
	l.Arrange()
	return l, nil
}

// describe formats a definition on one line.
func describe(d model.Definition) string {
	if d.Value == "" {
		return "the chain's own"
	}
	text := fmt.Sprintf("%v value %q", d.Kind, d.Value)
	if d.When != "" {
		text += fmt.Sprintf(" when %q", d.When)
	}
	return text
}

// Require returns index_mismatch or unknown_index if an existing database does not have the indexes and features. A
// database maintains its other indexes too, whether they are named or not.
func (l *Layout) Require(names []string, keep map[string]model.IndexOptions) error {
	for _, name := range names {
		if l.Entry(name) == nil {
			if !slices.ContainsFunc(model.AllIndexes(l.Chain), func(x model.Index) bool { return x.Name == name }) {
				return UnknownIndex(l.Chain, name)
			}
			return model.Errorf(model.Refused, "index_mismatch", "the database has no index %s (it has %s): add it with birthmark index add %s, or leave it out",
				name, strings.Join(l.Names(), ", "), name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(keep)) {
		var has Features
		if x := l.Entry(name); x != nil {
			has = x.Active | x.Building
		}
		if lacks := FeaturesOf(keep[name]) &^ has; lacks != 0 {
			return model.Errorf(model.Refused, "index_mismatch", "the database has no %s for index %s: add it with birthmark index add %s, or leave it out",
				lacks, name, name)
		}
	}
	return nil
}

// Names returns the names that the settings use.
func (p Features) Names() []string {
	var names []string
	for _, part := range []struct {
		part Features
		name string
	}{{FeatureValues, "values"}, {FeatureBalance, "balance"}, {FeatureUnspent, "unspent"}, {FeatureHistory, "history"}, {FeaturePrefix, "prefix"},
		{FeatureStatistics, "statistics"}} {
		if p.Has(part.part) {
			names = append(names, part.name)
		}
	}
	return names
}

func (p Features) String() string { return strings.Join(p.Names(), ", ") }

// HoldersIndex is the name of the index whose values are the holders of assets.
const HoldersIndex = "address"

// Holders returns the active one-to-many index of asset holders; nil if there is none.
func (l *Layout) Holders() *Index {
	if x := l.Active(HoldersIndex); x != nil && x.Kind == model.OneToMany {
		return x
	}
	return nil
}

// Copy returns a copy of the layout whose entries can be changed, and the copy of x in it.
func (l *Layout) Copy(x *Index) (*Layout, *Index) {
	txs, places, rules := *l.RawTxs, *l.RawPlaces, *l.Rules
	d := &Layout{Chain: l.Chain, Traits: l.Traits, RawTxs: &txs, RawPlaces: &places, Rules: &rules, next: l.next}
	var same *Index
	switch x {
	case l.RawTxs:
		same = d.RawTxs
	case l.RawPlaces:
		same = d.RawPlaces
	case l.Rules:
		same = d.Rules
	}
	for _, from := range l.All {
		to := *from
		if d.All = append(d.All, &to); from == x {
			same = &to
		}
	}
	d.Arrange()
	return d, same
}

// Dropped returns the indexes that are being dropped, and raw transactions and places that are not stored.
func (l *Layout) Dropped() (xs []*Index) {
	for _, x := range slices.Concat(l.All, l.raws()) {
		if x.Dropped() {
			xs = append(xs, x)
		}
	}
	return xs
}

// HalfDropped returns an [IndexChange] for a dropped index; nil if there is none. An earlier version could leave a
// dropped index without an IndexChange.
func (l *Layout) HalfDropped() *IndexChange {
	for _, x := range l.All {
		if x.Dropped() {
			return &IndexChange{Index: x}
		}
	}
	return nil
}

// Lookup returns an active index by name. Errors: index_building with the progress of work, or unknown_index with the
// available names.
func (l *Layout) Lookup(name string, tip model.Point, work *IndexChange) (*Index, error) {
	if x := l.Active(name); x != nil {
		return x, nil
	}
	if slices.ContainsFunc(l.All, func(x *Index) bool { return x.Name == name && !x.Kind.Valid() && x.Active != 0 }) {
		return nil, model.Errorf(model.Usage, "unknown_index", "index %s is of blocks, not of outputs; the database has %s",
			name, strings.Join(l.Names(), ", "))
	}
	if x := l.Entry(name); x != nil && !x.IsRaw() {
		to, of := model.HeightPk(0), tip.Height
		if work != nil {
			to = work.BuiltTo.Height
		}
		return nil, model.Errorf(model.Refused, "index_building", "index %s is being added: it has blocks up to %d of %d (%d%%)", name, to, of, int64(to)*100/max(1, int64(of)))
	}
	if slices.ContainsFunc(model.AllIndexes(l.Chain), func(x model.Index) bool { return x.Name == name }) {
		return nil, model.Errorf(model.Usage, "unknown_index", "the database has no index %s; it has %s",
			name, strings.Join(l.Names(), ", "))
	}
	return nil, UnknownIndex(l.Chain, name)
}
