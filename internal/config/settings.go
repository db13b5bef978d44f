package config

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"birthmark/model"
	"birthmark/storage"
)

// DefaultListen is the default address of the server.
const DefaultListen = "127.0.0.1:8080"

// Settings are the settings of a file, with defaults for those it omits.
type Settings struct {
	Listen string
	Server Server
	Log    Log
	Memory Size
	Chains []Chain

	DataFolder string   // of databases whose folder is not set; empty: none
	Warnings   []string // about former names of settings

	origins   map[string]string
	overrides map[string]Override // of the settings of a chain
}

// Default returns the settings of an empty file.
func Default() *Settings {
	return &Settings{
		Listen: DefaultListen, Server: defaultServer(), Log: Log{Format: "text"}, Memory: DefaultMemory(),
		origins: map[string]string{}, overrides: map[string]Override{},
	}
}

// Origin returns the place that set a key of the server, as [Chain.Origin] does.
func (s *Settings) Origin(key string) string { return s.origins[key] }

// Chain are the settings of one chain. An empty string means not set.
type Chain struct {
	Chain   string
	Network string
	// SignetChallenge is the script that blocks of a custom signet satisfy. It determines Network.
	SignetChallenge []byte
	Source          string
	Node            string // for unconfirmed transactions, submitting and fees; empty: Source, if that is a node
	Password        string
	PasswordFile    string
	Proxy           string        // SOCKS5 proxy for connections to nodes and peers; empty: none
	SourceWait      time.Duration // of a sync that does not follow, for a node that is starting or busy
	DB              string
	DataFolder      string // [Settings.DataFolder]
	Memory          Size   // its part of [Settings.Memory]
	Watch           Size   // part of Memory for watch lists, or MempoolAuto or MempoolOff
	Mempool         Size   // part of Memory for unconfirmed transactions, or MempoolAuto or MempoolOff
	WAL             bool
	Compression     storage.Compression
	Raw             Raw
	RawImplied      bool    // Raw follows from a preset: an existing database can lack it
	Statistics      bool    // the index statistics, and the option statistics of all indexes that can have it
	Assets          string  // rules that derive assets, such as runes; off: none; empty: not set
	RawFolder       string  // replaces the stored folder of the node's files
	Indexes         []Index // in the order they were written; nil: not set
	Serve           Serve
	Segments        Segments
	Snapshots       Snapshots
	Export          Export
	Bootstrap       string // URL of the storage of snapshots from which a missing database is restored; empty: none
	Trust           string // public key that restored snapshots must be signed with, or a file with it; empty: any

	// Stored are the custom indexes that the database has. They apply unless the settings define the same name: a
	// database can be queried and synced without its settings file.
	Stored []model.Definition
	// StoredAssets are the rules that derive the assets of the database; nil if there is no database.
	StoredAssets *string

	preset  bool // Indexes have a preset
	derives bool // Indexes have a preset for answers about derived assets
	origins map[string]string
}

// ImpliesRaw reports whether the indexes are those of a preset and raw is not set: every preset is for answers that need
// raw transactions.
func (c *Chain) ImpliesRaw() bool {
	return c.preset && c.Indexes != nil && c.Origin("raw") == "" && (c.Raw == RawOff || c.RawImplied)
}

// ImpliesAssets reports whether a new database has the assets that its chain can derive: with the presets explorer and
// onesat, unless assets are set or the index of their holders was removed.
func (c *Chain) ImpliesAssets(holders string) bool {
	return c.derives && c.Assets == "" && slices.Contains(c.IndexNames(), holders)
}

// Index is an index with its options.
type Index struct {
	Name       string
	Options    model.IndexOptions
	Definition *model.Definition // nil: built in
	Origin     string            // the place that set it: "birthmark.yaml:7", "--index"
	Implied    bool              // a default of the chain, because of statistics: an existing database can lack it
	Optional   bool              // of a preset: ignored on chains without the index, and if it is custom in databases without it

	origins map[string]string // the places that set the keys of its definition
}

const defaultSourceWait = 2 * time.Minute

// NewChain returns the default settings of a chain.
func NewChain() Chain {
	return Chain{SourceWait: defaultSourceWait, WAL: true, Raw: RawOff, Snapshots: defaultSnapshots(), origins: map[string]string{}}
}

// Origin returns the place that set a key: file and line, variable or flag; empty if it is not set.
func (c *Chain) Origin(key string) string { return c.origins[key] }

// Patience returns [model.SourceOptions.Wait].
func (c *Chain) Patience() time.Duration {
	if c.SourceWait == 0 {
		return -1
	}
	return c.SourceWait
}

// IndexNames returns the names of the indexes, nil if none are set.
func (c *Chain) IndexNames() []string {
	if c.Indexes == nil {
		return nil
	}
	names := make([]string, len(c.Indexes))
	for i, ix := range c.Indexes {
		names[i] = ix.Name
	}
	return names
}

