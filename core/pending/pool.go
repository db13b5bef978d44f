package pending

import (
	"slices"
	"time"

	"github.com/tidwall/btree"

	"birthmark/core/query"
	"birthmark/model"
)

// Pool is the writer of an overlay. It is not safe for concurrent use.
type Pool struct {
	tables
	indexes []string
	traits  model.Traits
	limit   int64 // bytes of memory
	now     func() time.Time

	tip     model.Point
	recent  []model.Point           // the newest blocks up to the tip, ascending; empty: not read yet
	coins   map[model.UtxoPk]*Input // the inputs that spend confirmed outputs
	boxes   int                     // position of the spend index; -1: inputs refer to outpoints
	arrived uint64                  // number of the last arrival
	bySize  *btree.BTreeG[*Tx]      // the transactions whose serialized bytes are kept, largest first
	raws    int64                   // bytes of them
	left    fateQueue               // of the fates, oldest first
	aside   aside                   // transactions whose inputs are not known
	skipped map[model.Hash]skipped  // transactions of the source that are not in the overlay
	change  Change                  // since the last publication
	tokens  *tokens                 // nil: the chain derives no assets

	opened, filled, behind, old bool // see state
	orphaned                    bool // a reorganization removed blocks; the follower resets it
	wanted                      int  // number of transactions of the source
}

// skipped is the reason why a transaction of the source is not in the overlay.
type skipped uint8

const (
	invalid skipped = iota + 1 // it spends an output that the chain has spent; tried again after the next block
	evicted                    // to save memory; tried again when there is memory
)

// unconfirmed is the pointer of an output that is not in the chain.
const unconfirmed = ^model.UtxoPk(0)

// NewPool returns a pool without transactions, for the memory limit in bytes.
func NewPool(traits model.Traits, limit int64, now func() time.Time) *Pool {
	p := &Pool{traits: traits, limit: limit, now: now}
	p.Reset(nil)
	p.change = Change{}
	return p
}

// Reset removes all transactions, and expects transactions with the values of other indexes.
func (p *Pool) Reset(indexes []string) {
	old := p.tables
	p.tables = newTables()
	if old.fates != nil {
		p.fates, p.replaced = old.fates, old.replaced
	}
	p.indexes, p.boxes = indexes, -1
	if p.traits.SpendIndex != "" {
		p.boxes = slices.Index(indexes, p.traits.SpendIndex)
	}
	p.coins, p.skipped, p.aside = map[model.UtxoPk]*Input{}, map[model.Hash]skipped{}, newAside()
	p.bySize = btree.NewBTreeGOptions(func(a, b *Tx) bool {
		return a.Size > b.Size || a.Size == b.Size && a.Arrival < b.Arrival
	}, btree.Options{NoLocks: true})
	p.tokens = newTokens(&p.traits)
	p.raws, p.recent, p.filled, p.wanted = 0, nil, false, 0
	p.change = Change{All: true}
}

// state returns the state of the overlay.
func (p *Pool) state() State {
	switch {
	case !p.opened:
		return None
	case !p.filled || p.behind:
		return Filling
	case p.old:
		return Old
	case p.partial():
		return Partial
	}
	return Live
}

// partial reports whether transactions were left out to save memory.
func (p *Pool) partial() bool {
	for _, why := range p.skipped {
		if why == evicted {
			return true
		}
	}
	return false
}

// Overlay returns the overlay as it is now.
func (p *Pool) Overlay() *Overlay {
	return &Overlay{tables: p.tables.copy(), state: p.state(), filled: p.filled, indexes: p.indexes, wanted: p.wanted}
}

// takeChange returns the changes since the last call.
func (p *Pool) takeChange() Change {
	c := p.change
	p.change = Change{}
	return c
}

// Enter enters transactions in any order. It moves the pool to the tip of q first. Transactions whose inputs are not
// known are kept aside; transactions that spend an output that the chain has spent are ignored.
func (p *Pool) Enter(q *query.Query, txs []*model.Unconfirmed) error {
	if err := p.Advance(q); err != nil {
		return err
	}
	return p.enter(q, txs)
}

func (p *Pool) enter(q *query.Query, txs []*model.Unconfirmed) error {
	if err := p.readRecent(q); err != nil {
		return err
	}
	for len(txs) > 0 {
		b, err := p.batch(q, txs)
		if err != nil {
			return err
		}
		for _, t := range b.order {
			if err := b.enter(q, t); err != nil {
				return err
			}
		}
		txs = b.ready
	}
	p.shrink()
	return nil
}
