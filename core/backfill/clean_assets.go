package backfill

import (
	"bytes"
	"context"

	"birthmark/core/schema"
	"birthmark/storage"
)

// dropAssets removes the rows of incomplete rules, and their part of the statistics. It can be interrupted and repeated.
func (b *builder) dropAssets(ctx context.Context) error {
	for _, d := range b.Layout().Declarations() {
		if !schema.OfAssets(d.Family) {
			continue
		}
		err := b.sweep(ctx, d.Family, func(batch storage.Batch, kv storage.KV) error {
			batch.Delete(d.Family, kv.Key)
			return nil
		})
		if err != nil {
			return err
		}
	}
	x := b.Layout().Statistics
	if x == nil {
		return nil
	}
	// A rollback subtracts the row of a block from that of its day, so the rows of days are the last ones.
	err := b.sweep(ctx, x.Family(schema.IndexSums), func(batch storage.Batch, kv storage.KV) error {
		s, err := schema.ParseBlockStatistics(kv.Value)
		if err == nil && s.HasAssets() {
			s.ClearAssets()
			batch.Put(x.Family(schema.IndexSums), kv.Key, schema.AppendBlockStatistics(nil, &s))
		}
		return err
	})
	if err != nil {
		return err
	}
	return b.sweep(ctx, x.Family(schema.IndexSumsDays), func(batch storage.Batch, kv storage.KV) error {
		s, err := schema.ParseDayStatistics(kv.Value)
		if err == nil && s.HasAssets() {
			s.ClearAssets()
			batch.Put(x.Family(schema.IndexSumsDays), kv.Key, schema.AppendDayStatistics(nil, &s))
		}
		return err
	})
}

// sweep calls fn for all rows of a family, in steps.
func (b *builder) sweep(ctx context.Context, f storage.Family, fn func(batch storage.Batch, kv storage.KV) error) error {
	var from []byte
	for more := true; more; {
		err := b.Step(ctx, b.x, func(*schema.IndexChange) (Emitter, error) {
			return func(r storage.Reader, batch storage.Batch) error {
				more = false
				rows := 0
				for kv, err := range r.Scan(f, from, nil, false) {
					if err != nil {
						return err
					}
					if rows == b.o.Weight {
						more, from = true, bytes.Clone(kv.Key)
						return nil
					}
					rows++
					if err := fn(batch, kv); err != nil {
						return err
					}
				}
				return nil
			}, nil
		})
		if err != nil {
			return err
		}
		tip := b.Tip().Height
		b.o.Progress(Progress{Index: b.x.Name, Dropping: true, Target: tip})
	}
	return nil
}
