package ergo

import (
	"encoding/hex"

	"birthmark/chains/blocksource"
	"birthmark/model"
)

// What a node of a network says of itself, and where it listens.
var nodes = map[string]struct {
	port  string
	first string // id of block 1; empty: the network is begun anew now and then
}{
	"mainnet": {"9053", "b0244dfc267baca974a4caee06120321562784303a8a688976ae56170e4d175b"},
	"testnet": {"9052", ""},
}

// firstBlock is the id of a network's block 1, zero where any will do.
func firstBlock(network string) (h model.Hash) {
	_, _ = hex.Decode(h[:], []byte(nodes[network].first))
	return h
}

// openREST is the chain of a node as a source. It asks the node nothing yet.
func openREST(d *decoder, _ string, o model.SourceOptions) (model.Source, error) {
	node, options, err := newRESTNode(d, restOptions(d.net, o.URI, o), o)
	if err != nil {
		return nil, err
	}
	return blocksource.NewSource(node, options), nil
}

// firstHeight is the height of a chain's first block.
const firstHeight = 1
