package boxes

import (
	"encoding/hex"
	"fmt"

	"birthmark/chains/ergo"
	"birthmark/chains/ergo/sigma"
	"birthmark/core/schema"
	"birthmark/model"
)

// Token is a token with the description by the transaction that mints it (EIP-4).
type Token struct {
	ID      sigma.ID
	Box     sigma.ID // the first box with the token
	Height  uint32   // the stated creation height of that box
	Amount  uint64   // of all boxes of the transaction
	InFirst uint64   // of the first box, which is the amount in the explorer

	Node     ergo.TokenText  // as the node reads it
	Explorer *ergo.TokenText // as the explorer reads it; nil: it does not
}

func (t Token) memory() int { return 256 + 3*(len(t.Node.Name)+len(t.Node.Description)) }

// TokenOf returns a token; nil if the chain has none with the id.
func (v *View) TokenOf(id sigma.ID) (*Token, error) {
	tokens, err := v.TokensOf([]sigma.ID{id})
	if err != nil {
		return nil, err
	}
	return tokens[id], nil
}

// TokensOf returns tokens by their ids; unknown ones are absent.
func (v *View) TokensOf(ids []sigma.ID) (map[sigma.ID]*Token, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	births := make([]model.AssetBirthPk, 0, len(ids))
	var unknown [][]byte
	for i := range ids {
		if m, cached := v.chain.mintings.Get(ids[i]); cached && v.has(m) {
			births = append(births, m.birth)
		} else {
			unknown = append(unknown, ids[i][:])
		}
	}
	if len(unknown) == 0 {
		return v.Tokens(births)
	}
	found, err := v.Q.Births(v.Q.R, schema.AssetSpace, unknown)
	if err != nil {
		return nil, err
	}
	for i, b := range found {
		if b == nil {
			continue
		}
		birth := model.AssetBirthPk{Utxo: b.Utxo, Index: b.Ordinal}
		births = append(births, birth)
		if block, counted := v.countedID(b.Utxo.Height()); counted {
			v.chain.mintings.Put(sigma.ID(unknown[i]), minting{birth, block})
		}
	}
	return v.Tokens(births)
}

// TokensHeld returns the tokens of a holder by their ids.
func (v *View) TokensHeld(held []sigma.Token) (map[sigma.ID]*Token, error) {
	ids := make([]sigma.ID, len(held))
	for i, x := range held {
		ids[i] = x.ID
	}
	return v.TokensOf(ids)
}

// minting is the birth of a token in the block with these first bytes of its id.
type minting struct {
	birth model.AssetBirthPk
	block uint64
}

// has reports whether the block of a minting is known to be in the chain of the view.
func (v *View) has(m minting) bool {
	id, counted := v.countedID(m.birth.Utxo.Height())
	return counted && id == m.block
}

// Tokens returns tokens by their births, which exist.
func (v *View) Tokens(births []model.AssetBirthPk) (map[sigma.ID]*Token, error) {
	txs := make([]model.TxPk, len(births))
	for i, b := range births {
		txs[i] = b.Utxo.Tx()
	}
	ids, err := v.Q.TxIDs(txs)
	if err != nil {
		return nil, err
	}
	tokens := make(map[sigma.ID]*Token, len(births))
	var missing []int
	for i := range births {
		if t, known := v.chain.tokens.Get(ids[i]); known {
			tokens[t.ID] = &t
		} else {
			missing = append(missing, i)
		}
	}
	if len(missing) == 0 {
		return tokens, nil
	}
	keys, pks := make([][]byte, len(missing)), make([]model.UtxoPk, len(missing))
	for n, i := range missing {
		keys[n], pks[n] = births[i].AppendTo(nil), births[i].Utxo
	}
	totals, err := v.Q.Many(schema.FamilyAssetTotals, keys)
	if err != nil {
		return nil, err
	}
	infos, err := v.Q.R.GetMany(schema.FamilyAssetInfo, keys)
	if err != nil {
		return nil, err
	}
	boxes, err := v.UnspentBoxes(pks)
	if err != nil {
		return nil, err
	}
	for n, i := range missing {
		b := &boxes[n]
		row, err := schema.ParseAssetTotalsRow(totals[n])
		if err != nil {
			return nil, fmt.Errorf("totals of the asset born at %v: %w", births[i], err)
		}
		t := Token{
			ID: b.Box().Tokens[births[i].Index].ID, Box: b.ID(), Height: b.Box().Height, Amount: row.Minted.Uint64(),
			Node: ergo.NodeToken(infos[n]), Explorer: ergo.ExplorerToken(infos[n]),
		}
		for _, x := range b.Box().Tokens {
			if x.ID == t.ID {
				t.InFirst += x.Amount
			}
		}
		v.chain.tokens.Put(ids[i], t)
		tokens[t.ID] = &t
	}
	return tokens, nil
}

