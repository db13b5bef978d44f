package blockfrost

import (
	"cmp"
	"encoding/hex"
	"iter"
	"slices"
	"strconv"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// labelIndex returns the index of labels, with the number of outputs of each.
func (v *view) labelIndex() (*schema.Index, error) {
	return v.optional(Labels, schema.FeatureBalance)
}

// labelBirth is a label of the list of all labels.
type labelBirth struct {
	label uint64
	birth model.BirthPk
}

// metadataLabels answers all labels by number. The index has them in the order of their first use.
func metadataLabels(v *view) (any, error) {
	x, err := v.labelIndex()
	if err != nil {
		return nil, err
	}
	family := x.Family(schema.IndexValue)
	rows := schema.Rows(v.Q.R, family, nil, nil, false, func(key, value []byte) (l labelBirth, err error) {
		if l.label, err = strconv.ParseUint(string(value), 10, 64); err == nil {
			l.birth, err = model.ParseBirthPk(key, x.Kind.HasOrdinal())
		}
		return l, err
	})
	var all []labelBirth
	for l, err := range rows {
		if err := cmp.Or(err, v.ctx().Err()); err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	slices.SortFunc(all, func(a, b labelBirth) int { return cmp.Compare(a.label, b.label) })
	entries := []labelValue{}
	for _, l := range slicePage(all, v.page) {
		sums, err := v.Q.Account(x, l.birth)
		if err != nil {
			return nil, err
		}
		entries = append(entries, labelValue{Label: decimal(l.label), Count: decimal(uint64(sums.Outputs))})
	}
	return entries, nil
}

// labelledTx is a transaction with the label of the path.
type labelledTx struct {
	*decoded
	hash  string
	label uint64
}

// ofLabel answers a page of the transactions that have the label of the path.
func ofLabel[V any](v *view, value func(*labelledTx) V) (any, error) {
	x, err := v.labelIndex()
	if err != nil {
		return nil, err
	}
	label := v.number("label")
	birth, err := v.Q.Birth(x, []byte(decimal(label)))
	if err != nil || birth == nil {
		return nil, orNotFound(err)
	}
	txs, err := pageOf(v, func(after *model.TxPk) iter.Seq2[model.TxPk, error] {
		return distinct(v.Q.Occurrences(x, *birth, v.page.afterTx(setops.Everywhere, after), v.page.descending))
	})
	if err != nil {
		return nil, err
	}
	hashes, err := v.hashes(txs)
	if err != nil {
		return nil, err
	}
	all := make([]V, len(txs))
	for i, tx := range txs {
		d, err := v.decodeTx(tx)
		if err != nil {
			return nil, err
		}
		all[i] = value(&labelledTx{d, hashes[i], label})
	}
	return all, nil
}

func metadataOfLabel(v *view) (any, error) {
	return ofLabel(v, func(tx *labelledTx) labelledValue {
		return labelledValue{tx.hash, tx.Details.Metadata[decimal(tx.label)]}
	})
}

func metadataCBOROfLabel(v *view) (any, error) {
	return ofLabel(v, func(tx *labelledTx) labelledCBORValue {
		_, items := contents.Labels(tx.Auxiliary)
		text := hex.EncodeToString(contents.Labelled(tx.label, items[tx.label]))
		return labelledCBORValue{tx.hash, `\x` + text, text}
	})
}
