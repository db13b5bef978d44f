package upgrade

import (
	"context"
	"encoding/binary"
	"errors"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// separateRawChecksum leads from format 5 to 6: the sum over the raw transactions leaves the checksum of the totals and
// becomes a field of its own, so that raw transactions can be dropped without reading them. The state of an index that is
// being added or dropped has this field too. state is the sum as 8 bytes, big-endian, and the key of the last row in it.
func separateRawChecksum(ctx context.Context, u *upgrader, state []byte) (func(storage.Reader, storage.Batch) error, error) {
	var sum, done uint64
	var last []byte
	if len(state) > 8 {
		sum, last = binary.BigEndian.Uint64(state), state[8:]
	}
	total, err := u.rawRows(ctx)
	for more := total > 0; more && err == nil; {
		more = false
		err = u.View(ctx, func(r storage.Reader) error {
			n := 0
			for kv, err := range r.Scan(schema.FamilyRaw, after(last), nil, false) {
				if err != nil {
					return err
				}
				pk, err := model.ParseTxPk(kv.Key)
				if err != nil {
					return err
				}
				if n++; n > u.Part {
					more = true
					return nil
				}
				sum += schema.RawChecksum(pk, kv.Value)
				last = append(last[:0], kv.Key...)
				if n%4096 == 0 {
					if err := ctx.Err(); err != nil {
						return err
					}
					u.Progress(min(done+uint64(n), total), total)
				}
			}
			done += uint64(n)
			return nil
		})
		if err == nil && more {
			err = u.save(ctx, append(binary.BigEndian.AppendUint64(nil, sum), last...))
		}
	}
	u.Progress(total, total)
	return func(r storage.Reader, b storage.Batch) error {
		rows, err := r.GetMany(schema.FamilyMeta, [][]byte{schema.MetaTotals, schema.MetaChange})
		if err != nil {
			return err
		}
		totals, err := splitChecksum(rows[0], sum)
		if err != nil {
			return err
		}
		b.Put(schema.FamilyMeta, schema.MetaTotals, totals)
		if rows[1] == nil {
			return nil
		}
		change, err := insertChecksum(rows[1])
		b.Put(schema.FamilyMeta, schema.MetaChange, change)
		return err
	}, err
}

// after returns the first key after a key of a fixed length; nil: the first of all.
func after(key []byte) []byte {
	if key == nil {
		return nil
	}
	return append(append([]byte{}, key...), 0)
}

// rawRows returns the number of raw transactions of a database of format 5, and declares their family if there are any.
func (u *upgrader) rawRows(ctx context.Context) (n uint64, err error) {
	stored := false
	err = u.View(ctx, func(r storage.Reader) error {
		rows, err := r.GetMany(schema.FamilyMeta, [][]byte{schema.MetaRaw, schema.MetaTotals})
		if err != nil {
			return err
		}
		stored = rows[0] != nil
		n, err = countOf(rows[1], schema.FamilyRaw)
		return err
	})
	if err == nil && stored {
		err = u.Declare(schema.RawFamily)
	}
	return n, err
}

var errMeta = errors.New("a row of meta is damaged")

// uvarints skips n uvarints of a row.
func uvarints(row []byte, n int) (rest []byte, last uint64, err error) {
	for range n {
		v, width := binary.Uvarint(row)
		if width <= 0 {
			return nil, 0, errMeta
		}
		row, last = row[width:], v
	}
	return row, last, nil
}

// totalsFields is the number of fields of the totals of format 5 before the numbers of rows: the last is the checksum.
const totalsFields = 5

// splitChecksum returns the totals of format 6 from those of format 5.
func splitChecksum(row []byte, raw uint64) ([]byte, error) {
	first, _, err := uvarints(row, totalsFields-1)
	if err != nil {
		return nil, err
	}
	rest, checksum, err := uvarints(first, 1)
	if err != nil {
		return nil, err
	}
	made := append([]byte{}, row[:len(row)-len(first)]...)
	made = binary.AppendUvarint(made, checksum-raw)
	made = binary.AppendUvarint(made, raw)
	return append(made, rest...), nil
}

// countOf returns the number of rows of a family in the totals of format 5.
func countOf(row []byte, f storage.Family) (uint64, error) {
	rest, _, err := uvarints(row, totalsFields)
	for err == nil && len(rest) > 0 {
		var family, n uint64
		if rest, family, err = uvarints(rest, 1); err == nil {
			rest, n, err = uvarints(rest, 1)
		}
		if err == nil && storage.Family(family) == f {
			return n, nil
		}
	}
	return 0, err
}

// insertChecksum returns the row of an index change of format 6 from that of format 5: uvarint index_number|utxo_pk|
// height_pk|block_hash|uvarint slot, then the new field, then the numbers of rows.
func insertChecksum(row []byte) ([]byte, error) {
	rest, _, err := uvarints(row, 1)
	fixed := len(model.UtxoPk(0).AppendTo(nil)) + len(model.HeightPk(0).AppendTo(nil)) + len(model.Hash{})
	if err != nil || len(rest) < fixed {
		return nil, errMeta
	}
	if rest, _, err = uvarints(rest[fixed:], 1); err != nil {
		return nil, err
	}
	made := append([]byte{}, row[:len(row)-len(rest)]...)
	return append(append(made, 0), rest...), nil
}
