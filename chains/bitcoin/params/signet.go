package params

import (
	"encoding/hex"
	"strings"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/internal/signet"
	"birthmark/model"
)

// customSignet returns the network with the name signet- and its magic. It has the block 0, the difficulty and the addresses of the
// public signet, but no checkpoints and no seeds.
func customSignet(name string) (n *Network, ok bool) {
	text, ok := strings.CutPrefix(name, signet.Prefix)
	magic, err := hex.DecodeString(text)
	if !ok || err != nil || len(magic) != 4 || text != hex.EncodeToString(magic) {
		return nil, false
	}
	p := private(chaincfg.SigNetParams)
	p.Name, p.Checkpoints, p.DNSSeeds = name, nil, nil
	p.Net = wire.BitcoinNet(uint32(magic[0]) | uint32(magic[1])<<8 | uint32(magic[2])<<16 | uint32(magic[3])<<24)
	n = fromParams(name, p, "38332", "m…, n…, 2…", model.MaxHeight)
	n.NodeChain, n.Coin = signet.Public, Bitcoin
	return n, true
}
