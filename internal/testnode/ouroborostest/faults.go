package ouroborostest

// Faults make a node misbehave. For another network's magic see [Start]; for invalid chains pass other blocks.
type Faults struct {
	// Instead replaces blocks by hash in block-fetch and node-to-client; points and headers do not change. Use
	// [Block.WithBody] to make a block with the body of another.
	Instead map[[32]byte]Block
	// NoBlocks makes every range request return no blocks.
	NoBlocks bool
	// Silent accepts connections and never answers. Existing connections never answer again.
	Silent bool
	// Garbage sends bytes of another protocol and closes the connection.
	Garbage bool
	// Scrambled sends correct frames whose content is not CBOR.
	Scrambled bool
}

// Misbehave replaces the current faults by f. The zero Faults are correct behaviour, on new connections.
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

// served returns the block that is sent for a block: usually the same.
func (f *Faults) served(b Block) Block {
	if other, ok := f.Instead[b.Hash]; ok {
		return other
	}
	return b
}
