package blockfrost

import (
	"cmp"
	"encoding/hex"
	"iter"
	"slices"
	"strconv"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/api/compat/blockfrost/exchange"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// labelIndex returns the index of labels, with the number of outputs of each.
func (q *request) labelIndex() (*schema.Index, error) {
	return q.Optional(exchange.Labels, schema.FeatureBalance)
}

// labelBirth is a label of the list of all labels.
type labelBirth struct {
	label uint64
	birth model.BirthPk
}

// metadataLabels answers all labels by number. The index has them in the order of their first use.
func metadataLabels(q *request) error {
	x, err := q.labelIndex()
	if err != nil {
		return err
	}
	p := q.Page
	family := x.Family(schema.IndexValue)
	if q.Q.Totals.Rows[family] > exchange.LongSkip {
		if err := q.Expensive(); err != nil {
			return err
		}
	}
	rows := schema.Rows(q.Q.R, family, nil, nil, false, func(key, value []byte) (l labelBirth, err error) {
		if l.label, err = strconv.ParseUint(string(value), 10, 64); err == nil {
			l.birth, err = model.ParseBirthPk(key, x.Kind.HasOrdinal())
		}
		return l, err
	})
	var all []labelBirth
	for l, err := range rows {
		if err := cmp.Or(err, q.Ctx.Err()); err != nil {
			return err
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b labelBirth) int { return cmp.Compare(a.label, b.label) })
	type entry struct {
		Label string `json:"label"`
		CIP10 any    `json:"cip10"` // of a registry outside of the chain: always null
		Count string `json:"count"`
	}
	entries := []entry{}
	for _, l := range exchange.SlicePage(all, p) {
		sums, err := q.Q.Account(x, l.birth)
		if err != nil {
			return err
		}
		entries = append(entries, entry{Label: exchange.Decimal(l.label), Count: exchange.Decimal(uint64(sums.Outputs))})
	}
	q.Answer = entries
	return nil
}

// labelledTxs returns the transactions of a page that have the label of the path, and the label.
func (q *request) labelledTxs() (all []*exchange.Decoded, hashes []string, label uint64, err error) {
	x, err := q.labelIndex()
	if err != nil {
		return nil, nil, 0, err
	}
	if label, err = exchange.ReadNumber(q.Args[0]); err != nil {
		return nil, nil, 0, err
	}
	birth, err := q.Q.Birth(x, []byte(exchange.Decimal(label)))
	if err != nil || birth == nil {
		return nil, nil, 0, exchange.OrNotFound(err)
	}
	p := q.Page
	txs, err := exchange.PageOf(q.Request, p, func(after *model.TxPk) iter.Seq2[model.TxPk, error] {
		rest := setops.Everywhere
		if after != nil {
			rest = rest.AfterTx(*after, p.Descending)
		}
		return distinct(q.Q.Occurrences(x, *birth, rest, p.Descending))
	})
	if err != nil {
		return nil, nil, 0, err
	}
	for _, tx := range txs {
		d, err := q.DecodeTx(tx)
		if err != nil {
			return nil, nil, 0, err
		}
		all = append(all, d)
	}
	hashes, err = q.Hashes(txs)
	return all, hashes, label, err
}

func metadataOfLabel(q *request) error {
	txs, hashes, label, err := q.labelledTxs()
	if err != nil {
		return err
	}
	type entry struct {
		TxHash string `json:"tx_hash"`
		Value  any    `json:"json_metadata"`
	}
	all := []entry{}
	for i, d := range txs {
		all = append(all, entry{hashes[i], d.Details.Metadata[exchange.Decimal(label)]})
	}
	q.Answer = all
	return nil
}

func metadataCBOROfLabel(q *request) error {
	txs, hashes, label, err := q.labelledTxs()
	if err != nil {
		return err
	}
	type entry struct {
		TxHash   string `json:"tx_hash"`
		Prefixed string `json:"cbor_metadata"`
		Metadata string `json:"metadata"`
	}
	all := []entry{}
	for i, d := range txs {
		_, items := contents.Labels(d.Auxiliary)
		text := hex.EncodeToString(contents.Labelled(label, items[label]))
		all = append(all, entry{hashes[i], `\x` + text, text})
	}
	q.Answer = all
	return nil
}
