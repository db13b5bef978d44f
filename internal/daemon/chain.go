package daemon

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"birthmark/chains"
	"birthmark/chains/indexexpr"
	"birthmark/core/schema"
	"birthmark/internal/config"
	"birthmark/model"
)

// Folder returns the folder of the database. If none is set, it sets the default folder of the chain. Without a chain,
// that is the only database in the data folder.
func Folder(set *config.Chain) (string, error) {
	if set.DB == "" && set.Chain != "" && set.DataFolder != "" {
		chain, err := chains.New(set.Chain, set.Network)
		if err != nil {
			return "", atSetting(set, err)
		}
		if set.DB = set.DefaultDB(); set.DB == "" { // the network is a folder of genesis files
			set.DB = set.DefaultDBOf(chain.Network())
		}
	}
	if set.DB != "" {
		return set.DB, nil
	}
	found, err := DatabasesIn(set.DataFolder)
	switch {
	case err != nil:
		return "", err
	case len(found) == 0:
		return "", usageError("missing_flag", "missing --db DIR, the folder of the database (or db in the settings, or BIRTHMARK_DB), or --chain")
	case len(found) > 1:
		return "", usageError("which_chain", "%s has %d databases (%s): select one with --chain and --network, or with --db",
			set.DataFolder, len(found), oneOf(found))
	}
	set.DB = filepath.Join(set.DataFolder, found[0])
	return set.DB, nil
}

