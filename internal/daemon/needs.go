package daemon

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"birthmark/api/compat/blockfrost"
	"birthmark/api/compat/boxes"
	"birthmark/api/compat/esplora"
	"birthmark/api/compat/kupo"
	"birthmark/api/compat/ogmios"
	"birthmark/api/compat/onesat"
	"birthmark/api/compat/submitapi"
	"birthmark/api/compat/wallet"
	"birthmark/api/served"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/internal/config"
	"birthmark/model"
)

// needs has the needs of the protocols by setting.
var needs = map[string]*served.Needs{
	"serve.electrum": &wallet.Needs, "serve.electrum_tls": &wallet.Needs, "serve.electrum_ws": &wallet.Needs,
	"serve.electrum_wss": &wallet.Needs, "serve.esplora": &esplora.Needs, "serve.blockbook": &wallet.Needs,
	"serve.ord": &wallet.Needs, "serve.onesat": &onesat.Needs,
	"serve.blockfrost": &blockfrost.Needs, "serve.kupo": &kupo.Needs, "serve.submit_api": &submitapi.Needs,
	"serve.ogmios":    &ogmios.Needs,
	"serve.ergo_node": &boxes.Needs, "serve.ergo_explorer": &boxes.Needs, "serve.ergo_graphql": &boxes.Needs,
}

// serves reports whether the settings have a protocol with these needs.
func serves(set *config.Chain, of *served.Needs) bool {
	return slices.ContainsFunc(set.Serve.Keys(), func(key string) bool { return needs[key] == of })
}

// checkLacks returns an error if chains lack something that their settings need. Otherwise it logs the answers that are
// not given, and why.
func (h *Host) checkLacks(all []*Lacks) error {
	if err := missing(slices.Clone(all)...); err != nil {
		return err
	}
	for _, l := range all {
		for _, x := range l.Optional {
			h.Log.Info("not answered without "+x.What+": "+strings.Join(x.Without, "; "), "chain", l.Chain,
				"needed_by", strings.Join(x.NeededBy, ", "), "remedy", x.Remedy)
		}
	}
	return nil
}

// has is what a chain has, or will have when its database is created.
type has struct {
	exists  bool
	layout  *schema.Layout
	node    model.Source // nil: none
	mempool bool
}

// checkServed returns an error if served chains lack something that their settings need.
func (h *Host) checkServed(ctx context.Context, chains []*served.Chain, sets map[string]*config.Chain) error {
	var all []*Lacks
	for _, c := range chains {
		if set := sets[c.Name]; set != nil {
			l, err := h.lacksOf(ctx, c, set)
			if err != nil {
				return err
			}
			all = append(all, l)
		}
	}
	return h.checkLacks(all)
}

// lacksOf compares the settings of a chain with what is served.
func (h *Host) lacksOf(ctx context.Context, c *served.Chain, set *config.Chain) (*Lacks, error) {
	layout, err := layoutOf(ctx, c.View)
	if err != nil {
		return nil, err
	}
	return h.findLacks(set, c.Model, has{true, layout, c.Node, c.Mempool != nil}, true), nil
}

// CheckNeeds compares the settings of a chain, as a server reads them, with the database in their folder; without one,
// with the database that they would create.
func (h *Host) CheckNeeds(ctx context.Context, set *config.Chain) (l *Lacks, err error) {
	dir, err := Folder(set)
	if err != nil {
		return nil, err
	}
	found, err := HoldsDatabase(dir)
	if err != nil {
		return nil, err
	}
	if !found {
		chain, err := h.Chain(set)
		if err != nil {
			return nil, err
		}
		return h.lacks(ctx, set, chain, nil, true)
	}
	stored := *set
	stored.Raw = config.RawOff // reports the missing node too
	db, err := h.OpenReading(ctx, &stored, core.Options{})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return h.lacks(ctx, set, db.Chain(), db, true)
}

// layoutOf returns the layout of a database.
func layoutOf(ctx context.Context, view func(context.Context, func(*query.View) error) error) (
	l *schema.Layout, err error,
) {
	err = view(ctx, func(v *query.View) error {
		return v.From(ctx, func(q *query.Query) error { l = q.Layout; return nil })
	})
	return l, err
}

// lacks compares the settings with the database in their folder; without one, with the database that they would create.
// It opens the node.
func (h *Host) lacks(ctx context.Context, set *config.Chain, chain model.Chain, db *Database, serves bool) (
	l *Lacks, err error,
) {
	have := has{exists: db != nil}
	if db != nil {
		have.layout, err = layoutOf(ctx, db.View)
	} else {
		have.layout, err = newLayout(set, chain)
	}
	if err != nil {
		return nil, err
	}
	if serves {
		if have.node, err = OpenNode(ctx, set, chain, nil); err != nil {
			return nil, err
		}
		if have.node != nil {
			defer func() { err = errors.Join(err, have.node.Close()) }()
		}
		have.mempool = served.Can[model.Mempool](have.node) && set.Mempool != config.MempoolOff
	}
	return h.findLacks(set, chain, have, serves), nil
}

