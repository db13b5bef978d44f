package config

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"birthmark/storage"
)

// A key is a setting with a plain value. The file, the environment and the command line set it through the same
// function. One whose name has a dot stands in the file within a mapping; one of several values may be a list there, and is
// joined by commas.
type key[T any] struct {
	name string
	set  func(t *T, value, origin string) error
	list bool // of values
}

var topKeys = append([]key[Settings]{
	{name: "listen", set: func(s *Settings, v, _ string) error { return setText(&s.Listen, v) }},
	{name: "memory", set: func(s *Settings, v, _ string) (err error) { s.Memory, err = ParseMemory(v); return err }},
}, serverKeys...)

var chainKeys = []key[Chain]{
	{name: "chain", set: func(c *Chain, v, _ string) error { return setText(&c.Chain, v) }},
	{name: "network", set: func(c *Chain, v, _ string) error { return setText(&c.Network, v) }},
	{name: "source", set: func(c *Chain, v, _ string) error { return setText(&c.Source, v) }},
	{name: "password_file", set: func(c *Chain, v, _ string) error { return setText(&c.PasswordFile, v) }},
	{name: "db", set: func(c *Chain, v, _ string) error { return setText(&c.DB, v) }},
	{name: "wal", set: func(c *Chain, v, _ string) (err error) { c.WAL, err = ParseSwitch(v); return err }},
	{name: "compression", set: func(c *Chain, v, _ string) (err error) { c.Compression, err = storage.ParseCompression(v); return err }},
	{name: "raw", set: func(c *Chain, v, _ string) (err error) { c.Raw, err = ParseSwitch(v); return err }},
	{name: "indexes", set: setIndexes},
	{name: "password", set: setPassword},
}

// passwordKey is known to the environment alone: a secret stands neither in a settings file nor on a command line,
// where other users of the machine can read it.
const passwordKey = "password"

func setText(to *string, value string) error {
	if value == "" {
		return errors.New("is empty")
	}
	*to = value
	return nil
}

func setPassword(c *Chain, value, _ string) error { return setText(&c.Password, value) }

// setIndexes reads a list of names. What a file says of them stays.
func setIndexes(c *Chain, value, origin string) error {
	var list []Index
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "":
			return fmt.Errorf("%q is not a list of index names such as address,script_hash", value)
		case slices.ContainsFunc(list, func(ix Index) bool { return ix.Name == name }):
			return fmt.Errorf("index %q stands twice in %q", name, value)
		}
		ix := Index{Name: name}
		if i := slices.IndexFunc(c.Indexes, func(ix Index) bool { return ix.Name == name }); i >= 0 {
			ix = c.Indexes[i]
		}
		ix.Origin = origin
		list = append(list, ix)
	}
	c.Indexes = list
	return nil
}

// Override lays the override over a setting that is not one chain's. Not ok where it is one chain's.
func (s *Settings) Override(o Override) (ok bool, err error) {
	for _, k := range topKeys {
		if k.name == o.Key {
			if err := k.set(s, o.Value, o.Origin); err != nil {
				return true, invalid(o.Origin, err)
			}
			s.origins[k.name] = o.Origin
			return true, nil
		}
	}
	return false, nil
}

// FromEnvironment are the settings in the environment that lookup reads, such as [os.LookupEnv].
func FromEnvironment(lookup func(string) (string, bool)) []Override {
	var found []Override
	for _, key := range keyNames() {
		name := "BIRTHMARK_" + strings.ToUpper(strings.ReplaceAll(key, ".", "_"))
		if v, ok := lookup(name); ok {
			found = append(found, Override{key, v, name})
		}
	}
	return found
}

func keyNames() []string {
	var names []string
	for _, k := range topKeys {
		names = append(names, k.name)
	}
	for _, k := range chainKeys {
		names = append(names, k.name)
	}
	return names
}
