package ergo

import (
	"encoding/hex"

	"birthmark/chains/blocksource"
	"birthmark/model"
)

// nodes has each network's default port and first block.
var nodes = map[string]struct {
	port  string
	first string // id of block 1; empty if the network is restarted from time to time
}{
	"mainnet": {"9053", "b0244dfc267baca974a4caee06120321562784303a8a688976ae56170e4d175b"},
	"testnet": {"9052", ""},
}

// firstBlock returns the id of a network's block 1, zero if any block is accepted.
func firstBlock(network string) (h model.Hash) {
	_, _ = hex.Decode(h[:], []byte(nodes[network].first))
	return h
}

// openREST returns a node as a source. It sends no request yet.
func openREST(d *decoder, _ string, o model.SourceOptions) (model.Source, error) {
	node, options, err := newRESTNode(d, restOptions(d.net, o.URI, o), o)
	if err != nil {
		return nil, err
	}
	return blocksource.NewSource(node, options), nil
}

// firstHeight is the height of a chain's first block.
const firstHeight = 1
