package blockfrost

import (
	"iter"

	"birthmark/api/compat/utxo"
	"birthmark/core/query"
	"birthmark/core/query/setops"
	"birthmark/model"
)

func addressUTXOs(v *view) (any, error) { return v.answerUTXOs(v.holder()) }
func accountUTXOs(v *view) (any, error) { return v.answerUTXOs(v.account()) }

// answerUTXOs answers the unspent outputs of a holder, in the order of their creation. Each has its own address.
func (v *view) answerUTXOs(h *holder, err error) (any, error) {
	if err != nil || h.birth == nil {
		return []utxoValue{}, err
	}
	return v.pageOfUTXOs(h, func(span setops.Span) setops.Outputs {
		return v.Q.StoredUnspent(h.index, *h.birth, span, v.page.descending)
	})
}

// after returns the part of a span after an output; nil: all of it.
func (p *paging) after(s setops.Span, last *model.UtxoPk) setops.Span {
	if last == nil {
		return s
	}
	return s.After(*last, p.descending)
}

// afterTx returns the part of a span after a transaction; nil: all of it.
func (p *paging) afterTx(s setops.Span, last *model.TxPk) setops.Span {
	if last == nil {
		return s
	}
	return s.AfterTx(*last, p.descending)
}

// pageOfUTXOs answers a page of unspent outputs of a holder.
func (v *view) pageOfUTXOs(h *holder, scan func(setops.Span) setops.Outputs) (any, error) {
	pks, err := pageOf(v, func(after *model.UtxoPk) iter.Seq2[model.UtxoPk, error] {
		return scan(v.page.after(setops.Everywhere, after))
	})
	if err != nil {
		return nil, err
	}
	outputs, _, err := v.Outputs(pks, nil)
	if err != nil {
		return nil, err
	}
	all := make([]utxoValue, len(outputs))
	for i := range outputs {
		o := &outputs[i]
		all[i] = utxoValue{
			Address: o.Owner.Text, TxHash: o.Tx.String(), OutputIndex: o.Pk.Index(), Amount: amountsOf(o),
			Block: o.Created.Hash.String(), ReferenceScriptHash: text(o.ScriptHash),
		}
		if h.index.Name != utxo.ScriptIndex {
			all[i].TxIndex = &all[i].OutputIndex
		}
		all[i].DataHash, all[i].InlineDatum = datumOf(o)
	}
	return all, nil
}

// addressUTXOsOf answers the unspent outputs of an address that hold an asset; with lovelace those without any asset.
func addressUTXOsOf(v *view) (any, error) {
	h, err := v.holder()
	if err != nil {
		return nil, err
	}
	descending, unit := v.page.descending, v.arg("asset")
	unspent := func(span setops.Span, descending bool) setops.Outputs {
		return v.Q.StoredUnspent(h.index, *h.birth, span, descending)
	}
	scan := func(span setops.Span) setops.Outputs { return v.withoutAssets(unspent(span, descending)) }
	if unit != lovelace {
		_, birth, err := v.Q.Asset(unit)
		if query.UnknownAsset(err) {
			return nil, errNotFound
		} else if err != nil {
			return nil, err
		}
		scan = func(span setops.Span) setops.Outputs {
			both := setops.Intersection{stream(unspent, span, descending), stream(func(s setops.Span, descending bool) setops.Outputs {
				return v.Q.AssetOccurrences(birth, s, descending)
			}, span, descending)}
			var cut *model.UtxoPk // the budget has no end
			return setops.Merged(both, descending, &cut)
		}
	}
	return v.pageOfUTXOs(h, scan)
}

// withoutAssets yields the outputs that hold lovelace alone.
func (v *view) withoutAssets(outputs setops.Outputs) setops.Outputs {
	return func(yield func(model.UtxoPk, error) bool) {
		for batch, err := range batches(v, outputs) {
			var found [][]utxo.Asset
			if err == nil {
				found, err = v.Assets(batch)
			}
			if err != nil {
				yield(0, err)
				return
			}
			for i, pk := range batch {
				if len(found[i]) == 0 && !yield(pk, nil) {
					return
				}
			}
		}
	}
}

// stream returns the outputs of a scan in a span.
func stream(scan setops.Scan, span setops.Span, descending bool) setops.Stream {
	return &setops.ScanStream{Scan: scan, Span: span, Descending: descending, Budget: &setops.Budget{Left: 1 << 62}}
}
