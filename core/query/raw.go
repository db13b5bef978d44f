package query

import (
	"context"
	"encoding/hex"

	"birthmark/core/schema"
	"birthmark/model"
)

// RawTx returns the serialized bytes of the newest transaction with a hash. It returns a [model.Usage] error (no_raw)
// if the database does not store raw transactions, and NotFound (no_raw) for a genesis transaction.
func (qs Queries) RawTx(ctx context.Context, hash string) (*RawTxAnswer, error) {
	return read(ctx, qs, func(q *Query) (*RawTxAnswer, error) {
		if !q.Layout.Raw {
			return nil, model.Errorf(model.Usage, "no_raw", "the database was created without raw transactions: "+
				"sync into a new one with --raw, or raw: true in the settings")
		}
		pk, err := q.tx(hash)
		if err != nil {
			return nil, err
		}
		if q.isGenesis(pk) {
			return nil, model.Errorf(model.NotFound, "no_raw",
				"transaction %s has no bytes: it represents outputs that existed before the first block", hash)
		}
		raws, err := q.many(schema.FamilyRaw, schema.Keys([]model.TxPk{pk}))
		if err != nil {
			return nil, err
		}
		return &RawTxAnswer{hash, hex.EncodeToString(raws[0])}, nil
	})
}
