package cardano

import (
	"fmt"
	"strconv"
	"strings"

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

// nameless is the network of a [magicName]: enough for questions, not for blocks, whose times and epochs its genesis
// files tell. Epochs of Byron are taken to have as many slots as mainnet's.
func nameless(name string) (*network, bool) {
	number, isMainnet := strings.CutSuffix(strings.TrimPrefix(name, magicPrefix), mainnetSuffix)
	magic, err := strconv.ParseUint(number, 10, 32)
	n := &network{identity: identity{name: name, magic: uint32(magic), testnet: !isMainnet}, byronEpoch: byronEpochSlots}
	return n, err == nil && name == magicName(n.magic, n.testnet)
}

// isNameless reports whether nothing but the name of the network is known.
func (n *network) isNameless() bool { return n.epoch == 0 }

// needFiles is the error of a nameless network where blocks are to be read: kind [model.Usage], code no_genesis.
func (n *network) needFiles() error {
	return model.Errorf(model.Usage, "no_genesis", "of cardano %s only the name is known: name the folder of its genesis files as the network", n.name)
}
