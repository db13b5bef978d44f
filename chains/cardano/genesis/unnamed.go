package genesis

import (
	"fmt"
	"strconv"
	"strings"

	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// A network without a name of its own is called by its magic. Those whose addresses are mainnet's say so, so that what
// is in a database can be asked for without the genesis files.
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

// unnamed is the network of a [magicName]: enough for questions, not for blocks, whose times and epochs its genesis
// files tell. Epochs of Byron are taken to have as many slots as mainnet's.
func unnamed(name string) (*Network, bool) {
	number, isMainnet := strings.CutSuffix(strings.TrimPrefix(name, magicPrefix), mainnetSuffix)
	magic, err := strconv.ParseUint(number, 10, 32)
	n := &Network{Network: address.Network{Name: name, Magic: uint32(magic), Testnet: !isMainnet}, ByronEpoch: ByronEpochSlots}
	return n, err == nil && name == magicName(n.Magic, n.Testnet)
}

// IsUnnamed reports whether nothing but the name of the network is known.
func (n *Network) IsUnnamed() bool { return n.epochSlots == 0 }

// RequireFiles returns an error of kind [model.Usage], code no_genesis, if only the name of the network is known: reading
// blocks takes its genesis files.
func (n *Network) RequireFiles() error {
	if !n.IsUnnamed() {
		return nil
	}
	return model.Errorf(model.Usage, "no_genesis", "of cardano %s only the name is known: name the folder of its genesis files as the network", n.Name)
}
