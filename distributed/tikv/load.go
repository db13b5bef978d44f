package tikv

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/tikv/client-go/v2/txnkv/transaction"

	"birthmark/storage"
)

// Rows of one transaction of a load. They are neighbours, so that they are in one region, or a few.
const (
	loadRows  = 20_000
	loadBytes = 4 << 20
)

// loading is the row loading, which marks a database whose rows are incomplete. No process but Load opens such a
// database.
type loading struct {
	Source string `json:"source"` // the database that is loaded, and its state
}

// ErrLoading is returned by Open for a database that a load has not completed.
var ErrLoading = errors.New("the database is being loaded: continue with birthmark load")

// checkLoading compares the row loading with the options of Open.
func (s *Store) checkLoading(ctx context.Context, source string) error {
	value, err := s.get(ctx, s.keys.state("loading"))
	if err != nil {
		return err
	}
	if value == nil {
		if f := s.version; source != "" && f > 0 {
			return fmt.Errorf("%s is not empty: load into a new name", s.config)
		}
		return nil
	}
	var l loading
	if err := json.Unmarshal(value, &l); err != nil {
		return fmt.Errorf("%w: the row loading: %w", storage.ErrDamaged, err)
	}
	if source == "" {
		return ErrLoading
	}
	if l.Source != source {
		return fmt.Errorf("%s is being loaded from %s, not from %s: continue with that state, or load into a new name", s.config, l.Source, source)
	}
	return nil
}

// Load copies all rows of another store into an empty database, and continues a load that was interrupted. The store was
// opened with [Options.Load]. from must not change meanwhile. Each family is copied in key order, in transactions of up
// to 20,000 rows, several families at once; the progress is written with the rows. The rows of last, without which the
// database counts as empty, are written in the final transaction. progress is called with the number of rows copied by
// this process, also concurrently.
func (s *Store) Load(ctx context.Context, from storage.Store, ds []storage.Declaration, last storage.Family, progress func(rows int)) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.loadFrom == "" {
		return errors.New("the database was not opened for a load")
	}
	if err := errors.Join(from.Declare(ds...), s.Declare(ds...)); err != nil {
		return err
	}
	mark, err := json.Marshal(loading{s.loadFrom})
	if err != nil {
		return err
	}
	err = s.retry(ctx, func() error {
		return s.fenced(ctx, s.keys.state("fence"), func(txn *transaction.KVTxn, _ *fence) error {
			return txn.Set(s.keys.state("loading"), mark)
		})
	})
	if err != nil {
		return s.explain(ctx, err)
	}
	err = from.View(ctx, func(r storage.Reader) error {
		others := slices.DeleteFunc(slices.Clone(ds), func(d storage.Declaration) bool { return d.Family == last })
		err := s.eachPart(ctx, len(others), func(ctx context.Context, i, lane int) error {
			return s.loadFamily(ctx, r, others[i], lane, progress)
		})
		if err != nil {
			return err
		}
		return s.loadLast(ctx, r, ds, last, progress)
	})
	return s.explain(ctx, err)
}

func (s *Store) progressKey(d storage.Declaration) []byte { return s.keys.state("loaded/" + d.Name) }

// loadFamily copies a family from the key after the last one that was copied.
func (s *Store) loadFamily(ctx context.Context, r storage.Reader, d storage.Declaration, lane int, progress func(int)) error {
	number, key := s.catalogue.numbers()[d.Family], s.progressKey(d)
	at, err := s.get(ctx, key)
	if err != nil {
		return err
	}
	var from []byte
	if at != nil {
		from = append(bytes.Clone(unescape(at)), 0)
	}
	var changes []change
	size := 0
	write := func() error {
		if len(changes) == 0 {
			return nil
		}
		copied := bytes.Clone(changes[len(changes)-1].key[s.keys.head():])
		err := s.retry(ctx, func() error {
			return s.fenced(ctx, s.laneKey(lane), func(txn *transaction.KVTxn, _ *fence) error {
				if err := apply(txn, changes); err != nil {
					return err
				}
				return txn.Set(key, escape(copied))
			})
		})
		progress(len(changes))
		changes, size = changes[:0], 0
		return err
	}
	for kv, err := range r.Scan(d.Family, from, nil, false) {
		if err != nil {
			return err
		}
		if len(kv.Key) > limits.Key || len(kv.Value) > limits.Value {
			return fmt.Errorf("%s has a row with a key of %d and a value of %d bytes: TiKV stores at most %d and %d",
				d.Name, len(kv.Key), len(kv.Value), limits.Key, limits.Value)
		}
		changes = append(changes, change{s.keys.row(number, kv.Key), bytes.Clone(escape(kv.Value))})
		if size += len(kv.Key) + len(kv.Value); len(changes) == loadRows || size > loadBytes {
			if err := write(); err != nil {
				return err
			}
		}
	}
	return write()
}

// loadLast completes the load.
func (s *Store) loadLast(ctx context.Context, r storage.Reader, ds []storage.Declaration, last storage.Family, progress func(int)) error {
	var changes []change
	number := s.catalogue.numbers()[last]
	for kv, err := range r.Scan(last, nil, nil, false) {
		if err != nil {
			return err
		}
		changes = append(changes, change{s.keys.row(number, kv.Key), bytes.Clone(escape(kv.Value))})
	}
	for _, d := range ds {
		changes = append(changes, change{key: s.progressKey(d)})
	}
	changes = append(changes, change{key: s.keys.state("loading")})
	progress(len(changes) - len(ds) - 1)
	return s.small(ctx, changes)
}
