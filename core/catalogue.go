package core

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"

	"birthmark/model"
	"birthmark/storage"
)

// parts are what a database keeps for an index.
type parts uint8

const (
	partValues parts = 1 << iota // values, births and relations, and the values' births in the rows of outputs
	partBalance
	partUnspent
	partHistory
	partPrefix

	allParts     = partPrefix<<1 - 1
	partAccounts = partBalance | partUnspent | partHistory // what inputs change as well as outputs
)

// partsOf are the parts that options ask for.
func partsOf(o model.IndexOptions) (p parts) {
	for part, on := range map[parts]bool{partBalance: o.Balance, partUnspent: o.Unspent, partHistory: o.History, partPrefix: o.Prefix} {
		if on {
			p |= part
		}
	}
	return p
}

func (p parts) has(part parts) bool { return p&part == part }

// index is an index a database has.
type index struct {
	model.Index
	number int   // given once
	live   parts // of the whole chain, up to the tip
	coming parts // being added, up to a tip of their own: see build.go
}

// dropped reports whether the index is on its way out: nothing of it counts any more.
func (x *index) dropped() bool { return x.live|x.coming == 0 }

// catalogue is the indexes of a database. It does not change once it is that of a [DB]: see [DB.catalogue].
type catalogue struct {
	chain  model.Chain
	traits model.Traits
	raw    bool // transactions' bytes are kept

	all     []*index // by number
	indexes []*index // those whose values are live, by number: the order in which [model.Key.Index] counts
	next    int      // the number of the next one
	spendBy *index   // the index that inputs name; nil: they name outpoints
}

// arrange derives the other fields from all.
func (c *catalogue) arrange() {
	slices.SortFunc(c.all, func(a, b *index) int { return a.number - b.number })
	c.indexes = slices.DeleteFunc(slices.Clone(c.all), func(x *index) bool { return !x.live.has(partValues) })
	c.spendBy = c.indexByName(c.traits.SpendIndex)
}

// entry is the index of a name, live or not.
func (c *catalogue) entry(name string) *index {
	for _, x := range c.all {
		if x.Name == name && !x.dropped() {
			return x
		}
	}
	return nil
}

