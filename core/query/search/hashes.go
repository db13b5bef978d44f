package search

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"

	"birthmark/core/query"
	"birthmark/core/schema"
	"birthmark/model"
)

const (
	minHash     = 6  // hex digits of a part of a hash
	maxHashes   = 10 // transactions for a part
	maxHashRows = 64 // rows that are compared
)

// hashes finds transactions by a part of their hash. The rows are ordered by the first bytes of the hash as serialized:
// the end of the text on chains that write hashes in reverse, such as Bitcoin, and the beginning on others.
func (f *finder) hashes(text string) error {
	text = strings.ToLower(text)
	part, reversed := text, f.chain.FormatHash(model.Hash{1})[:2] != "01"
	if len(text) < minHash || len(text) >= 2*len(model.Hash{}) {
		return nil
	}
	if len(part)%2 == 1 { // only whole bytes are looked up
		if part = text[:len(text)-1]; reversed {
			part = text[1:]
		}
	}
	from, err := hex.DecodeString(part)
	if err != nil {
		return nil
	}
	if reversed {
		slices.Reverse(from)
	}
	from = from[:min(len(from), 8)]
	return f.From(f.ctx, func(q *query.Query) error {
		var pks []model.TxPk
		for kv, err := range q.R.Scan(schema.FamilyTxPk, from, nil, false) {
			if err != nil {
				return err
			}
			if !bytes.HasPrefix(kv.Key, from) {
				break
			}
			if len(pks) == maxHashRows {
				f.answer.Partial = true
				break
			}
			_, pointer, err := schema.ParsePrefixKey(kv.Key, model.PkSize)
			if err != nil {
				return err
			}
			pk, err := model.ParseTxPk(pointer)
			if err != nil {
				return err
			}
			pks = append(pks, pk)
		}
		named, err := q.Hashes(pks)
		if err != nil {
			return err
		}
		found := 0
		for _, pk := range pks {
			hash := named[pk]
			if reversed && !strings.HasSuffix(hash, text) || !reversed && !strings.HasPrefix(hash, text) {
				continue
			}
			if found == maxHashes {
				f.answer.Partial = true
				break
			}
			found++
			f.add(Result{Type: Tx, Value: hash}, uint32(pk.Height()))
		}
		return nil
	})
}
