package chains

import (
	"fmt"
	"slices"
	"strings"

	"birthmark/chains/bitcoin"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/bitcoincash"
	"birthmark/chains/bitcoinsv"
	"birthmark/chains/cardano"
	"birthmark/chains/dash"
	"birthmark/chains/digibyte"
	"birthmark/chains/dogecoin"
	"birthmark/chains/ergo"
	"birthmark/chains/litecoin"
	"birthmark/chains/tapyrus"
	"birthmark/chains/zcash"
	"birthmark/internal/suggest"
	"birthmark/model"
)

// registration is one chain: its name, its networks with the default first, and its constructor.
type registration struct {
	name     string
	networks []string
	open     func(network string) (model.Chain, error)
}

// registered is every chain there is, in the order people are shown them.
var registered = []registration{
	{bitcoin.Name, bitcoin.Networks(), bitcoin.New},
	{cardano.Name, cardano.Networks(), cardano.New},
	{ergo.Name, ergo.Networks(), ergo.New},
	of(bitcoincash.Spec),
	of(bitcoinsv.Spec),
	of(litecoin.Spec),
	of(dogecoin.Spec),
	of(digibyte.Spec),
	of(dash.Spec),
	of(zcash.Spec),
	of(tapyrus.Spec),
}

// of registers a coin of Bitcoin's kind.
func of(coin *params.Spec) registration {
	open := func(network string) (model.Chain, error) { return bitcoin.Open(coin, network) }
	return registration{coin.Name, coin.NetworkNames(), open}
}

// impossible are chains that cannot be indexed, and why.
var impossible = map[string]string{
	"kaspa": fmt.Sprintf("it has more blocks than a pointer can number (%d)", model.MaxHeight+1),
}

// New is the chain of that name on a network; "" is the chain's default network. An error of kind [model.Usage],
// code unknown_chain or unknown_network, names what there is.
func New(name, network string) (model.Chain, error) {
	r, ok := find(name)
	if why := impossible[name]; why != "" {
		return nil, model.Errorf(model.Usage, "unknown_chain", "%s cannot be indexed: %s", name, why)
	}
	if !ok {
		return nil, model.Errorf(model.Usage, "unknown_chain", "unknown chain %q: expected %s%s", name, strings.Join(Names(), ", "), meant(name))
	}
	if network == "" {
		network = r.networks[0]
	}
	return r.open(network)
}

// meant returns a suffix for an error about an unknown chain: the chain whose coin has the name, or a similar chain.
func meant(name string) string {
	for _, r := range registered {
		if c, err := r.open(r.networks[0]); err == nil && strings.EqualFold(c.Traits().Unit.Symbol, name) {
			return fmt.Sprintf("; did you mean %q?", r.name)
		}
	}
	return suggest.Name(name, Names())
}

// Names are the chains there are.
func Names() []string {
	names := make([]string, len(registered))
	for i, r := range registered {
		names[i] = r.name
	}
	return names
}

// Networks returns the networks of a chain by name, the default first. It returns nil if the chain is unknown.
func Networks(name string) []string {
	r, _ := find(name)
	return slices.Clone(r.networks)
}

func find(name string) (registration, bool) {
	i := slices.IndexFunc(registered, func(r registration) bool { return r.name == name })
	if i < 0 {
		return registration{}, false
	}
	return registered[i], true
}
