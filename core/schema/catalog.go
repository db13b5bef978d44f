package schema

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

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

	AllFeatures     = FeaturePrefix<<1 - 1
	AccountFeatures = FeatureBalance | FeatureUnspent | FeatureHistory // spends change these too
)

// FeaturesOf returns the features that the options enable.
func FeaturesOf(o model.IndexOptions) (p Features) {
	for part, on := range map[Features]bool{FeatureBalance: o.Balance, FeatureUnspent: o.Unspent, FeatureHistory: o.History, FeaturePrefix: o.Prefix} {
		if on {
			p |= part
		}
	}
	return p
}

func (p Features) Has(part Features) bool { return p&part == part }

// Index is an index of a database.
type Index struct {
	model.Index
	Number   int      // assigned once, never reused
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
	Raw    bool // whether raw transactions are stored

	All        []*Index // by number
	Indexes    []*Index // the active ones, by number: the order that [model.Key.Index] refers to
	next       int      // the number of the next index
	SpendIndex *Index   // the index whose values inputs refer to; nil if they refer to outpoints
}

// Arrange derives Indexes and SpendIndex from All.
func (c *Layout) Arrange() {
	slices.SortFunc(c.All, func(a, b *Index) int { return a.Number - b.Number })
	c.Indexes = slices.DeleteFunc(slices.Clone(c.All), func(x *Index) bool { return !x.Active.Has(FeatureValues) })
	c.SpendIndex = c.Active(c.Traits.SpendIndex)
}

// Entry returns the index of that name, active or building; nil if there is none.
func (c *Layout) Entry(name string) *Index {
	for _, x := range c.All {
		if x.Name == name && !x.Dropped() {
			return x
		}
	}
	return nil
}

func (c *Layout) Active(name string) *Index {
	for _, x := range c.Indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// ByNumber returns the index with number n, even a dropped one; nil if there is none.
func (c *Layout) ByNumber(n uint64) *Index {
	for _, x := range c.All {
		if uint64(x.Number) == n {
			return x
		}
	}
	return nil
}

func (c *Layout) Names() []string {
	names := make([]string, len(c.Indexes))
	for i, x := range c.Indexes {
		names[i] = x.Name
	}
	return names
}

// AppendTo appends the value of meta's row indexes: uvarint next number|[uvarint
// number|kind|live|coming|own|name|when|value], where each text is a uvarint length and the bytes. when and value are
// empty for indexes that the chain defines.
func (c *Layout) AppendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(c.next))
	for _, x := range c.All {
		d, own := x.Definition()
		b = binary.AppendUvarint(b, uint64(x.Number))
		b = append(b, byte(x.Kind), byte(x.Active), byte(x.Building), 0)
		if !own {
			d.When, d.Value = "", ""
		} else {
			b[len(b)-1] = 1
		}
		for _, text := range []string{d.Name, d.When, d.Value} {
			b = binary.AppendUvarint(b, uint64(len(text)))
			b = append(b, text...)
		}
	}
	return b
}

type indexEntry struct {
	number       int
	live, coming Features
	own          bool
	definition   model.Definition
}

func parseIndexes(b []byte) (entries []indexEntry, next int, err error) {
	r := reader{b: b}
	next = r.size("next index number")
	for len(r.b) > 0 {
		e := indexEntry{number: r.size("index number")}
		bytes := r.take(4, "kind, parts")
		e.definition.Kind, e.live, e.coming, e.own = model.Kind(bytes[0]), Features(bytes[1]), Features(bytes[2]), bytes[3] == 1
		for _, to := range []*string{&e.definition.Name, &e.definition.When, &e.definition.Value} {
			n := r.size("length of text")
			if n > len(r.b) {
				r.fail("text is cut")
				break
			}
			*to = string(r.take(n, "text"))
		}
		switch {
		case !e.definition.Kind.Valid():
			r.fail("unknown kind of index " + e.definition.Name)
		case e.live|e.coming > AllFeatures || bytes[3] > 1:
			r.fail("unknown parts of index " + e.definition.Name)
		case e.number >= next || !numberFits(e.number):
			r.fail("index number out of range")
		}
		entries = append(entries, e)
	}
	return entries, next, r.end()
}

