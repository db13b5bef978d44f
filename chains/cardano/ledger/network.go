package ledger

import (
	"birthmark/chains/cardano/cbor"
	"birthmark/chains/cardano/genesis"
	"birthmark/model"
)

// CheckNetwork returns an error, code wrong_network, if a block cannot belong to the network: by the genesis that the
// first block refers to, the end of Byron, and the magic in Byron headers.
func CheckNetwork(n *genesis.Network, b *model.Block, first bool) error {
	era := b.Header[0]
	byron := era <= EraByron
	parent := b.Parent.String()
	switch none := b.Parent == (model.Hash{}); {
	case first && !none && parent != n.ByronHash:
		return foreign(n, b, "it is the first and follows on the genesis %s: expected %s", parent, n.ByronHash)
	case first && none && n.ByronSlots > 0: // what begins with Shelley has no parent
		return foreign(n, b, "it is the first and follows on no genesis: expected %s", n.ByronHash)
	case byron && b.Slot >= n.ByronSlots:
		return foreign(n, b, "it is of Byron, which ended before slot %d: set TestShelleyHardForkAtEpoch in the node's configuration next to the genesis files", n.ByronSlots)
	case !byron && b.Slot < n.ByronSlots:
		return foreign(n, b, "it is of %s: expected Byron before slot %d", EraNames[era], n.ByronSlots)
	case byron:
		w := cbor.Walker{Data: b.Header[1:]}
		header := w.Fields("header")
		if magic := header.Uint("protocol magic"); magic != uint64(n.Magic) {
			return foreign(n, b, "it has the protocol magic %d: expected %d", magic, n.Magic)
		}
	}
	return nil
}

func foreign(n *genesis.Network, b *model.Block, format string, args ...any) error {
	return model.Errorf(model.BadSource, "wrong_network", "block %d at slot %d (%s) does not belong to %s: "+format,
		append([]any{b.Height, b.Slot, b.Hash, n.Name}, args...)...)
}
