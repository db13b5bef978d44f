package boxes

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
	"birthmark/core/query"
	"birthmark/core/query/setops"
	"birthmark/core/schema"
	"birthmark/model"
)

// Holder is a value of an index whose boxes are listed: an ErgoTree or a template. The counts of a nil birth are 0.
type Holder struct {
	Index *schema.Index
	Value []byte
	Birth *model.BirthPk
}

// Tree returns the holder of a hash of an ErgoTree.
func (v *View) Tree(hash [32]byte) (*Holder, error) { return v.holder(TreeIndex, hash[:]) }

// Template returns the holder of a SHA-256 of a template.
func (v *View) Template(hash [32]byte) (*Holder, error) { return v.holder(TemplateIndex, hash[:]) }

func (v *View) holder(index string, value []byte) (*Holder, error) {
	x, err := v.Q.Index(index)
	if err != nil {
		return nil, err
	}
	birth, err := v.Q.Birth(x, value)
	return &Holder{x, value, birth}, err
}

// Totals are the counts of a holder.
type Totals struct {
	Boxes, Unspent, Txs int
	Value               uint64 // in unspent boxes
}

// Totals returns the counts with the genesis, or without it.
func (v *View) Totals(h *Holder, genesis bool) (t Totals, err error) {
	if h.Birth == nil {
		return t, nil
	}
	a, err := v.Q.Account(h.Index, *h.Birth)
	if err != nil {
		return t, err
	}
	value := a.Received.Big()
	t = Totals{int(a.Outputs), int(a.Unspent), int(a.Txs), value.Sub(value, a.Sent.Big()).Uint64()}
	first, err := v.genesisBoxes(h)
	if err != nil || len(first) == 0 {
		return t, err
	}
	t.Txs-- // the genesis itself is no transaction
	if genesis {
		return t, nil
	}
	only, err := v.genesisOnly(h, first)
	if err != nil {
		return t, err
	}
	t.Txs -= len(only)
	t.Boxes -= len(first)
	amounts, err := v.Q.Amounts(first)
	if err != nil {
		return t, err
	}
	spenders, err := v.Q.SpendersOf(first)
	for i, by := range spenders {
		if by == nil {
			t.Unspent--
			t.Value -= amounts[i]
		}
	}
	return t, err
}

// genesisBoxes returns the boxes of a holder that existed before block 1.
func (v *View) genesisBoxes(h *Holder) (pks []model.UtxoPk, err error) {
	if h.Birth == nil || !v.Q.IsGenesis(h.Birth.Utxo.Tx()) {
		return nil, nil
	}
	genesis := setops.Span{Last: model.UtxoPk(v.Q.FirstPk(firstHeight)) - 1}
	for pk, err := range v.Q.Occurrences(h.Index, *h.Birth, genesis, false) {
		if err != nil {
			return nil, err
		}
		pks = append(pks, pk)
	}
	return pks, nil
}

// genesisOnly returns the transactions that touch a holder only by spending its genesis boxes.
func (v *View) genesisOnly(h *Holder, first []model.UtxoPk) (map[model.TxPk]bool, error) {
	spenders, err := v.Q.SpendersOf(first)
	if err != nil {
		return nil, err
	}
	amounts, err := v.Q.Amounts(first)
	if err != nil {
		return nil, err
	}
	spent := map[model.TxPk]uint64{}
	for i, by := range spenders {
		if by != nil {
			spent[by.Tx()] += amounts[i]
		}
	}
	only := map[model.TxPk]bool{}
	for tx, amount := range spent {
		s := setops.Span{First: model.UtxoPk(tx), Last: tx.Last()}
		for row, err := range v.Q.StoredHistory(h.Index, *h.Birth, s, false) {
			if err != nil {
				return nil, err
			}
			if row.Received == 0 && row.Sent == amount {
				only[tx] = true
			}
		}
	}
	return only, nil
}

