package config

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"birthmark/storage"
)

// A key is a setting with a plain value. The file, the environment and the command line set it through the same
// function. A dot in its name is a nested mapping in the file. A list may be a YAML list there; its values are joined
// by commas.
type key[T any] struct {
	name string
	set  func(t *T, value, origin string) error
	list bool // of values
}

var topKeys = slices.Concat([]key[Settings]{
	{name: "listen", set: func(s *Settings, v, _ string) error { return setText(&s.Listen, v) }},
	{name: "memory", set: func(s *Settings, v, _ string) (err error) { s.Memory, err = ParseMemory(v); return err }},
}, serverKeys, electrumKeys)

var chainKeys = slices.Concat([]key[Chain]{
	{name: "chain", set: func(c *Chain, v, _ string) error { return setText(&c.Chain, v) }},
	{name: "network", set: func(c *Chain, v, _ string) error { return setText(&c.Network, v) }},
	{name: "signet_challenge", set: setChallenge},
	{name: "source", set: func(c *Chain, v, _ string) error { return setText(&c.Source, v) }},
	{name: "node", set: func(c *Chain, v, _ string) error { return setText(&c.Node, v) }},
	{name: "mempool", set: func(c *Chain, v, _ string) (err error) { c.Mempool, err = ParseMempool(v); return err }},
	{name: "watch", set: func(c *Chain, v, _ string) (err error) { c.Watch, err = ParseMempool(v); return err }},
	{name: "password_file", set: func(c *Chain, v, _ string) error { return setText(&c.PasswordFile, v) }},
	{name: "proxy", set: func(c *Chain, v, _ string) error { return setProxy(&c.Proxy, v) }},
	{name: "source_wait", set: func(c *Chain, v, _ string) error { return setWait(&c.SourceWait, v) }},
	{name: "db", set: func(c *Chain, v, _ string) error { return setText(&c.DB, v) }},
	{name: "wal", set: func(c *Chain, v, _ string) (err error) { c.WAL, err = ParseSwitch(v); return err }},
	{name: "compression", set: func(c *Chain, v, _ string) (err error) { c.Compression, err = storage.ParseCompression(v); return err }},
	{name: "raw", set: func(c *Chain, v, _ string) (err error) { c.Raw, err = ParseRaw(v); return err }},
	{name: "assets", set: func(c *Chain, v, _ string) error { return setText(&c.Assets, v) }},
	{name: "statistics", set: func(c *Chain, v, _ string) (err error) { c.Statistics, err = ParseSwitch(v); return err }},
	{name: "raw_folder", set: func(c *Chain, v, _ string) error { return setText(&c.RawFolder, v) }},
	{name: "indexes", set: setIndexes},
	{name: "password", set: setPassword},
}, serveKeys, segmentKeys, snapshotKeys, exportKeys)

// passwordKey can only be set in the environment: settings files and command lines can be read by other users of the
// machine.
const passwordKey = "password"

func setText(to *string, value string) error {
	if value == "" {
		return errors.New("is empty")
	}
	*to = value
	return nil
}

func setProxy(to *string, value string) error {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "socks5" && u.Scheme != "socks5h" || u.Hostname() == "" || u.Port() == "" {
		return fmt.Errorf("%q is not a SOCKS5 proxy such as socks5://127.0.0.1:9050", MaskURI(value))
	}
	*to = value
	return nil
}

func setWait(to *time.Duration, value string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is not a duration such as 2m; 0: do not wait", value)
	}
	*to = d
	return nil
}

func setPassword(c *Chain, value, _ string) error { return setText(&c.Password, value) }

// setIndexes reads a list of names of indexes and presets. Options that a file sets for an index apply.
func setIndexes(c *Chain, value, origin string) error {
	var names []string
	for name := range strings.SplitSeq(value, ",") {
		name = strings.TrimSpace(name)
		switch {
		case name == "":
			return fmt.Errorf("%q is not a list of index names such as address,script_hash", value)
		case slices.Contains(names, name):
			return fmt.Errorf("index %q appears twice in %q", name, value)
		}
		names = append(names, name)
		c.preset = c.preset || presets[name] != nil
		c.derives = c.derives || name == "explorer" || name == "onesat"
	}
	list := expand(names)
	for i, ix := range list {
		if set := slices.IndexFunc(c.Indexes, func(in Index) bool { return in.Name == ix.Name }); set >= 0 {
			list[i] = c.Indexes[set]
			list[i].Options = both(list[i].Options, ix.Options)
		}
		list[i].Origin = origin
	}
	c.Indexes = list
	return nil
}

// Override is one setting from outside the file.
type Override struct {
	Key    string // as in the file
	Value  string
	Origin string // as the user wrote it: "--db", "BIRTHMARK_DB"
}

// Override applies an override. Overrides of a chain apply to the chain that [Settings.One] returns. The last override
// of a key wins.
func (s *Settings) Override(o Override) error {
	o.Key, o.Value = s.present(o.Origin, o.Key, o.Value)
	for _, k := range topKeys {
		if k.name == o.Key {
			s.origins[k.name] = o.Origin
			return at(o.Origin, k.set(s, o.Value, o.Origin))
		}
	}
	s.overrides[o.Key] = o
	return nil
}

// Keys returns the keys of settings with a plain value.
func Keys() []string {
	return append(names(topKeys), names(chainKeys)...)
}
