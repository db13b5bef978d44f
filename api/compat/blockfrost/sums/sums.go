// Package sums stores the sums of epochs, which no row of the database has.
package sums

import (
	"math/big"
	"sync"

	"birthmark/model"
)

// Epoch is the sums of the blocks of an epoch from its first one to To. It must not be changed.
type Epoch struct {
	To                  model.Point // the last block that it includes
	FirstTime, LastTime int64       // of blocks, in Unix seconds
	Blocks, Txs         int
	Output, Fees        *big.Int
}

// Memory stores sums by the number of the epoch. It is safe for concurrent use.
type Memory struct {
	mu  sync.Mutex
	all map[uint64]*Epoch
}

// maxEpochs is the number of epochs that are stored: mainnet has 73 per year.
const maxEpochs = 1 << 13

// Find returns the sums of an epoch, which may end before the epoch does, or on blocks that were rolled back; nil if there
// are none.
func (m *Memory) Find(epoch uint64) *Epoch {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all[epoch]
}

// Store replaces the sums of an epoch.
func (m *Memory) Store(epoch uint64, e *Epoch) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil || len(m.all) >= maxEpochs {
		m.all = map[uint64]*Epoch{}
	}
	m.all[epoch] = e
}
