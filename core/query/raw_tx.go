package query

import (
	"context"
	"encoding/hex"

	"birthmark/core/query/pointers"
	"birthmark/model"
)

// RawTx returns the serialized bytes of the newest transaction with a hash. It returns a [model.Usage] error (no_raw)
// if the database neither stores raw transactions nor can read them, and NotFound (no_raw) for a genesis transaction, and
// if the file or the node does not have the transaction.
func (qs Queries) RawTx(ctx context.Context, hash string) (*RawTxAnswer, error) {
	return read(ctx, qs, func(q *Query) (*RawTxAnswer, error) {
		if !q.HasRaw() {
			return nil, pointers.ErrNoRaw
		}
		pk, err := q.tx(hash)
		if err != nil {
			return nil, err
		}
		if q.IsGenesis(pk) {
			return nil, model.Errorf(model.NotFound, "no_raw",
				"transaction %s has no bytes: it represents outputs that existed before the first block", hash)
		}
		raws, err := q.RawTxs([]model.TxPk{pk})
		if err != nil {
			return nil, err
		}
		return &RawTxAnswer{hash, hex.EncodeToString(raws[0])}, nil
	})
}
