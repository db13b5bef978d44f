package config

import (
	"fmt"
	"slices"
	"strings"

	"birthmark/model"
	"birthmark/storage"
)

// DefaultListen is where the server listens unless told otherwise.
const DefaultListen = "127.0.0.1:8080"

// Settings is what a settings file holds, with defaults where it says nothing.
type Settings struct {
	Listen string
	Server Server
	Log    Log
	Memory Size
	Chains []Chain

	origins map[string]string
}

// Default is the settings of a user who set nothing.
func Default() *Settings {
	return &Settings{Listen: DefaultListen, Server: defaultServer(), Log: Log{Format: "text"}, Memory: DefaultMemory(), origins: map[string]string{}}
}

// Chain is what is set for one chain. An empty string is not set.
type Chain struct {
	Chain        string
	Network      string
	Source       string
	Password     string
	PasswordFile string
	DB           string
	Memory       Size // its part of [Settings.Memory]
	WAL          bool
	Compression  storage.Compression
	Raw          bool    // transactions' own bytes are kept
	Indexes      []Index // in the order they were written; nil: not set

	// Stored are the definitions a database has. They count where there are no others: a database is asked, and kept up to
	// date, whatever the settings say.
	Stored []model.Definition

	origins map[string]string
}

// Index is one index that is wanted, and what is kept for it besides.
type Index struct {
	Name       string
	Options    model.IndexOptions
	Definition *model.Definition // nil: it is one of the chain's own
	Origin     string            // where it was set: "birthmark.yaml:7", "--index"

	origins map[string]string // where the keys of its definition were set
}

func newChain() Chain { return Chain{WAL: true, origins: map[string]string{}} }

// Origin says where a key was set: a file and line, a variable or a flag. Empty: nowhere.
func (c *Chain) Origin(key string) string { return c.origins[key] }

// IndexNames are the names of the indexes that are wanted, nil where none was set.
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

// IndexOptions are what the indexes keep besides their values, by name.
func (c *Chain) IndexOptions() map[string]model.IndexOptions {
	options := map[string]model.IndexOptions{}
	for _, ix := range c.Indexes {
		options[ix.Name] = ix.Options
	}
	return options
}

// Definitions are the indexes that are not the chain's own.
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

// DefinitionOrigin says where a key of an index's definition was set, where the index was for an empty key or one that
// was not set. Empty: the index was not.
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

// Override is one setting from outside the file.
type Override struct {
	Key    string // as in the file
	Value  string
	Origin string // how the user knows it: "--db", "BIRTHMARK_DB"
}

// One is the settings of the chain that a command is about: of the entries in the file the one that overrides name by
// chain, network or folder, with the overrides laid over it. Of overrides with the same key the last counts.
// An error where the file has several chains and nothing says which.
func (s *Settings) One(overrides []Override) (*Chain, error) {
	set := map[string]Override{}
	for _, o := range overrides {
		set[o.Key] = o
	}
	c, err := s.pick(set)
	if err != nil {
		return nil, err
	}
	c = c.clone()
	c.Memory = s.Memory
	for _, k := range chainKeys {
		o, ok := set[k.name]
		if !ok {
			continue
		}
		if err := k.set(&c, o.Value, o.Origin); err != nil {
			return nil, invalid(o.Origin, err)
		}
		c.origins[k.name] = o.Origin
	}
	return &c, nil
}

// All is the settings of every chain that a command for several is about: of the entry that overrides are about, or of all
// where there are none. Memory is not divided yet: [Apportion] does that.
func (s *Settings) All(overrides []Override) ([]*Chain, error) {
	if len(overrides) > 0 {
		c, err := s.One(overrides)
		return []*Chain{c}, err
	}
	all := make([]*Chain, len(s.Chains))
	for i, c := range s.Chains {
		c = c.clone()
		c.Memory = s.Memory
		all[i] = &c
	}
	return all, nil
}

// pick finds the entry that set is about. An entry of another chain than the one asked for is never it: its source and
// folder are not that chain's.
func (s *Settings) pick(set map[string]Override) (Chain, error) {
	found := s.Chains
	for _, by := range []struct {
		key  string
		of   func(Chain) string
		only bool // no entry that differs will do
	}{
		{"chain", func(c Chain) string { return c.Chain }, true},
		{"db", func(c Chain) string { return c.DB }, false},
		{"network", func(c Chain) string { return c.Network }, false},
	} {
		o, ok := set[by.key]
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
	case len(found) == 0 || set["db"].Value != "":
		return newChain(), nil
	}
	names := make([]string, len(found))
	for i, c := range found {
		names[i] = strings.TrimSuffix(c.Chain+"/"+c.Network, "/")
	}
	return Chain{}, model.Errorf(model.Usage, "which_chain",
		"the settings have %d chains (%s): choose one with --chain, and --network where there are several of it",
		len(found), strings.Join(names, ", "))
}

func (c Chain) clone() Chain {
	from := c.origins
	c.origins = make(map[string]string, len(from))
	for k, v := range from {
		c.origins[k] = v
	}
	c.Indexes = slices.Clone(c.Indexes)
	return c
}

// invalid is the error of a value at a place that is wrong.
func invalid(origin string, err error) error {
	return model.Errorf(model.Usage, "bad_setting", "%s: %w", origin, err)
}

// ParseSwitch reads on, off, true or false.
func ParseSwitch(text string) (bool, error) {
	switch strings.ToLower(text) {
	case "on", "true", "yes":
		return true, nil
	case "off", "false", "no":
		return false, nil
	}
	return false, fmt.Errorf("%q is neither on nor off", text)
}
