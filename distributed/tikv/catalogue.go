package tikv

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/tikv/client-go/v2/txnkv/transaction"

	"birthmark/storage"
)

// catalogue maps families to numbers in keys. The name of a family is its identity; numbers are never used again.
type catalogue struct {
	mu       sync.Mutex
	stored   storedCatalogue
	declared map[storage.Family]uint32 // replaced, never changed
}

// storedCatalogue is the row catalogue, as JSON.
type storedCatalogue struct {
	Last    uint32            `json:"last"`
	Numbers map[string]uint32 `json:"numbers"`
	Dropped []droppedFamily   `json:"dropped,omitempty"`
}

// droppedFamily is a family whose rows wait for the safe point to pass.
type droppedFamily struct {
	Number uint32 `json:"number"`
	At     uint64 `json:"at"` // timestamp
}

// nothing is the number of a family that a process which only reads has declared, and that does not exist.
const nothing = 0

func (c *catalogue) numbers() map[storage.Family]uint32 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.declared
}

func (s *Store) readCatalogue(ctx context.Context) error {
	value, err := s.get(ctx, s.keys.state("catalogue"))
	if err != nil {
		return err
	}
	stored := storedCatalogue{Numbers: map[string]uint32{}}
	if value != nil {
		if err := json.Unmarshal(value, &stored); err != nil {
			return fmt.Errorf("%w: its catalogue: %w", storage.ErrDamaged, err)
		}
	}
	s.catalogue.mu.Lock()
	defer s.catalogue.mu.Unlock()
	s.catalogue.stored = stored
	return nil
}

// Declare implements [storage.Store].
func (s *Store) Declare(ds ...storage.Declaration) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	ctx := s.background
	if s.readOnly {
		if err := s.readCatalogue(ctx); err != nil {
			return err
		}
	}
	missing := func(c *storedCatalogue) bool {
		return slices.ContainsFunc(ds, func(d storage.Declaration) bool { return c.Numbers[d.Name] == nothing })
	}
	s.catalogue.mu.Lock()
	changed := missing(&s.catalogue.stored)
	s.catalogue.mu.Unlock()
	if changed && !s.readOnly {
		err := s.changeCatalogue(ctx, func(c *storedCatalogue, _ uint64) {
			for _, d := range ds {
				if c.Numbers[d.Name] == nothing {
					c.Last++
					c.Numbers[d.Name] = c.Last
				}
			}
		})
		if err != nil {
			return err
		}
	}
	s.catalogue.mu.Lock()
	defer s.catalogue.mu.Unlock()
	declared := maps.Clone(s.catalogue.declared)
	if declared == nil {
		declared = map[storage.Family]uint32{}
	}
	for _, d := range ds {
		declared[d.Family] = s.catalogue.stored.Numbers[d.Name]
	}
	s.catalogue.declared = declared
	return nil
}

// changeCatalogue replaces the catalogue in a fenced transaction, whose timestamp change gets.
func (s *Store) changeCatalogue(ctx context.Context, change func(*storedCatalogue, uint64)) error {
	key := s.keys.state("catalogue")
	var next storedCatalogue
	err := s.retry(ctx, func() error {
		// Lane 0 is not in use by parts of a large update at the same time, or this transaction conflicts and is repeated.
		return s.fenced(ctx, s.laneKey(0), func(txn *transaction.KVTxn, _ *fence) error {
			next = storedCatalogue{Numbers: map[string]uint32{}}
			value, err := txn.Get(ctx, key)
			if err == nil {
				err = json.Unmarshal(value, &next)
			} else if notFound(err) {
				err = nil
			}
			if err != nil {
				return err
			}
			change(&next, txn.StartTS())
			if value, err = json.Marshal(next); err != nil {
				return err
			}
			return txn.Set(key, value)
		})
	})
	if err != nil {
		return s.explain(ctx, err)
	}
	s.catalogue.mu.Lock()
	defer s.catalogue.mu.Unlock()
	s.catalogue.stored = next
	return nil
}

// Drop implements [storage.Store]. The rows are deleted when no reader can need them: see collect. Drop need not wait
// for Views, which read at timestamps before it.
func (s *Store) Drop(ctx context.Context, ds ...storage.Declaration) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if s.readOnly {
		return storage.ErrReadOnly
	}
	s.catalogue.mu.Lock()
	exists := slices.ContainsFunc(ds, func(d storage.Declaration) bool { return s.catalogue.stored.Numbers[d.Name] != nothing })
	s.catalogue.mu.Unlock()
	if exists {
		err := s.changeCatalogue(ctx, func(c *storedCatalogue, at uint64) {
			for _, d := range ds {
				if number := c.Numbers[d.Name]; number != nothing {
					delete(c.Numbers, d.Name)
					c.Dropped = append(c.Dropped, droppedFamily{number, at})
				}
			}
		})
		if err != nil {
			return err
		}
	}
	s.catalogue.mu.Lock()
	defer s.catalogue.mu.Unlock()
	declared := maps.Clone(s.catalogue.declared)
	for _, d := range ds {
		delete(declared, d.Family)
	}
	s.catalogue.declared = declared
	return ctx.Err()
}