// DatabasesIn returns the names of the folders in dir that hold a database; none if there is no such folder.
func DatabasesIn(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		if found, err := HoldsDatabase(filepath.Join(dir, e.Name())); err != nil {
			return nil, err
		} else if found {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// Chain returns the chain that is set, for commands that have no database to read it from.
func (h *Host) Chain(set *config.Chain) (model.Chain, error) {
	if set.Chain == "" {
		return nil, usageError("missing_flag", "missing --chain: expected %s", oneOf(chains.Names()))
	}
	return h.MakeChain(set, set.Chain, set.Network)
}

// MakeChain returns a chain by name with the indexes that set defines. An error names the setting at fault.
func (h *Host) MakeChain(set *config.Chain, name, network string) (model.Chain, error) {
	chain, err := h.NewChain(name, network)
	if err != nil {
		return nil, atSetting(set, err)
	}
	implyRaw(set, chain)
	if chain, err = withAssets(set, chain); err != nil {
		return nil, err
	}
	return Define(chain, set)
}

// noAssets is the setting of a database without derived assets.
const noAssets = "off"

// otherAssets returns what to do if the settings have other assets than the database.
func otherAssets(has, want string) string {
	if has == "" {
		return "run birthmark index add " + want + ", or leave assets out"
	}
	return "assets cannot be dropped or replaced"
}

// withAssets returns the chain with the derived assets of the database, or of the settings if there is none.
func withAssets(set *config.Chain, chain model.Chain) (model.Chain, error) {
	names := set.Assets
	tokens, can := chain.(model.TokenChain)
	can = can && len(tokens.Tokens()) > 0
	switch {
	case set.StoredAssets != nil:
		if names != "" && names != cmp.Or(*set.StoredAssets, noAssets) {
			return nil, At(set.Origin("assets"), model.Errorf(model.Refused, "wrong_assets",
				"assets: the database %s has %s: %s", set.DB, cmp.Or(*set.StoredAssets, noAssets), otherAssets(*set.StoredAssets, names)))
		}
		names = *set.StoredAssets
	case can && set.ImpliesAssets(schema.HoldersIndex):
		names = tokens.Tokens()[0]
	}
	if names == "" || names == noAssets {
		return chain, nil
	}
	if !can {
		return nil, At(set.Origin("assets"), usageError("bad_assets", "assets: %s has no assets that are derived: leave assets out", chain.Name()))
	}
	with, err := tokens.WithTokens(names)
	if err != nil {
		return nil, At(set.Origin("assets"), err)
	}
	return with, nil
}

// implyRaw sets where raw transactions come from if the settings have a preset and do not say it: the block files of the
// node, if the source is their folder; the node; or the database, which costs as much as the blocks.
func implyRaw(set *config.Chain, chain model.Chain) {
	if !set.ImpliesRaw() {
		return
	}
	set.RawImplied, set.Raw = true, config.RawKeep
	_, files := chain.(model.RawFiles)
	_, nodes := chain.(model.RawNodes)
	switch folder, err := os.Stat(strings.TrimPrefix(set.Source, "file://")); {
	case files && err == nil && folder.IsDir():
		set.Raw = config.RawFiles
	case nodes && nodeOf(set) != "":
		set.Raw = config.RawNode
	}
}

// atSetting prefixes an error about a chain or network with the setting at fault.
func atSetting(set *config.Chain, err error) error {
	if _, code := model.KindOf(err); code == "unknown_chain" {
		return At(set.Origin("chain"), err)
	}
	return At(set.Origin("network"), err)
}

// Define returns the chain with the custom indexes of set.
func Define(chain model.Chain, set *config.Chain) (model.Chain, error) {
	ds := set.Definitions()
	if len(ds) == 0 {
		return chain, nil
	}
	defined, err := chain.Define(ds)
	if err != nil {
		if e, ok := errors.AsType[*indexexpr.Error](err); ok {
			return nil, At(set.DefinitionOrigin(e.Index, e.Key), err)
		}
		return nil, err
	}
	return defined, nil
}

// At prefixes an error with the place that caused it, if it is known.
func At(at string, err error) error {
	if at == "" {
		return err
	}
	return fmt.Errorf("%s: %w", at, err)
}

// IndexesOf returns the names of the indexes that are set for the chain, nil if none are set. An index that the chain does
// not have is an error; an optional one of a preset is removed from set.
func IndexesOf(set *config.Chain, chain model.Chain) ([]string, error) {
	offered := offeredBy(chain)
	implyStatistics(set, chain)
	set.Indexes = slices.DeleteFunc(set.Indexes, func(ix config.Index) bool {
		return ix.Optional && !slices.Contains(offered, ix.Name)
	})
	for _, ix := range set.Indexes {
		if !slices.Contains(offered, ix.Name) {
			return nil, usageError("unknown_index", "%s: %w", ix.Origin, schema.UnknownIndex(chain, ix.Name))
		}
	}
	return set.IndexNames(), nil
}

// implyStatistics adds the index statistics, and the option statistics of all indexes that can have it, if the settings
// ask for statistics.
func implyStatistics(set *config.Chain, chain model.Chain) {
	if !set.Statistics {
		return
	}
	at := set.Origin("statistics")
	add := func(name string, implied bool) {
		if !slices.ContainsFunc(set.Indexes, func(ix config.Index) bool { return ix.Name == name }) {
			set.Indexes = append(set.Indexes, config.Index{Name: name, Origin: at, Implied: implied})
		}
	}
	unset := set.Indexes == nil
	for _, x := range chain.Indexes() {
		if x.Always || unset && x.Default {
			add(x.Name, true)
		}
	}
	add(model.StatisticsIndex, false)
	for i := range set.Indexes {
		ix := &set.Indexes[i]
		kind := model.OneToMany
		if ix.Definition != nil {
			kind = ix.Definition.Kind
		} else if x := slices.IndexFunc(model.AllIndexes(chain), func(x model.Index) bool { return x.Name == ix.Name }); x >= 0 {
			kind = model.AllIndexes(chain)[x].Kind
		}
		ix.Options.Statistics = ix.Options.Statistics || kind == model.OneToMany || kind == model.ManyValued
	}
}

func offeredBy(chain model.Chain) []string {
	var names []string
	for _, ix := range model.AllIndexes(chain) {
		names = append(names, ix.Name)
	}
	return names
}

// Chosen returns the indexes of outputs that names select, in the order of the chain; nil selects the defaults.
func Chosen(chain model.Chain, names []string) []string {
	var list []string
	for _, ix := range chain.Indexes() {
		if ix.Always || slices.Contains(names, ix.Name) || names == nil && ix.Default {
			list = append(list, ix.Name)
		}
	}
	return list
}
