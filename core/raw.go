package core

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"

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

// raws: a row for every transaction of a block and no other, and bytes that hash to the transaction's hash. Both families
// are read side by side, as bytes are too many to be looked up in numbers.
func (c *checker) raws() error {
	if !c.db.raw {
		return nil
	}
	first, err := model.NewTxPk(0, int(c.totals.genesisTxs))
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(c.r.Scan(familyTxHash, first.AppendTo(nil), nil, false))
	defer stop()
	tx, err, more := next()
	if err != nil {
		return err
	}
	absent := func() { c.fault(familyRaw, tx.Key, "the bytes of the transaction are missing") }
	hasher, _ := c.db.chain.(model.TxHasher)
	var failed error
	err = c.scan(familyRaw, func(k, v []byte) error {
		pk, err := model.ParseTxPk(k)
		if err != nil {
			return err
		}
		c.checksum += rawChecksum(pk, v)
		for more && failed == nil && bytes.Compare(tx.Key, k) < 0 {
			absent()
			tx, failed, more = next()
		}
		if !more || failed != nil || !bytes.Equal(tx.Key, k) {
			return errors.New("there is no such transaction")
		}
		hash, _, err := parseTxHashRow(tx.Value)
		tx, failed, more = next()
		if err != nil || hasher == nil {
			return nil // told of before, or nothing to tell by
		}
		got, err := hasher.HashTx(v)
		if kind, _ := model.KindOf(err); err != nil && kind == model.NotFound {
			return nil
		}
		if err == nil && got != hash {
			err = fmt.Errorf("they hash to %s", c.db.chain.FormatHash(got))
		}
		if err != nil {
			return fmt.Errorf("not the bytes of transaction %s: %w", c.db.chain.FormatHash(hash), err)
		}
		return nil
	})
	for err == nil && failed == nil && more {
		absent()
		tx, failed, more = next()
	}
	return errors.Join(err, failed)
}

// raws compares the bytes of transactions.
func (v *verifier) raws(txs []*verifyTx, from, to model.TxPk) error {
	if !v.raw {
		return nil
	}
	rows, err := v.rowsBetween(familyRaw, from, to)
	if err != nil {
		return err
	}
	for _, t := range txs {
		if v.isGenesis(t.pk) {
			continue
		}
		ours := missing
		if b, found := rows[model.UtxoPk(t.pk)]; found {
			ours = rawText(b)
			delete(rows, model.UtxoPk(t.pk))
		}
		v.differ(t.at("bytes of the transaction"), rawText(t.Raw), ours)
	}
	v.left(rows, "transaction")
	return v.ctx.Err()
}

// rawText stands for bytes that may be millions.
func rawText(b []byte) string {
	return fmt.Sprintf("%d bytes with the SHA-256 %x", len(b), sha256.Sum256(b))
}
