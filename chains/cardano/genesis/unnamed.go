package genesis

import (
	"fmt"
	"strconv"
	"strings"

	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// A network that is not public is named after its magic, with a suffix if it has mainnet addresses. The name is enough
// to query a database.
const (
	magicPrefix   = "magic-"
	mainnetSuffix = "-mainnet"
)

func magicName(magic uint32, testnet bool) string {
	if testnet {
		return fmt.Sprintf(magicPrefix+"%d", magic)
	}
	return fmt.Sprintf(magicPrefix+"%d"+mainnetSuffix, magic)
}

// unnamed returns the network of a [magicName]. It is enough for queries, not for blocks, whose times and epochs need
// the genesis files. Byron epochs are assumed to have as many slots as on mainnet.
func unnamed(name string) (*Network, bool) {
	number, isMainnet := strings.CutSuffix(strings.TrimPrefix(name, magicPrefix), mainnetSuffix)
	magic, err := strconv.ParseUint(number, 10, 32)
	n := &Network{Network: address.Network{Name: name, Magic: uint32(magic), Testnet: !isMainnet}, ByronEpoch: ByronEpochSlots}
	return n, err == nil && name == magicName(n.Magic, n.Testnet)
}

// IsUnnamed reports whether only the name of the network is known.
func (n *Network) IsUnnamed() bool { return n.epochSlots == 0 }

// RequireFiles returns an error of kind [model.Usage], code no_genesis, if only the name of the network is known: reading
// blocks takes its genesis files.
func (n *Network) RequireFiles() error {
	if !n.IsUnnamed() {
		return nil
	}
	return model.Errorf(model.Usage, "no_genesis", "only the name of cardano %s is known: use the folder of its genesis files as the network", n.Name)
}
