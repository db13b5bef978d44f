package core

import (
	"crypto/sha256"
	"fmt"

	"birthmark/core/schema"
	"birthmark/model"
)

// raws compares the bytes of transactions.
func (v *verifier) raws(txs []*verifyTx, from, to model.TxPk) error {
	if !v.Raw {
		return nil
	}
	rows, err := v.rowsBetween(schema.FamilyRaw, from, to)
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