// numberFits reports whether the families of index number n fit the 16 bits of a family number.
func numberFits(n int) bool {
	return n < (1<<16-int(FirstIndexFamily))/int(FamiliesPerIndex)
}

// NewLayout returns the layout of a new database: the named indexes or the chain's defaults, and the indexes that are
// always on. Numbers follow the chain's order of indexes, so the order of names has no effect. Errors: unknown_index,
// bad_option, bad_value.
func NewLayout(c model.Chain, names []string, keep map[string]model.IndexOptions, raw bool) (*Layout, error) {
	cat := &Layout{Chain: c, Traits: c.Traits(), Raw: raw}
	offered := c.Indexes()
	for _, name := range names {
		if !slices.ContainsFunc(offered, func(x model.Index) bool { return x.Name == name }) {
			return nil, UnknownIndex(c, name)
		}
	}
	for _, x := range offered {
		if x.Always || slices.Contains(names, x.Name) || (names == nil && x.Default) {
			if err := cat.Add(x, FeatureValues|FeaturesOf(keep[x.Name]), 0); err != nil {
				return nil, err
			}
		}
	}
	return cat, nil
}

// Add appends an index with the next number. Errors: bad_option, bad_value (a family name is taken), too_many_indexes.
func (c *Layout) Add(x model.Index, live, coming Features) error {
	added := &Index{x, c.next, live, coming}
	if err := added.CheckFeatures(live | coming); err != nil {
		return err
	}
	if !numberFits(c.next) {
		return model.Errorf(model.Refused, "too_many_indexes", "index %s: the database has given away all %d numbers of indexes", x.Name, c.next)
	}
	taken := map[string]string{}
	for _, d := range Schema {
		taken[d.Name] = "the schema"
	}
	for _, other := range c.All {
		for _, d := range other.DeclarationsOf(AllFeatures) {
			taken[d.Name] = "index " + other.Name
		}
	}
	for _, d := range added.DeclarationsOf(AllFeatures) {
		if whose, found := taken[d.Name]; found {
			return model.Errorf(model.Usage, "bad_value", "index %s: its family %s would be one of %s: choose another name", x.Name, d.Name, whose)
		}
	}
	c.All = append(c.All, added)
	c.next++
	c.Arrange()
	return nil
}

// CheckFeatures returns bad_option if an index of this kind cannot have the features.
func (x *Index) CheckFeatures(p Features) error {
	if x.Kind == model.OneToOne && p&AccountFeatures != 0 {
		return model.Errorf(model.Usage, "bad_option", "index %s is one-to-one, each of its values occurs in one output: it has no use for balance, unspent and history", x.Name)
	}
	return nil
}

func UnknownIndex(c model.Chain, name string) error {
	var names []string
	for _, x := range c.Indexes() {
		names = append(names, x.Name)
	}
	return model.Errorf(model.Usage, "unknown_index", "%s has no index %q; it offers %s", c.Name(), name, strings.Join(names, ", "))
}

