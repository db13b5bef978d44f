package core

import (
	"context"
	"encoding/hex"
	"errors"

	"github.com/dchest/siphash"

	"birthmark/model"
	"birthmark/storage"
)

// What existed before the first block was made by no transaction of the chain: it has no bytes, and no row.

// KeepsRaw reports whether the database keeps transactions' own bytes ([Options.Raw]). What writes to it or is compared
// with it has to come with them ([model.SourceOptions.Raw]).
func (db *DB) KeepsRaw() bool { return db.raw }

// RawTx is a transaction's own bytes, of the newest with that hash. An error of kind [model.Usage] (no_raw) where the
// database does not keep any; NotFound (no_raw) for what existed before the first block.
func (ask Queries) RawTx(ctx context.Context, hash string) (a *RawTxAnswer, err error) {
	err = ask.from(ctx, func(q *query) error {
		if !q.raw {
			return model.Errorf(model.Usage, "no_raw", "the database was made without raw transactions: sync into a new one with --raw, or raw: true in the settings")
		}
		pk, err := q.tx(hash)
		if err != nil {
			return err
		}
		if q.isGenesis(pk) {
			return model.Errorf(model.NotFound, "no_raw", "transaction %s has no bytes: it stands for what existed before the first block", hash)
		}
		raws, err := q.many(familyRaw, keysOf([]model.TxPk{pk}))
		if err == nil {
			a = &RawTxAnswer{hash, hex.EncodeToString(raws[0])}
		}
		return err
	})
	return a, err
}

// openRaw takes from meta whether the database keeps raw transactions.
func (db *DB) openRaw(ctx context.Context, wanted bool) error {
	err := db.store.View(ctx, func(r storage.Reader) error {
		_, err := r.Get(familyMeta, metaRaw)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		db.raw = err == nil
		return err
	})
	if err == nil && wanted && !db.raw {
		err = model.Errorf(model.Refused, "no_raw", "the database was made without raw transactions: sync into a new one, or leave raw out")
	}
	return err
}

// checkRaw reports why the bytes of a block's transactions cannot be kept.
func (db *DB) checkRaw(b *model.Block) error {
	for i := range b.Txs {
		if len(b.Txs[i].Raw) == 0 {
			return model.Errorf(model.BadSource, "bad_block", "block %d %s: transaction %s comes without its bytes, which the database keeps",
				b.Height, db.chain.FormatHash(b.Hash), db.chain.FormatHash(b.Txs[i].Hash))
		}
	}
	return nil
}

// rawChecksum stands for a transaction's bytes and its place in the checksum of meta.
func rawChecksum(pk model.TxPk, raw []byte) uint64 { return siphash.Hash(uint64(pk), 0, raw) }

// raw makes the row of the transaction whose key is in e.key.
func (e *emitter) raw(t *windowTx) {
	if !e.db.raw || t.genesis {
		return
	}
	e.b.Put(familyRaw, e.key, t.Raw)
	e.rows[familyRaw]++
	e.t.checksum += rawChecksum(t.pk, t.Raw)
}

// raws removes the bytes of the transactions in a range of pointers.
func (u *undo) raws(from, to []byte) error {
	if !u.db.raw {
		return nil
	}
	for kv, err := range u.r.Scan(familyRaw, from, to, true) {
		if err != nil {
			return err
		}
		pk, err := model.ParseTxPk(kv.Key)
		if err != nil {
			return err
		}
		u.t.checksum -= rawChecksum(pk, kv.Value)
		u.remove(familyRaw, pk.AppendTo(nil))
	}
	return nil
}