// IndexOptions returns the options of the indexes by name.
func (c *Chain) IndexOptions() map[string]model.IndexOptions {
	options := map[string]model.IndexOptions{}
	for _, ix := range c.Indexes {
		options[ix.Name] = ix.Options
	}
	return options
}

// Definitions returns the custom indexes.
func (c *Chain) Definitions() []model.Definition {
	var ds []model.Definition
	for _, ix := range c.Indexes {
		if ix.Definition != nil {
			ds = append(ds, *ix.Definition)
		}
	}
	for _, stored := range c.Stored {
		if !slices.ContainsFunc(ds, func(d model.Definition) bool { return d.Name == stored.Name }) {
			ds = append(ds, stored)
		}
	}
	return ds
}

// DefinitionOrigin returns the place that set a key of an index's definition, or the place of the index if the key is
// empty or not set; empty if the index is not set.
func (c *Chain) DefinitionOrigin(index, key string) string {
	i := slices.IndexFunc(c.Indexes, func(ix Index) bool { return ix.Name == index })
	if i < 0 {
		return ""
	}
	if at := c.Indexes[i].origins[key]; at != "" {
		return at
	}
	return c.Indexes[i].Origin
}

// One returns the settings of the chain that a command uses: the entry of the file that the overrides select by chain,
// network or folder, with the overrides applied. It is an error if several entries match.
func (s *Settings) One() (*Chain, error) {
	c, err := s.pick()
	if err != nil {
		return nil, err
	}
	c = c.clone()
	c.Memory, c.DataFolder = s.Memory, s.DataFolder
	for _, k := range chainKeys {
		if o, ok := s.overrides[k.name]; ok {
			if err := k.set(&c, o.Value, o.Origin); err != nil {
				return nil, at(o.Origin, err)
			}
			c.origins[k.name] = o.Origin
		}
	}
	return &c, c.resolveSignet()
}

// All returns the settings of the chain that overrides select, or of all chains without overrides. [Apportion] divides
// the memory between them.
func (s *Settings) All() ([]*Chain, error) {
	if len(s.overrides) > 0 {
		c, err := s.One()
		return []*Chain{c}, err
	}
	all := make([]*Chain, len(s.Chains))
	for i, c := range s.Chains {
		c = c.clone()
		c.Memory, c.DataFolder = s.Memory, s.DataFolder
		if err := c.resolveSignet(); err != nil {
			return nil, err
		}
		all[i] = &c
	}
	return all, nil
}

// pick returns the entry that the overrides select. It never returns an entry of another chain than the selected one,
// whose source and folder would be wrong.
func (s *Settings) pick() (Chain, error) {
	found := s.Chains
	for _, by := range []struct {
		key  string
		of   func(Chain) string
		only bool // a differing entry never matches
	}{
		{"chain", func(c Chain) string { return c.Chain }, true},
		{"db", func(c Chain) string { return c.DB }, false},
		{"network", func(c Chain) string { return c.Network }, false},
	} {
		o, ok := s.overrides[by.key]
		if !ok {
			continue
		}
		same := slices.DeleteFunc(slices.Clone(found), func(c Chain) bool { return by.of(c) != o.Value })
		if by.only {
			same = append(same, slices.DeleteFunc(slices.Clone(found), func(c Chain) bool { return by.of(c) != "" })...)
		}
		if len(same) > 0 || by.only {
			found = same
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0 || s.overrides["db"].Value != "":
		return NewChain(), nil
	}
	names := make([]string, len(found))
	for i, c := range found {
		names[i] = strings.TrimSuffix(c.Chain+"/"+c.Network, "/")
	}
	return Chain{}, model.Errorf(model.Usage, "which_chain",
		"the settings have %d chains (%s): select one with --chain, and with --network if several have the same chain",
		len(found), strings.Join(names, ", "))
}

func (c Chain) clone() Chain {
	c.origins = maps.Clone(c.origins)
	c.Indexes = slices.Clone(c.Indexes)
	return c
}

// at returns the error of a wrong value at a place, or nil.
func at(origin string, err error) error {
	if err == nil {
		return nil
	}
	code := "bad_setting"
	if coded, ok := errors.AsType[*model.Error](err); ok {
		code = coded.Code
	}
	return model.Errorf(model.Usage, code, "%s: %w", origin, err)
}

// named adds the key to an error about its value, unless its origin is a flag or a variable, which names it.
func named(origin, key string, err error) error {
	if !strings.HasPrefix(origin, "--") && !strings.HasPrefix(origin, "BIRTHMARK_") {
		err = fmt.Errorf("%s: %w", key, err)
	}
	return at(origin, err)
}

// BadValue adds the place where a key of the server is set to an error about its value.
func (s *Settings) BadValue(key string, err error) error { return named(s.origins[key], key, err) }

// ParseSwitch reads on, off, true or false.
func ParseSwitch(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "on", "true", "yes":
		return true, nil
	case "off", "false", "no":
		return false, nil
	}
	return false, fmt.Errorf("%q is not on or off", text)
}
