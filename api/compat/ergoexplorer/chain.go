package ergoexplorer

import (
	"encoding/json"
	"net/http"

	"birthmark/api/compat/boxes"
	"birthmark/model"
)

func headers(r *request) answer {
	p := pageOf(r, maxItems)
	return func(v *view) (any, error) {
		read := func(h model.HeightPk) (*headerValue, error) {
			b, err := v.Block(h)
			if err != nil {
				return nil, err
			}
			return headerOf(b), nil
		}
		return paged(v, valuesOf(v.byHeight(p), read), v.Height()), nil
	}
}

// block returns the BlockSummary of a block: with its extension and its proofs, which only the node has, and the ids of the
// blocks beside it.
func (p *protocol) block(r *request) answer {
	id := idArg(r, "id")
	return func(v *view) (any, error) {
		b, err := v.BlockOf(model.Hash(id))
		if err == nil && b == nil {
			err = absent("block %x", id)
		}
		if err != nil {
			return nil, err
		}
		full, err := v.fullBlockOf(b)
		if err != nil {
			return nil, err
		}
		full.sectionsValue = p.sections(r, b)
		to := &summaryValue{Block: *full}
		to.References.Previous = boxes.ID(b.Header.Parent)
		if int(b.Height) < v.Height() {
			next, err := v.Block(b.Height + 1)
			if err != nil {
				return nil, err
			}
			to.References.Next = (*boxes.ID)(&next.ID)
		}
		return to, nil
	}
}

// sections returns the extension and the proofs of a block as the node has them; without a node an extension without
// fields, and null.
func (p *protocol) sections(r *request, b *boxes.Block) *sectionsValue {
	var full struct {
		Extension struct {
			Digest string
			Fields [][2]string
		}
		ADProofs *struct{ ProofBytes string }
	}
	if node := p.Node(); node != nil {
		if a, err := node.Ask(r.Context(), []string{"blocks", b.ID.String()}, nil, nil); err == nil && a.Status == http.StatusOK {
			_ = json.Unmarshal(a.Body, &full) // as without a node if this fails
		}
	}
	to := &sectionsValue{Extension: extensionValue{boxes.ID(b.Header.ExtensionRoot), map[string]any{}, boxes.ID(b.ID)}}
	for _, f := range full.Extension.Fields {
		to.Extension.Fields[f[0]] = f[1]
	}
	if full.ADProofs != nil {
		to.Proofs = &full.ADProofs.ProofBytes
	}
	return to
}

func tx(r *request) answer {
	id := idArg(r, "id")
	return func(v *view) (any, error) {
		pk, ok, err := v.TxOf(model.Hash(id))
		if err == nil && !ok {
			err = absent("transaction %x", id)
		}
		if err != nil {
			return nil, err
		}
		txs, err := v.FullTxs([]model.TxPk{pk})
		if err != nil {
			return nil, err
		}
		tokens, err := v.tokensOf(txs...)
		if err != nil {
			return nil, err
		}
		to := new(txValue)
		return to, v.setTx(to, &txs[0], tokens, nil)
	}
}

// txsSpending lists the transactions that spend a box of a template.
func txsSpending(r *request) answer {
	p := pageOf(r, maxItems)
	find := ofTemplate(r)
	return func(v *view) (any, error) {
		h, err := find(v)
		if err != nil {
			return nil, err
		}
		if h.Birth == nil {
			return paged(v, v.txs(nil, nil), 0), nil
		}
		l := v.HistoryList(h.Index, *h.Birth, !p.ascending, true, nil)
		total, err := v.count(l)
		if err != nil {
			return nil, err
		}
		txs, err := v.TxWindow(l, p.offset, p.limit)
		return paged(v, v.txs(txs, nil), total), err
	}
}

// submit sends a signed transaction to the node. It is among the unconfirmed ones before the answer is sent.
func (p *protocol) submit(r *request) (any, error) {
	var body json.RawMessage
	if content(r, &body); r.Refused() != nil {
		return nil, r.Refused()
	}
	id, refused, err := p.Submit(r.Context(), r.Writer(), body, false)
	if refused != "" {
		err = bad("the node refuses the transaction: %s", refused)
	}
	return &submittedValue{boxes.ID(id)}, err
}
