package query

import (
	"context"
	"slices"

	"birthmark/core/schema"
	"birthmark/model"
	"birthmark/storage"
)

// Parties are the values of an index in the first outputs that a transaction spends, and in the first that it creates:
// each once, in their order.
type Parties struct {
	Spent, Created         []string
	MoreSpent, MoreCreated bool // it has more such outputs
}

// Parties returns the parties of transactions, in the order of hashes, from at most most outputs on each side of each; of
// several transactions with a hash, those of the newest. It reads no more than that of a large transaction.
func (qs Queries) Parties(ctx context.Context, index string, hashes []string, most int) ([]Parties, error) {
	return read(ctx, qs, func(q *Query) ([]Parties, error) {
		if err := notTooMany("txs", len(hashes)); err != nil {
			return nil, err
		}
		x, err := q.Index(index)
		if err != nil {
			return nil, err
		}
		parsed := make([]model.Hash, len(hashes))
		for i, text := range hashes {
			if parsed[i], err = q.Chain.ParseHash(text); err != nil {
				return nil, model.Errorf(model.Usage, "bad_value", "txs[%d]: transaction: %w", i, err)
			}
		}
		txs, err := schema.TxPks(q.R, parsed)
		if err != nil {
			return nil, err
		}
		ranges := make([]storage.Range, len(hashes))
		for i, found := range txs {
			if len(found) == 0 {
				return nil, model.Errorf(model.NotFound, "unknown_tx", "no transaction %s", hashes[i])
			}
			pk := found[0]
			ranges[i] = storage.Range{From: pk.AppendTo(nil), To: pk.Next().AppendTo(nil), Limit: most + 1}
		}
		all := make([]Parties, len(hashes))
		var pks []model.UtxoPk // of all transactions: the spent outputs, then the created ones
		var rows [][]byte
		ends := make([]int, 0, 2*len(hashes))
		l := q.NewLoad()
		l.Ranges(schema.FamilySpentUtxo, ranges, func(found [][]storage.KV) error {
			for i := range found {
				if len(found[i]) > most {
					all[i].MoreSpent, found[i] = true, found[i][:most]
				}
				for _, kv := range found[i] {
					row, err := schema.ParseSpendRow(kv.Key, kv.Value)
					if err != nil {
						return err
					}
					pks = append(pks, row.Output)
				}
				ends = append(ends, len(pks))
			}
			return nil
		})
		l.Ranges(schema.FamilyUtxo, ranges, func(found [][]storage.KV) error {
			rows = make([][]byte, len(pks))
			for i := range found {
				if len(found[i]) > most {
					all[i].MoreCreated, found[i] = true, found[i][:most]
				}
				for _, kv := range found[i] {
					pk, err := model.ParseUtxoPk(kv.Key)
					if err != nil {
						return err
					}
					pks, rows = append(pks, pk), append(rows, slices.Clone(kv.Value))
				}
				ends = append(ends, len(pks))
			}
			return nil
		})
		if err := l.Read(); err != nil {
			return nil, err
		}
		if len(hashes) > 0 {
			l.UtxoRows(pks[:ends[len(hashes)-1]], rows)
		}
		if err := l.Read(); err != nil {
			return nil, err
		}
		var births []model.BirthPk
		valued := make([]int, len(pks)) // how many of births are of outputs up to here
		for i, pk := range pks {
			row, err := q.ParseUtxoRow(pk, rows[i])
			if err != nil {
				return nil, err
			}
			for _, o := range row.Occurrences {
				if o.Index.Number == x.Number {
					births = append(births, o.Birth)
				}
			}
			valued[i] = len(births)
		}
		texts := l.ValueTexts(x, births)
		if err := l.Read(); err != nil {
			return nil, err
		}
		from, value := 0, 0
		for n, end := range ends {
			p := &all[n%len(hashes)]
			to := &p.Spent
			if n >= len(hashes) {
				to = &p.Created
			}
			for ; from < end; from++ {
				for ; value < valued[from]; value++ {
					if !slices.Contains(*to, texts[value]) {
						*to = append(*to, texts[value])
					}
				}
			}
		}
		return all, q.Pass(len(pks))
	})
}