// newLayout returns the layout of a database that the settings create.
func newLayout(set *config.Chain, chain model.Chain) (*schema.Layout, error) {
	names, err := IndexesOf(set, chain)
	if err != nil {
		return nil, err
	}
	return schema.NewLayout(chain, names, set.IndexOptions(), set.Raw == config.RawKeep, set.Raw == config.RawFiles)
}

// comparison collects what a chain lacks.
type comparison struct {
	h     *Host
	set   *config.Chain
	chain model.Chain
	has
	all []*lack // in the order in which they were found
}

// lack is something that a chain lacks, with everything that needs it.
type lack struct {
	of      served.Need // Index, Options and Custom are combined from all protocols that need it
	code    string
	by      []string
	presets []string
	without []string   // not answered without it
	strict  bool       // something does not work at all without it
	raw     config.Raw // that the settings name, if they need it
	uri     string     // of a node that suits
}

// findLacks compares the settings with what the chain has. serves also compares its protocols.
func (h *Host) findLacks(set *config.Chain, chain model.Chain, have has, serves bool) *Lacks {
	c := &comparison{h: h, set: set, chain: chain, has: have}
	l := &Lacks{
		Chain: ServedName(chain), DB: cmp.Or(set.DB, set.DefaultDB()), Exists: have.exists, Missing: []Lack{}, Optional: []Lack{},
	}
	if have.exists && set.Source != "" { // without a source, this process does not maintain the database
		c.settings()
	}
	if set.Raw == config.RawNode && nodeOf(set) == "" {
		c.add(served.Need{Node: served.Can[model.Source]}, "raw", set.Origin("raw"), "").uri = "http://127.0.0.1:8332"
	}
	if serves {
		c.protocols(l)
	}
	for _, x := range c.all {
		made := Lack{c.what(x), x.by, nil, c.remedy(x), x.code}
		if x.strict {
			l.Missing = append(l.Missing, made)
		} else {
			made.Without = x.without
			l.Optional = append(l.Optional, made)
		}
	}
	return l
}

// settings compares the indexes and the raw transactions that the settings name.
func (c *comparison) settings() {
	for _, ix := range c.set.Indexes {
		if ix.Implied && c.layout.Entry(ix.Name) == nil {
			continue
		}
		need := served.Need{Index: ix.Name, Options: schema.FeaturesOf(ix.Options)}
		if ix.Optional && ix.Definition != nil {
			need.Without = "what the preset has index " + ix.Name + " for"
		}
		if x := c.layout.Entry(ix.Name); x == nil || (need.Options|schema.FeatureValues)&^(x.Active|x.Building) != 0 {
			c.add(need, "indexes", ix.Origin, "")
		}
	}
	if raw := c.set.Raw; raw == config.RawKeep && c.layout.RawTxs.Dropped() || raw == config.RawFiles && c.layout.RawPlaces.Dropped() {
		need, by := served.Need{Raw: true}, "raw"
		if c.set.RawImplied {
			need.Without, by = "details of transactions that need their bytes", "indexes"
		}
		c.add(need, by, c.set.Origin(by), "").raw = raw
	}
}

// protocols compares the protocols of the settings.
func (c *comparison) protocols(l *Lacks) {
	for _, key := range c.set.Serve.Keys() {
		of := needs[key]
		if chains := append([]string{of.Chain}, of.Also...); !slices.Contains(chains, c.chain.Name()) {
			l.Missing = append(l.Missing, Lack{"the chain " + strings.Join(chains, " or "), []string{by(key, c.set.Origin(key))}, nil,
				"remove " + key + " from the settings of " + c.chain.Name(), "unsupported"})
			continue
		}
		for _, need := range of.Parts {
			if c.fulfils(need) {
				continue
			}
			if need.Mempool && c.node == nil {
				need.Mempool, need.Node = false, served.Can[model.Mempool]
			}
			c.add(need, key, c.set.Origin(key), of.Preset).uri = of.Node
		}
	}
}

// fulfils reports whether the chain has what a protocol needs.
func (c *comparison) fulfils(need served.Need) bool {
	switch {
	case need.Index != "":
		x := c.layout.Entry(need.Index)
		if x == nil || !x.Active.Has(need.Options|schema.FeatureValues) {
			return false
		}
		d, _ := x.Definition()
		return need.Custom == nil || d == *need.Custom
	case need.Raw:
		return c.layout.Raw || c.layout.RawFiles || c.set.Raw == config.RawNode
	case need.Node != nil:
		return need.Node(c.node)
	}
	return c.mempool
}

