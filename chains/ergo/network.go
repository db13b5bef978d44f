package ergo

import (
	"slices"
	"strings"

	"birthmark/model"
)

// network is what tells one Ergo network from another.
type network struct {
	name   string
	prefix byte // of addresses: the high half of their first byte
}

// networks are those whose names are known, the default first.
var networks = []*network{
	{name: "mainnet", prefix: 0x00},
	{name: "testnet", prefix: 0x10},
}

// Networks are the names of the networks, the default first.
func Networks() []string {
	names := make([]string, len(networks))
	for i, n := range networks {
		names[i] = n.name
	}
	return names
}

func networkByName(name string) (*network, error) {
	i := slices.IndexFunc(networks, func(n *network) bool { return n.name == name })
	if i < 0 {
		return nil, model.Errorf(model.Usage, "unknown_network",
			"unknown network %q of ergo: expected %s", name, strings.Join(Networks(), ", "))
	}
	return networks[i], nil
}
