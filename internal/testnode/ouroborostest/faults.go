package ouroborostest

// Faults are what a node does wrong. Another network's magic is a matter of [Start], a chain that is none of the blocks
// given.
type Faults struct {
	// Instead of a block, by hash, another is sent by block-fetch and node-to-client; points and headers are what they
	// were. [Block.WithBody] makes one whose body is another's.
	Instead map[[32]byte]Block
	// NoBlocks answers every request for a range.
	NoBlocks bool
	// Silent: connections are accepted and nothing is ever answered on them. Those that are there fall silent for good.
	Silent bool
	// Garbage is sent in place of everything, and the connection closed, as a server of another kind would.
	Garbage bool
	// Scrambled: what is sent is framed as it has to be, and what is in the frames is no CBOR.
	Scrambled bool
}

// Misbehave does what f says from now on, and no longer what was said before. The zero Faults behave well, on new
// connections.
func (n *Node) Misbehave(f Faults) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.faults = f
	for w := range n.wires {
		if f.Silent {
			w.silent.Store(true)
		}
	}
}

func (n *Node) fault() Faults {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.faults
}

// served is what is sent in place of a block: mostly itself.
func (f *Faults) served(b Block) Block {
	if other, ok := f.Instead[b.Hash]; ok {
		return other
	}
	return b
}