// add adds that a setting lacks something that it needs.
func (c *comparison) add(need served.Need, setting, origin, preset string) *lack {
	i := slices.IndexFunc(c.all, func(x *lack) bool {
		return x.of.Index == need.Index && x.of.Raw == need.Raw && x.of.Mempool == need.Mempool &&
			(x.of.Node != nil) == (need.Node != nil)
	})
	if i < 0 {
		i = len(c.all)
		c.all = append(c.all, &lack{of: need, code: codeOf(need)})
	}
	x := c.all[i]
	x.of.Options |= need.Options
	x.of.Custom = cmp.Or(x.of.Custom, need.Custom)
	x.by = appendNew(x.by, by(setting, origin))
	if need.Without == "" {
		x.strict = true
	} else {
		x.without = appendNew(x.without, need.Without)
	}
	if preset != "" && need.Index != "" {
		x.presets = appendNew(x.presets, preset)
	}
	return x
}

func appendNew(list []string, text string) []string {
	if slices.Contains(list, text) {
		return list
	}
	return append(list, text)
}

// by names a setting with its place.
func by(setting, origin string) string {
	if origin == "" {
		return setting
	}
	return setting + " (" + origin + ")"
}

func codeOf(need served.Need) string {
	switch {
	case need.Index != "":
		return "index_mismatch"
	case need.Raw:
		return "no_raw"
	}
	return "no_node"
}

// what names what is missing.
func (c *comparison) what(x *lack) string {
	switch of := x.of; {
	case of.Index != "":
		entry := c.layout.Entry(of.Index)
		var active, building schema.Features
		if entry != nil {
			active, building = entry.Active, entry.Building
		}
		missing := (of.Options | schema.FeatureValues) &^ active
		what := "index " + of.Index
		switch {
		case missing == 0:
			return what + " with the definition of the preset"
		case !missing.Has(schema.FeatureValues):
			what = listed(missing.Names()) + " of " + what
		}
		if missing&^building == 0 {
			what += " (it is being added)"
		}
		return what
	case x.raw == config.RawFiles:
		return "places of raw transactions"
	case of.Raw:
		return "raw transactions"
	case of.Mempool && c.node != nil:
		return "unconfirmed transactions of the node"
	}
	return "a node"
}

// listed joins names as in a sentence: balance, unspent and history.
func listed(names []string) string {
	if last := len(names) - 1; last > 0 {
		return strings.Join(names[:last], ", ") + " and " + names[last]
	}
	return strings.Join(names, "")
}

// remedy returns how to get what is missing.
func (c *comparison) remedy(x *lack) string {
	switch {
	case x.of.Index != "":
		return c.addIndex(x)
	case x.of.Raw:
		return c.addRaw(x)
	case x.of.Mempool && c.node != nil:
		return "remove mempool: off from the settings"
	}
	return "set node, or source, to a node, such as " + x.uri
}

// addIndex returns how to add an index or its options.
func (c *comparison) addIndex(x *lack) string {
	name := x.of.Index
	if !c.exists {
		preset := strings.Join(x.presets, " or ")
		if x.of.Custom != nil {
			return "set indexes: " + preset
		}
		var options []string
		for _, option := range (x.of.Options &^ schema.FeatureValues).Names() {
			options = append(options, option+": true")
		}
		return fmt.Sprintf("add \"%s: {%s}\" to indexes, as the preset %s has it", name, strings.Join(options, ", "), preset)
	}
	entry, presets := c.layout.Entry(name), x.presets
	if presets == nil || c.defines(x) {
		presets = []string{}
	}
	command := "birthmark index add " + name + c.h.Flags(c.set, presets)
	if (entry == nil || !entry.Active.Has(schema.FeatureValues)) && c.set.Source == "" && c.set.Origin("source") == "" {
		command += " --source URI"
	}
	if x.of.Custom != nil && entry != nil {
		if d, _ := entry.Definition(); d != *x.of.Custom {
			command = "birthmark index drop " + name + c.h.Flags(c.set, nil) + ", then " + command
		}
	}
	return command
}

// defines reports whether the settings have the index, its definition and its options.
func (c *comparison) defines(x *lack) bool {
	return slices.ContainsFunc(c.set.Indexes, func(ix config.Index) bool {
		return ix.Name == x.of.Index && schema.FeaturesOf(ix.Options)&x.of.Options == x.of.Options &&
			(x.of.Custom == nil || ix.Definition != nil && *ix.Definition == *x.of.Custom)
	})
}

// addRaw returns how to add raw transactions.
func (c *comparison) addRaw(x *lack) string {
	_, files := c.chain.(model.RawFiles)
	add := "birthmark index add raw" + c.h.Flags(c.set, nil)
	switch {
	case !c.exists && files:
		return "set raw: keep, files or node"
	case !c.exists:
		return "set raw: keep"
	case x.raw == config.RawFiles && c.layout.Raw:
		return "the database stores the transactions: set raw: keep"
	case c.set.Source == "" && c.set.Origin("source") == "":
		add += " --source URI"
	}
	if x.raw == config.RawFiles {
		add += " --raw=files"
		if !strings.HasPrefix(c.set.Source, "file://") {
			add += " --source file:///path/to/blocks"
		}
	}
	switch {
	case x.raw == "" && files:
		return "set raw: node; or run " + add
	case x.raw != "" && len(x.by) == 1:
		return add + "; or leave raw out"
	}
	return add
}
