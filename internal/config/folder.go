package config

import (
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"birthmark/internal/suggest"
	"birthmark/model"
)

// DataFolder returns the parent of database folders that are not set: birthmark in $XDG_DATA_HOME if that is an absolute
// path, /var/lib/birthmark for root, else ~/.local/share/birthmark. It is empty without a home.
func DataFolder(lookup func(string) (string, bool), root bool) string {
	if dir, _ := lookup("XDG_DATA_HOME"); filepath.IsAbs(dir) {
		return filepath.Join(dir, "birthmark")
	}
	if root {
		return "/var/lib/birthmark"
	}
	if home, _ := lookup("HOME"); home != "" {
		return filepath.Join(home, ".local", "share", "birthmark")
	}
	return ""
}

// DefaultDB returns the folder of the database if none is set: CHAIN, or CHAIN-NETWORK for other networks than mainnet,
// in the data folder. It is empty if the chain is not set, or if its network is a folder.
func (c *Chain) DefaultDB() string {
	if strings.ContainsAny(c.Network, `/\`) {
		return ""
	}
	return c.DefaultDBOf(c.Network)
}

// DefaultDBOf returns the folder of the database of a network by its name, as [Chain.DefaultDB] does.
func (c *Chain) DefaultDBOf(network string) string {
	if c.DataFolder == "" || c.Chain == "" {
		return ""
	}
	name := c.Chain
	if network != "" && network != "mainnet" {
		name += "-" + network
	}
	return filepath.Join(c.DataFolder, name)
}

// foreign matches variables of the prefix that are not settings: Kubernetes and Docker define them for a service or a
// container named birthmark, and tests of this repository read the others.
var foreign = regexp.MustCompile(`^BIRTHMARK_((SERVICE|PORT|NAME|ENV|TEST)(_.*)?|DATA|REQUIRE_DATA|SEED|KILLS|ROUNDS|` +
	`LARGE(_MEMORY)?|SOAK|REQUESTS|CACHES|CRASH_.*)$`)

// CheckEnvironment returns an error of kind Usage (unknown_variable) for a variable with the prefix BIRTHMARK_ that is no
// setting. Environ is a list of NAME=VALUE, such as that of [os.Environ].
func CheckEnvironment(environ []string) error {
	known := map[string]bool{"BIRTHMARK_CONFIG": true}
	for _, key := range Keys() {
		known[Variable(key)] = true
	}
	for former := range renamed {
		known[Variable(former)] = true
	}
	slices.Sort(environ)
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		if strings.HasPrefix(name, "BIRTHMARK_") && !known[name] && !foreign.MatchString(name) {
			return model.Errorf(model.Usage, "unknown_variable", "unknown environment variable %s%s (birthmark help sync lists them)",
				name, suggest.Hint(name, known))
		}
	}
	return nil
}
