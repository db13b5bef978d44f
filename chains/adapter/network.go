package adapter

import (
	"fmt"
	"slices"
	"strings"

	"birthmark/internal/suggest"
	"birthmark/model"
)

// Networks are the built-in networks of a chain, the default first. String returns a network's name.
type Networks[N fmt.Stringer] []N

// Names returns the names of the networks.
func (ns Networks[N]) Names() []string {
	names := make([]string, len(ns))
	for i, n := range ns {
		names[i] = n.String()
	}
	return names
}

// Find returns the network with this name; "" is the default.
func (ns Networks[N]) Find(name string) (n N, ok bool) {
	if name == "" {
		return ns[0], true
	}
	i := slices.IndexFunc(ns, func(n N) bool { return n.String() == name })
	if i < 0 {
		return n, false
	}
	return ns[i], true
}

// Get is [Networks.Find] with an error of kind [model.Usage], code unknown_network, that lists the networks of the
// chain.
func (ns Networks[N]) Get(chain, name string) (N, error) {
	n, ok := ns.Find(name)
	if !ok {
		return n, model.Errorf(model.Usage, "unknown_network", "unknown network %s of %s: expected %s%s",
			Quote(name), chain, strings.Join(ns.Names(), ", "), suggest.Name(name, ns.Names()))
	}
	return n, nil
}
