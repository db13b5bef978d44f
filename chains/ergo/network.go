package ergo

import (
	"encoding/hex"

	"birthmark/chains/adapter"
	"birthmark/model"
)

// network has the parameters of one Ergo network.
type network struct {
	name   string
	prefix byte   // of addresses: the high half of their first byte
	port   string // default port of a node
	first  string // id of block 1; empty if the network is restarted from time to time
	known  adapter.Checkpoints
}

// networks is every network, the default first.
var networks = adapter.Networks[*network]{
	{name: "mainnet", prefix: 0x00, port: "9053", first: "b0244dfc267baca974a4caee06120321562784303a8a688976ae56170e4d175b", known: adapter.Checkpoints{
		2_000:     "a7ef84fa12634bc0f8ba44246faf6ee8fb2576a271951e152ceeb770f8527932",
		700_004:   "6db55d84b6b0cac7c447b101fe9006036f0fb42402e10e451ee271b0090ddb1e",
		844_680:   "e3dc46cf471bae72cbc0bd24f167a9840a8acc6da6ac513d39b64626040ff8f3",
		1_796_063: "b01344e0502406e1b05fecc7674e7815ff19f059035811cf5818c698bc9c24fd",
	}},
	{name: "testnet", prefix: 0x10, port: "9052"},
}

func (n *network) String() string { return n.name }

// firstHeight is the height of a chain's first block.
const firstHeight = 1

// firstBlock returns the id of block 1, zero if any block is accepted.
func (n *network) firstBlock() (h model.Hash) {
	_, _ = hex.Decode(h[:], []byte(n.first))
	return h
}

// Networks returns the names of the networks, the default first.
func Networks() []string { return networks.Names() }
