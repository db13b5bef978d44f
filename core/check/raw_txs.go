package check

import (
	"bytes"
	"errors"
	"fmt"
	"iter"

	"birthmark/core/schema"
	"birthmark/model"
)

// raws checks that every transaction of a block, and no other, has its bytes, and that they hash to the transaction's
// hash: up to the last block that was built, if they are being added. It reads both families in parallel: batches of lookups would take too much memory.
func (c *checker) raws() error {
	var end []byte // of the transactions whose bytes are expected; nil: all of them
	switch {
	case c.RawTxs.Dropped():
		return nil
	case c.RawTxs.Building != 0 && c.builtTo == nil:
		end = []byte{0}
	case c.RawTxs.Building != 0:
		end = c.FirstPk(*c.builtTo + 1).AppendTo(nil)
	}
	first, err := c.NewTxPk(0, int(c.Totals.GenesisTxs))
	if err != nil {
		return err
	}
	next, stop := iter.Pull2(c.r.Scan(schema.FamilyTxHash, first.AppendTo(nil), end, false))
	defer stop()
	tx, err, more := next()
	if err != nil {
		return err
	}
	absent := func() { c.problem(schema.FamilyRaw, tx.Key, "the bytes of the transaction are missing") }
	hasher, _ := c.Chain.(model.TxHasher)
	var failed error
	err = c.scan(schema.FamilyRaw, func(k, v []byte) error {
		pk, err := model.ParseTxPk(k)
		if err != nil {
			return err
		}
		c.rawChecksum += schema.RawChecksum(pk, v)
		for more && failed == nil && bytes.Compare(tx.Key, k) < 0 {
			absent()
			tx, failed, more = next()
		}
		if !more || failed != nil || !bytes.Equal(tx.Key, k) {
			return errors.New("there is no such transaction")
		}
		hash, _, err := schema.ParseTxHashRow(tx.Value)
		tx, failed, more = next()
		if err != nil || hasher == nil {
			return nil // reported by txs, or the chain cannot hash
		}
		got, err := hasher.HashTx(v)
		if kind, _ := model.KindOf(err); err != nil && kind == model.NotFound {
			return nil
		}
		if err == nil && got != hash {
			err = fmt.Errorf("they hash to %s", c.Chain.FormatHash(got))
		}
		if err != nil {
			return fmt.Errorf("not the bytes of transaction %s: %w", c.Chain.FormatHash(hash), err)
		}
		return nil
	})
	for err == nil && failed == nil && more {
		absent()
		tx, failed, more = next()
	}
	return errors.Join(err, failed)
}