// TokenList returns a window of the tokens for which keep returns true, in the order of minting, and their number. If
// keep is nil, these are all tokens.
func (v *View) TokenList(descending bool, keep func(*Token) bool, offset, limit int) (page []*Token, total int, err error) {
	if keep == nil {
		total = int(v.Q.Totals.Rows[schema.FamilyAssetID])
	}
	births := make([]model.AssetBirthPk, 0, tokenBatch)
	flush := func() error {
		found, err := v.tokensInOrder(births)
		births = births[:0]
		for _, t := range found {
			if keep != nil && !keep(t) {
				continue
			}
			if offset > 0 {
				offset--
			} else if len(page) < limit {
				page = append(page, t)
			}
			if keep != nil {
				total++
			}
		}
		if err == nil {
			err = v.Q.Ctx.Err()
		}
		return err
	}
	for kv, err := range v.Q.R.Scan(schema.FamilyAssetID, nil, nil, descending) {
		if err != nil {
			return nil, 0, err
		}
		if keep == nil && offset > 0 {
			offset--
			continue
		}
		birth, err := model.ParseAssetBirthPk(kv.Key)
		if err != nil {
			return nil, 0, err
		}
		size := tokenBatch
		if keep == nil {
			size = min(size, limit-len(page))
		}
		if births = append(births, birth); len(births) >= size {
			if err := flush(); err != nil {
				return nil, 0, err
			}
			if keep == nil && len(page) >= limit {
				break
			}
		}
	}
	err = flush()
	return page, total, err
}

// tokenBatch is the number of tokens that are read at once.
const tokenBatch = 256

func (v *View) tokensInOrder(births []model.AssetBirthPk) ([]*Token, error) {
	byID, err := v.Tokens(births)
	if err != nil || len(births) == 0 {
		return nil, err
	}
	ids, err := v.Q.Many(schema.FamilyAssetID, schema.Keys(births))
	if err != nil {
		return nil, err
	}
	tokens := make([]*Token, len(ids))
	for i, id := range ids {
		tokens[i] = byID[sigma.ID(id)]
	}
	return tokens, nil
}

// AssetTotals returns the birth and the numbers of boxes of a token; ok is false if the chain does not have it.
func (v *View) AssetTotals(id sigma.ID) (birth model.AssetBirthPk, t schema.AssetTotals, ok bool, err error) {
	found, err := v.Q.Births(v.Q.R, schema.AssetSpace, [][]byte{id[:]})
	if err != nil || found[0] == nil {
		return birth, t, false, err
	}
	birth = model.AssetBirthPk{Utxo: found[0].Utxo, Index: found[0].Ordinal}
	rows, err := v.Q.Many(schema.FamilyAssetTotals, [][]byte{birth.AppendTo(nil)})
	if err != nil {
		return birth, t, false, err
	}
	t, err = schema.ParseAssetTotalsRow(rows[0])
	return birth, t, err == nil, err
}

// ParseID reads an id; ok is false if it is not 64 hex digits.
func ParseID(text string) (id sigma.ID, ok bool) {
	if len(text) != 2*len(id) {
		return id, false
	}
	_, err := hex.Decode(id[:], []byte(text))
	return id, err == nil
}