// History returns the transactions of a holder. Without genesis, transactions that
// only spend its genesis boxes are left out.
func (v *View) History(h *Holder, genesis, descending bool) (*List, error) {
	keep := func(schema.TxAmounts) bool { return true }
	if genesis {
		return v.HistoryList(h.Index, *h.Birth, descending, false, nil), nil
	}
	first, err := v.genesisBoxes(h)
	if err != nil {
		return nil, err
	}
	if len(first) > 0 {
		only, err := v.genesisOnly(h, first)
		if err != nil {
			return nil, err
		}
		keep = func(t schema.TxAmounts) bool { return !only[t.Tx] }
	}
	return v.HistoryList(h.Index, *h.Birth, descending, false, keep), nil
}

// Held is an amount of a token.
type Held struct {
	Birth  model.AssetBirthPk
	ID     string
	Amount uint64
}

// Held returns the tokens in the unspent boxes of a holder, in the order in which the tokens were minted.
func (v *View) Held(h *Holder) (held []Held, err error) {
	if h.Birth == nil {
		return nil, nil
	}
	key := h.Birth.AppendTo(nil, h.Index.Kind.HasOrdinal())
	rows := schema.Rows(v.Q.R, h.Index.Family(schema.IndexHeld), key, schema.PrefixEnd(key), false, h.Index.ParseHeldRow)
	var births []model.AssetBirthPk
	for row, err := range rows {
		if err != nil {
			return nil, err
		}
		held = append(held, Held{Birth: row.Asset, Amount: row.Amount.Big().Uint64()})
		births = append(births, row.Asset)
	}
	ids, err := v.Q.AssetIDs(births)
	for i := range held {
		held[i].ID = ids[held[i].Birth]
	}
	return held, err
}

// Holdings returns the contents of the unspent boxes of a holder, with the genesis or without it.
func (v *View) Holdings(h *Holder, genesis bool) (nanoErgs uint64, tokens []sigma.Token, err error) {
	t, err := v.Totals(h, genesis)
	if err != nil {
		return 0, nil, err
	}
	held, err := v.Held(h)
	for i := range held {
		id, _ := ParseID(held[i].ID)
		tokens = append(tokens, sigma.Token{ID: id, Amount: held[i].Amount})
	}
	return t.Value, tokens, err
}

// Sum returns the contents of boxes.
func Sum(all []Box) (nanoErgs uint64, tokens []sigma.Token) {
	at := map[sigma.ID]int{}
	for i := range all {
		nanoErgs += all[i].Box().Value
		for _, t := range all[i].Box().Tokens {
			n, known := at[t.ID]
			if !known {
				n = len(tokens)
				at[t.ID] = n
				tokens = append(tokens, sigma.Token{ID: t.ID})
			}
			tokens[n].Amount += t.Amount
		}
	}
	return nanoErgs, tokens
}

// Owns reports whether a box has the tree, or the template, of the holder.
func (h *Holder) Owns(b *Box) bool {
	if h.Index.Name == TreeIndex {
		hash := ergo.TreeHash(b.Box().Tree)
		return bytes.Equal(hash[:], h.Value)
	}
	tree, err := sigma.ParseTree(b.Box().Tree)
	hash := sha256.Sum256(tree.Template)
	return err == nil && bytes.Equal(hash[:], h.Value)
}

// HeldAt returns the contents of the unspent boxes of a holder after the block at a height.
func (v *View) HeldAt(ctx context.Context, h *Holder, at model.HeightPk) (nanoErgs uint64, tokens []sigma.Token, err error) {
	a, err := v.Queries.BalanceAt(ctx, h.Index.Name, hex.EncodeToString(h.Value), query.Moment{Height: &at})
	if err != nil {
		return 0, nil, err
	}
	if nanoErgs, err = strconv.ParseUint(a.Balance, 10, 64); err != nil {
		return 0, nil, err
	}
	for _, x := range a.Assets {
		id, _ := ParseID(x.Asset)
		amount, err := strconv.ParseUint(x.Balance, 10, 64)
		if err != nil {
			return 0, nil, err
		}
		tokens = append(tokens, sigma.Token{ID: id, Amount: amount})
	}
	return nanoErgs, tokens, nil
}