func (c *catalogue) indexByName(name string) *index {
	for _, x := range c.indexes {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// indexByNumber is the index of a number, live or not.
func (c *catalogue) indexByNumber(n uint64) *index {
	for _, x := range c.all {
		if uint64(x.number) == n {
			return x
		}
	}
	return nil
}

func (c *catalogue) liveNames() []string {
	names := make([]string, len(c.indexes))
	for i, x := range c.indexes {
		names[i] = x.Name
	}
	return names
}

// appendTo appends the catalogue as meta stores it: uvarint next number|[uvarint number|kind|live|coming|own|text of name,
// when and value], a text is its uvarint length and itself. Of a chain's own index when and value are left out.
func (c *catalogue) appendTo(b []byte) []byte {
	b = binary.AppendUvarint(b, uint64(c.next))
	for _, x := range c.all {
		d, own := x.Definition()
		b = binary.AppendUvarint(b, uint64(x.number))
		b = append(b, byte(x.Kind), byte(x.live), byte(x.coming), 0)
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

type catalogueEntry struct {
	number       int
	live, coming parts
	own          bool
	definition   model.Definition
}

func parseCatalogue(b []byte) (entries []catalogueEntry, next int, err error) {
	r := reader{b: b}
	next = r.size("next index number")
	for len(r.b) > 0 {
		e := catalogueEntry{number: r.size("index number")}
		bytes := r.take(4, "kind, parts")
		e.definition.Kind, e.live, e.coming, e.own = model.Kind(bytes[0]), parts(bytes[1]), parts(bytes[2]), bytes[3] == 1
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
		case e.live|e.coming > allParts || bytes[3] > 1:
			r.fail("unknown parts of index " + e.definition.Name)
		case e.number >= next || !numberFits(e.number):
			r.fail("index number out of range")
		}
		entries = append(entries, e)
	}
	return entries, next, r.end()
}

// numberFits reports whether the families of an index of that number have numbers.
func numberFits(n int) bool {
	return n < (1<<16-int(firstIndexFamily))/int(familiesPerIndex)
}

// newCatalogue is the indexes of a new database: the named ones or the chain's defaults, and those that are always on.
// Numbers follow the chain's own order, so that the order of settings changes nothing.
func newCatalogue(c model.Chain, names []string, keep map[string]model.IndexOptions, raw bool) (*catalogue, error) {
	cat := &catalogue{chain: c, traits: c.Traits(), raw: raw}
	offered := c.Indexes()
	for _, name := range names {
		if !slices.ContainsFunc(offered, func(x model.Index) bool { return x.Name == name }) {
			return nil, unknownIndex(c, name)
		}
	}
	for _, x := range offered {
		if x.Always || slices.Contains(names, x.Name) || (names == nil && x.Default) {
			if err := cat.add(x, partValues|partsOf(keep[x.Name]), 0); err != nil {
				return nil, err
			}
		}
	}
	return cat, nil
}

// add gives an index the next number.
func (c *catalogue) add(x model.Index, live, coming parts) error {
	added := &index{x, c.next, live, coming}
	if err := added.checkParts(live | coming); err != nil {
		return err
	}
	if !numberFits(c.next) {
		return model.Errorf(model.Refused, "too_many_indexes", "index %s: the database has given away all %d numbers of indexes", x.Name, c.next)
	}
	taken := map[string]string{}
	for _, d := range schema {
		taken[d.Name] = "the schema"
	}
	for _, other := range c.all {
		for _, d := range other.declarationsOf(allParts) {
			taken[d.Name] = "index " + other.Name
		}
	}
	for _, d := range added.declarationsOf(allParts) {
		if whose, found := taken[d.Name]; found {
			return model.Errorf(model.Usage, "bad_value", "index %s: its family %s would be one of %s: choose another name", x.Name, d.Name, whose)
		}
	}
	c.all = append(c.all, added)
	c.next++
	c.arrange()
	return nil
}

// checkParts refuses what an index of its kind cannot keep.
func (x *index) checkParts(p parts) error {
	if x.Kind == model.OneToOne && p&partAccounts != 0 {
		return model.Errorf(model.Usage, "bad_option", "index %s is one-to-one, each of its values occurs in one output: it has no use for balance, unspent and history", x.Name)
	}
	return nil
}

func unknownIndex(c model.Chain, name string) error {
	var names []string
	for _, x := range c.Indexes() {
		names = append(names, x.Name)
	}
	return model.Errorf(model.Usage, "unknown_index", "%s has no index %q; it offers %s", c.Name(), name, strings.Join(names, ", "))
}

// readCatalogue reads the indexes of an old database from meta, and whether it keeps raw transactions.
func readCatalogue(r storage.Reader, c model.Chain) (*catalogue, error) {
	rows, err := r.GetMany(familyMeta, [][]byte{metaIndexes, metaRaw})
	if err != nil {
		return nil, err
	}
	cat := &catalogue{chain: c, traits: c.Traits(), raw: rows[1] != nil}
	var stored []catalogueEntry
	if stored, cat.next, err = parseCatalogue(rows[0]); err != nil {
		return nil, fmt.Errorf("meta indexes: %w", err)
	}
	offered := c.Indexes()
	for _, e := range stored {
		name := e.definition.Name
		if e.live|e.coming == 0 { // all that is left of it is its number
			left := model.Index{Name: name, Kind: e.definition.Kind, Custom: e.own, When: e.definition.When, Value: e.definition.Value}
			cat.all = append(cat.all, &index{Index: left, number: e.number})
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
		cat.all = append(cat.all, &index{offered[i], e.number, e.live, e.coming})
	}
	cat.arrange()
	return cat, nil
}

// describe writes a definition on one line.
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

// wanted refuses indexes and options that an old database does not keep. What it keeps it keeps up to date, named or
// not.
func (c *catalogue) wanted(names []string, keep map[string]model.IndexOptions) error {
	for _, name := range names {
		if c.entry(name) == nil {
			if !slices.ContainsFunc(c.chain.Indexes(), func(x model.Index) bool { return x.Name == name }) {
				return unknownIndex(c.chain, name)
			}
			return model.Errorf(model.Refused, "index_mismatch", "the database has no index %s (it has %s): add it with birthmark index add %s, or leave it out",
				name, strings.Join(c.liveNames(), ", "), name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(keep)) {
		var has parts
		if x := c.entry(name); x != nil {
			has = x.live | x.coming
		}
		if lacks := partsOf(keep[name]) &^ has; lacks != 0 {
			return model.Errorf(model.Refused, "index_mismatch", "the database does not keep %s for index %s: add it with birthmark index add %s, or leave it out",
				lacks, name, name)
		}
	}
	return nil
}

// names are the parts as settings name them.
func (p parts) names() []string {
	var names []string
	for _, part := range []struct {
		part parts
		name string
	}{{partValues, "values"}, {partBalance, "balance"}, {partUnspent, "unspent"}, {partHistory, "history"}, {partPrefix, "prefix"}} {
		if p.has(part.part) {
			names = append(names, part.name)
		}
	}
	return names
}

func (p parts) String() string { return strings.Join(p.names(), ", ") }

// holdersIndex is the index whose values are the holders of assets.
const holdersIndex = "address"

// holders is the index whose values hold assets; nil where the database has none that can.
func (c *catalogue) holders() *index {
	if x := c.indexByName(holdersIndex); x != nil && x.Kind == model.OneToMany {
		return x
	}
	return nil
}

// copy of the catalogue whose entries can be changed, and the copy of x in it.
func (c *catalogue) copy(x *index) (*catalogue, *index) {
	d := &catalogue{chain: c.chain, traits: c.traits, raw: c.raw, next: c.next}
	var same *index
	for _, from := range c.all {
		to := *from
		if d.all = append(d.all, &to); from == x {
			same = &to
		}
	}
	d.arrange()
	return d, same
}

// halfDropped returns work for an index of the catalogue that is dropped and for which there is none: an earlier
// version could leave one behind. nil if there is no such index.
func (c *catalogue) halfDropped() *indexWork {
	for _, x := range c.all {
		if x.dropped() {
			return &indexWork{x: x}
		}
	}
	return nil
}

// lookup returns an active index by name, or an error that says what the database has instead.
func (c *catalogue) lookup(name string, tip model.Point, work *indexWork) (*index, error) {
	if x := c.indexByName(name); x != nil {
		return x, nil
	}
	if x := c.entry(name); x != nil {
		to, of := model.HeightPk(0), tip.Height
		if work != nil {
			to = work.tip.Height
		}
		return nil, model.Errorf(model.Refused, "index_building", "index %s is being added: it has blocks up to %d of %d (%d%%)", name, to, of, int64(to)*100/max(1, int64(of)))
	}
	if slices.ContainsFunc(c.chain.Indexes(), func(x model.Index) bool { return x.Name == name }) {
		return nil, model.Errorf(model.Usage, "unknown_index", "the database has no index %s; it has %s",
			name, strings.Join(c.liveNames(), ", "))
	}
	return nil, unknownIndex(c.chain, name)
}
