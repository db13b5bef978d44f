package cardano

import (
	"birthmark/model"
)

// belongs is an error, code wrong_network, where a block cannot be of the network: by the genesis that the first block
// follows on, by where Byron ended, and by the magic in Byron's headers.
func belongs(n *network, b *model.Block, first bool) error {
	era := b.Header[0]
	byron := era <= eraByron
	parent := b.Parent.String()
	switch none := b.Parent == (model.Hash{}); {
	case first && !none && parent != n.byronHash:
		return foreign(n, b, "it is the first and follows on the genesis %s: expected %s", parent, n.byronHash)
	case first && none && n.byronSlots > 0: // what begins with Shelley has no parent
		return foreign(n, b, "it is the first and follows on no genesis: expected %s", n.byronHash)
	case byron && b.Slot >= n.byronSlots:
		return foreign(n, b, "it is of Byron, which ended before slot %d: a node's configuration beside the genesis files says it with TestShelleyHardForkAtEpoch", n.byronSlots)
	case !byron && b.Slot < n.byronSlots:
		return foreign(n, b, "it is of %s: expected Byron before slot %d", eraNames[era], n.byronSlots)
	case byron:
		w := walker{b: b.Header[1:]}
		header := w.array("header")
		w.field(&header, "protocol magic")
		if magic := w.uint("protocol magic"); magic != uint64(n.magic) {
			return foreign(n, b, "it has the protocol magic %d: expected %d", magic, n.magic)
		}
	}
	return nil
}

func foreign(n *network, b *model.Block, format string, args ...any) error {
	return model.Errorf(model.BadSource, "wrong_network", "block %d at slot %d (%s) is not of %s: "+format,
		append([]any{b.Height, b.Slot, b.Hash, n.name}, args...)...)
}