// ReadLayout reads the layout of an existing database from meta. Returns index_mismatch if the chain does not define an
// index, or defines it differently.
func ReadLayout(r storage.Reader, c model.Chain) (*Layout, error) {
	rows, err := r.GetMany(FamilyMeta, [][]byte{MetaIndexes, MetaRaw})
	if err != nil {
		return nil, err
	}
	cat := &Layout{Chain: c, Traits: c.Traits(), Raw: rows[1] != nil}
	var stored []indexEntry
	if stored, cat.next, err = parseIndexes(rows[0]); err != nil {
		return nil, fmt.Errorf("meta indexes: %w", err)
	}
	offered := c.Indexes()
	for _, e := range stored {
		name := e.definition.Name
		if e.live|e.coming == 0 { // only its number is still needed
			left := model.Index{Name: name, Kind: e.definition.Kind, Custom: e.own, When: e.definition.When, Value: e.definition.Value}
			cat.All = append(cat.All, &Index{Index: left, Number: e.number})
			continue
		}
		i := slices.IndexFunc(offered, func(x model.Index) bool { return x.Name == name && (x.Custom || x.Kind == e.definition.Kind) })
		if i < 0 {
			return nil, model.Errorf(model.Refused, "index_mismatch",
				"the database has a %v index %s that this program does not know", e.definition.Kind, name)
		}
		if d, own := offered[i].Definition(); own != e.own || own && d != e.definition {
			return nil, model.Errorf(model.Refused, "index_mismatch", "index %s is defined as %s, the database was made with %s: give the new definition a name of its own, or drop the index and add it again (birthmark index drop %s)",
				name, describe(d), describe(e.definition), name)
		}
		cat.All = append(cat.All, &Index{offered[i], e.number, e.live, e.coming})
	}
	cat.Arrange()
	return cat, nil
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
func (c *Layout) Require(names []string, keep map[string]model.IndexOptions) error {
	for _, name := range names {
		if c.Entry(name) == nil {
			if !slices.ContainsFunc(c.Chain.Indexes(), func(x model.Index) bool { return x.Name == name }) {
				return UnknownIndex(c.Chain, name)
			}
			return model.Errorf(model.Refused, "index_mismatch", "the database has no index %s (it has %s): add it with birthmark index add %s, or leave it out",
				name, strings.Join(c.Names(), ", "), name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(keep)) {
		var has Features
		if x := c.Entry(name); x != nil {
			has = x.Active | x.Building
		}
		if lacks := FeaturesOf(keep[name]) &^ has; lacks != 0 {
			return model.Errorf(model.Refused, "index_mismatch", "the database does not keep %s for index %s: add it with birthmark index add %s, or leave it out",
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
	}{{FeatureValues, "values"}, {FeatureBalance, "balance"}, {FeatureUnspent, "unspent"}, {FeatureHistory, "history"}, {FeaturePrefix, "prefix"}} {
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
func (c *Layout) Holders() *Index {
	if x := c.Active(HoldersIndex); x != nil && x.Kind == model.OneToMany {
		return x
	}
	return nil
}

// Copy returns a copy of the layout whose entries can be changed, and the copy of x in it.
func (c *Layout) Copy(x *Index) (*Layout, *Index) {
	d := &Layout{Chain: c.Chain, Traits: c.Traits, Raw: c.Raw, next: c.next}
	var same *Index
	for _, from := range c.All {
		to := *from
		if d.All = append(d.All, &to); from == x {
			same = &to
		}
	}
	d.Arrange()
	return d, same
}

// HalfDropped returns an [IndexChange] for a dropped index; nil if there is none. An earlier version could leave a
// dropped index without an IndexChange.
func (c *Layout) HalfDropped() *IndexChange {
	for _, x := range c.All {
		if x.Dropped() {
			return &IndexChange{Index: x}
		}
	}
	return nil
}

// Lookup returns an active index by name. Errors: index_building with the progress of work, or unknown_index with the
// available names.
func (c *Layout) Lookup(name string, tip model.Point, work *IndexChange) (*Index, error) {
	if x := c.Active(name); x != nil {
		return x, nil
	}
	if x := c.Entry(name); x != nil {
		to, of := model.HeightPk(0), tip.Height
		if work != nil {
			to = work.BuiltTo.Height
		}
		return nil, model.Errorf(model.Refused, "index_building", "index %s is being added: it has blocks up to %d of %d (%d%%)", name, to, of, int64(to)*100/max(1, int64(of)))
	}
	if slices.ContainsFunc(c.Chain.Indexes(), func(x model.Index) bool { return x.Name == name }) {
		return nil, model.Errorf(model.Usage, "unknown_index", "the database has no index %s; it has %s",
			name, strings.Join(c.Names(), ", "))
	}
	return nil, UnknownIndex(c.Chain, name)
}
