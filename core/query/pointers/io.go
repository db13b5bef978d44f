package pointers

import (
	"bytes"
	"fmt"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// TxIO is transactions with the outputs that they spend and create.
type TxIO struct {
	Hashes          []string // formatted
	Fees            []model.Fee
	Blocks          map[model.HeightPk]schema.BlockRow
	Spends, Created []model.UtxoPk
	Rows            [][]byte // of Created
	Ends            [][2]int // ends of each transaction's part of Spends and of Created
}

// Batches of transactions are read in parts, so that rows beyond the limit do not fill the memory.
const (
	txsPerRead     = 128
	entriesPerRead = 1024 // a transaction with more inputs or outputs is read by itself
)

// ReadIO reads transactions that exist. More than most inputs and outputs are a Usage error (too_many); 0: no limit.
func (q *Reader) ReadIO(pks []model.TxPk, most int) (*TxIO, error) {
	l, io := q.NewLoad(), &TxIO{Hashes: make([]string, len(pks)), Fees: make([]model.Fee, len(pks)), Ends: make([][2]int, len(pks))}
	l.Rows(schema.FamilyTxHash, schema.Keys(pks), func(rows [][]byte) error {
		for i, pk := range pks {
			hash, fee, err := schema.ParseTxHashRow(rows[i])
			if err != nil {
				return fmt.Errorf("transaction %v: %w", pk, err)
			}
			io.Hashes[i], io.Fees[i] = q.Chain.FormatHash(hash), fee
			q.CacheID(pk, hash)
		}
		return nil
	})
	io.Blocks = l.Blocks(pks)
	for first := 0; first < len(pks); first += txsPerRead {
		part := pks[first:min(first+txsPerRead, len(pks))]
		ranges := make([]storage.Range, len(part))
		for i, pk := range part {
			end := pk.Next()
			ranges[i] = storage.Range{From: pk.AppendTo(nil), To: end.AppendTo(nil)}
			if most > 0 {
				ranges[i].Limit = entriesPerRead
			}
		}
		var spent, created [][]storage.KV
		l.Ranges(schema.FamilySpentUtxo, ranges, func(rows [][]storage.KV) error { spent = rows; return nil })
		l.Ranges(schema.FamilyUtxo, ranges, func(rows [][]storage.KV) error { created = rows; return nil })
		if err := l.Read(); err != nil {
			return nil, err
		}
		for i, pk := range part {
			if err := q.addIO(io, pk, spent[i], created[i], ranges[i].Limit); err != nil {
				return nil, err
			}
			io.Ends[first+i] = [2]int{len(io.Spends), len(io.Created)}
			if most > 0 && len(io.Spends)+len(io.Created) > most {
				return nil, model.Errorf(model.Usage, "too_many",
					"txs: the first %d have more than %d inputs and outputs: request fewer at once", first+i+1, most)
			}
		}
	}
	return io, nil
}

// addIO adds the rows of a transaction, which are incomplete if there are limit of a family.
func (q *Reader) addIO(io *TxIO, tx model.TxPk, spent, created []storage.KV, limit int) (err error) {
	if limit > 0 && len(spent) == limit {
		spends, err := q.SpendsOf(tx)
		if err != nil {
			return err
		}
		io.Spends, spent = append(io.Spends, spends...), nil
	}
	io.Spends, io.Created, io.Rows = slices.Grow(io.Spends, len(spent)), slices.Grow(io.Created, len(created)), slices.Grow(io.Rows, len(created))
	for _, kv := range spent {
		row, err := schema.ParseSpendRow(kv.Key, kv.Value)
		if err != nil {
			return err
		}
		io.Spends = append(io.Spends, row.Output)
	}
	if limit > 0 && len(created) == limit {
		io.Created, io.Rows, err = q.OutputRows(tx, io.Created, io.Rows)
		return err
	}
	for _, kv := range created {
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return err
		}
		io.Created, io.Rows = append(io.Created, pk), append(io.Rows, kv.Value)
	}
	return nil
}

// SpendsOf returns the outputs that a transaction spends, in the order of its inputs.
func (q *Reader) SpendsOf(tx model.TxPk) (spends []model.UtxoPk, err error) {
	end := tx.Next()
	rows := schema.Rows(q.R, schema.FamilySpentUtxo, tx.AppendTo(nil), end.AppendTo(nil), false, schema.ParseSpendRow)
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		spends = append(spends, row.Output)
	}
	return spends, nil
}

// SpendsOfEach returns the outputs that each of some transactions spends, in the order of its inputs. It makes one call
// of the store.
func (q *Reader) SpendsOfEach(txs []model.TxPk) ([][]model.UtxoPk, error) {
	ranges, spends := make([]storage.Range, len(txs)), make([][]model.UtxoPk, len(txs))
	for i, tx := range txs {
		ranges[i].From, ranges[i].To = tx.AppendTo(nil), tx.Next().AppendTo(nil)
	}
	l := q.NewLoad()
	l.Ranges(schema.FamilySpentUtxo, ranges, func(rows [][]storage.KV) error {
		for i := range rows {
			spends[i] = make([]model.UtxoPk, len(rows[i]))
			for n, kv := range rows[i] {
				row, err := schema.ParseSpendRow(kv.Key, kv.Value)
				if err != nil {
					return err
				}
				spends[i][n] = row.Output
			}
		}
		return nil
	})
	return spends, l.Read()
}

// OutputRows appends the outputs of a transaction to created and their rows to rows, in order.
func (q *Reader) OutputRows(tx model.TxPk, created []model.UtxoPk, rows [][]byte) ([]model.UtxoPk, [][]byte, error) {
	end := tx.Next()
	for kv, err := range q.R.Scan(schema.FamilyUtxo, tx.AppendTo(nil), end.AppendTo(nil), false) {
		if err != nil {
			return nil, nil, err
		}
		pk, err := model.ParseUtxoPk(kv.Key)
		if err != nil {
			return nil, nil, err
		}
		created, rows = append(created, pk), append(rows, bytes.Clone(kv.Value))
	}
	return created, rows, nil
}

// OutputsOf returns the outputs of a transaction, in order.
func (q *Reader) OutputsOf(tx model.TxPk) ([]model.UtxoPk, error) {
	pks, _, err := q.OutputRows(tx, nil, nil)
	return pks, err
}
