package ingest

import (
	"errors"
	"fmt"
	"math"

	"birthmark/model"
)

// Room limits the derived assets of a batch. The entries of a transaction can be many times its bytes, so they are
// counted while they are derived. The zero value has no limits.
type Room struct {
	// Batch is the maximum number of entries of a batch of several blocks; 0: there is no limit.
	Batch int
	// Block returns an error if there is not so much memory for a block: see [model.SourceOptions.Room]. nil: there is no
	// limit.
	Block func(bytes int64) error

	most int // entries of a block; 0: not computed yet
}

// entryMemory is the memory in bytes that a derived entry needs until it is written: in the batch, in the changes of
// holdings and balances, and as rows. Transactions that gave 1,000 assets to 1,000 and to 2,000 outputs needed 652 and
// 772 bytes per entry.
const entryMemory = 800

// unlimited is the maximum number of entries without a limit.
const unlimited = math.MaxInt / 2

// mostEntries returns the maximum number of entries of a block.
func (r *Room) mostEntries() int {
	switch {
	case r.Block == nil:
		return unlimited
	case r.most > 0:
		return r.most
	}
	low, high := 1, unlimited/entryMemory // low fits, or nothing does
	for low+1 < high {
		if mid := low + (high-low)/2; r.Block(int64(mid)*entryMemory) == nil {
			low = mid
		} else {
			high = mid
		}
	}
	r.most = low
	return low
}

// BatchTooLarge is the error of [Resolve] for a batch of several blocks that derive too many entries together.
type BatchTooLarge struct {
	At int // the first block of the batch that has no room with the blocks before it
}

func (e *BatchTooLarge) Error() string {
	return fmt.Sprintf("the blocks before block %d of the batch leave no room for its assets", e.At)
}

// counted counts the entries of a batch.
type counted struct {
	room         *Room
	batch, block int // entries
	of           *model.Block
	at           int // of the block in the batch
}

// begin returns the maximum number of entries of the next transaction.
func (c *counted) begin(b *Batch, t *BatchTx) int {
	for c.of != t.block {
		if c.of != nil {
			c.at++
		}
		c.of, c.block = b.Blocks[c.at], 0
	}
	most := c.room.mostEntries() - c.block
	if len(b.Blocks) > 1 && c.room.Batch > 0 {
		most = min(most, c.room.Batch-c.batch)
	}
	return max(1, most)
}

// add counts the entries of a transaction. Its error is block_too_large, or [*BatchTooLarge].
func (c *counted) add(b *Batch, entries int) error {
	c.batch += entries
	c.block += entries
	several := len(b.Blocks) > 1
	if c.block <= c.room.mostEntries() && (!several || c.room.Batch == 0 || c.batch <= c.room.Batch) {
		return nil
	}
	if several && c.room.Batch > 0 {
		return &BatchTooLarge{c.at}
	}
	err := c.room.Block(int64(c.block) * entryMemory)
	if err == nil {
		err = errors.New("the entries exceed the memory")
	}
	return fmt.Errorf("it has up to %d asset entries: %w", c.block, err)
}
