package ergoexplorer

import (
	"strconv"

	"birthmark/api/compat/boxes"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// rows is the number of boxes that are read together.
const rows = 128

// addBoxes writes boxes of the chain, as items of a list of which n were written.
func (q *request) addBoxes(pks []model.UtxoPk, n int, unspent bool) error {
	for i := 0; i < len(pks); i += rows {
		batch := pks[i:min(i+rows, len(pks))]
		read := q.v.AllBoxes
		if unspent {
			read = q.v.UnspentBoxes
		}
		all, err := read(batch)
		if err != nil {
			return err
		}
		if err := q.addBoxItems(all, n+i, confirmedForm); err != nil {
			return err
		}
		if err := q.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// addBoxItems writes boxes as items of a list of which n were written.
func (q *request) addBoxItems(all []boxes.Box, n int, f form) error {
	tokens, err := q.tokensIn(all)
	if err != nil {
		return err
	}
	for i := range all {
		q.Comma(n + i)
		if err := q.addBox(&all[i], tokens, f); err != nil {
			return err
		}
	}
	return nil
}

// tokensIn returns the tokens in boxes.
func (q *request) tokensIn(lists ...[]boxes.Box) (map[sigma.ID]*boxes.Token, error) {
	var ids []sigma.ID
	seen := map[sigma.ID]bool{}
	for _, all := range lists {
		for i := range all {
			for _, t := range all[i].Box().Tokens {
				if !seen[t.ID] {
					seen[t.ID] = true
					ids = append(ids, t.ID)
				}
			}
		}
	}
	return q.v.TokensOf(ids)
}

// tokensOf returns the tokens in the boxes of transactions.
func (q *request) tokensOf(txs ...boxes.FullTx) (map[sigma.ID]*boxes.Token, error) {
	var lists [][]boxes.Box
	for i := range txs {
		lists = append(lists, txs[i].Inputs, txs[i].Outputs)
		for _, b := range txs[i].Data {
			if b != nil {
				lists = append(lists, []boxes.Box{*b})
			}
		}
	}
	return q.tokensIn(lists...)
}

// form is a form of boxes.
type form uint8

const (
	confirmedForm form = iota // OutputInfo
	pendingForm               // UOutputInfo: without the fields of the block
	mergedForm                // MOutputInfo: these are null for an unconfirmed box
	anyForm                   // AnyOutputInfo: so they are
)

// addBox writes a box.
func (q *request) addBox(b *boxes.Box, tokens map[sigma.ID]*boxes.Token, f form) error {
	var height, number, mainChain, block string
	switch {
	case !b.Unconfirmed:
		id, err := q.v.HeaderOf(b)
		if err != nil {
			return err
		}
		n, err := q.v.BoxNumber(b.Pk)
		if err != nil {
			return err
		}
		block, number = `"`+id.String()+`"`, strconv.FormatUint(n, 10)
		height, mainChain = strconv.Itoa(b.Height()), "true"
	case f == mergedForm:
		block, number, height, mainChain = "null", "null", "null", "false"
	default:
		block, number, height, mainChain = "null", "null", "null", "null"
	}
	field := func(name, value string) {
		if f != pendingForm {
			q.Add(`,"`, name, `":`, value)
		}
	}
	q.Add(`{"boxId":`)
	q.ID(b.ID())
	q.Add(`,"transactionId":`)
	q.Hex(b.Tx.ID[:])
	if f == anyForm {
		field("headerId", block)
	} else {
		field("blockId", block)
	}
	q.Add(`,"value":`)
	q.Uint(b.Box().Value)
	q.Add(`,"index":`)
	q.Int(b.Pos)
	field("globalIndex", number)
	q.Add(`,"creationHeight":`)
	q.Uint(uint64(b.Box().Height))
	field("settlementHeight", height)
	q.addContents(b, tokens, f == confirmedForm || f == anyForm)
	q.Add(`,"spentTransactionId":`)
	if b.Spend == nil {
		q.Add("null")
	} else {
		q.Hex(b.Spend.Tx.ID[:])
	}
	field("mainChain", mainChain)
	q.Add("}")
	return nil
}

// addContents writes the script, the tokens and the registers of a box.
func (q *request) addContents(b *boxes.Box, tokens map[sigma.ID]*boxes.Token, printed bool) {
	box := b.Box()
	q.Add(`,"ergoTree":`)
	q.Hex(box.Tree)
	if printed {
		q.Add(`,"ergoTreeConstants":"","ergoTreeScript":""`)
	}
	q.Add(`,"address":"`, q.v.Address(b.Tx, b.Pos), `","assets":`)
	q.addAssets(box, tokens)
	q.Add(`,"additionalRegisters":{`)
	for n, raw := range box.Additional() {
		q.Comma(n - sigma.FirstRegister)
		q.Add(`"R`, strconv.Itoa(n), `":{"serializedValue":`)
		q.Hex(raw)
		kind, text, ok := register(raw)
		q.Add(`,"sigmaType":`)
		q.textOr(kind, ok)
		q.Add(`,"renderedValue":`)
		q.textOr(text, ok)
		q.Add("}")
	}
	q.Add("}")
}

// addAssets writes the tokens of a box.
func (q *request) addAssets(box *sigma.Box, tokens map[sigma.ID]*boxes.Token) {
	q.Add("[")
	for i, t := range box.Tokens {
		q.Comma(i)
		q.Add(`{"tokenId":`)
		q.ID(t.ID)
		q.Add(`,"index":`)
		q.Int(i)
		q.Add(`,"amount":`)
		q.Uint(t.Amount)
		q.addKind(tokens[t.ID])
		q.Add("}")
	}
	q.Add("]")
}

// addKind writes name, decimals and type of a token in a box, null where it states none.
func (q *request) addKind(t *boxes.Token) {
	if t == nil || t.Explorer == nil {
		q.Add(`,"name":null,"decimals":null,"type":null`)
		return
	}
	q.Add(`,"name":`)
	q.Text(t.Explorer.Name)
	q.Add(`,"decimals":`)
	q.Int(t.Explorer.Decimals)
	q.Add(`,"type":"EIP-004"`)
}

// textOr writes a text, null if ok is false.
func (q *request) textOr(text string, ok bool) {
	if !ok {
		q.Add("null")
		return
	}
	q.Text(text)
}

// addInput writes an InputInfo, in the form of unconfirmed transactions a UInputInfo, or a DataInputInfo if t is nil.
func (q *request) addInput(b *boxes.Box, t *boxes.Tx, i int, tokens map[sigma.ID]*boxes.Token, f form) error {
	q.Add(`{"boxId":`)
	q.ID(b.ID())
	q.Add(`,"value":`)
	q.Uint(b.Box().Value)
	q.Add(`,"index":`)
	q.Int(i)
	if t != nil {
		q.Add(`,"spendingProof":`)
		q.addProof(t.Inputs[i].Proof)
	}
	id, err := q.v.HeaderOf(b)
	if err != nil {
		return err
	}
	if b.Unconfirmed {
		q.Add(`,"outputBlockId":null`)
	} else {
		q.Add(`,"outputBlockId":`)
		q.Hex(id[:])
	}
	q.Add(`,"outputTransactionId":`)
	q.Hex(b.Tx.ID[:])
	q.Add(`,"outputIndex":`)
	q.Int(b.Pos)
	whole := t != nil && f == confirmedForm
	if whole {
		n, err := q.v.BoxNumber(b.Pk)
		if err != nil {
			return err
		}
		q.Add(`,"outputGlobalIndex":`)
		q.Uint(n)
		q.Add(`,"outputCreatedAt":`)
		q.Uint(uint64(b.Box().Height))
		q.Add(`,"outputSettledAt":`)
		q.Int(b.Height())
	}
	q.addContents(b, tokens, whole)
	q.Add("}")
	return nil
}

// addProof writes the bytes of a proof, null if there are none.
func (q *request) addProof(proof []byte) {
	if len(proof) == 0 {
		q.Add("null")
		return
	}
	q.Hex(proof)
}

// addHoldings writes a Balance.
func (q *request) addHoldings(nanoErgs uint64, ids []sigma.ID, amounts []uint64) error {
	tokens, err := q.v.TokensOf(ids)
	if err != nil {
		return err
	}
	q.Add(`{"nanoErgs":`)
	q.Uint(nanoErgs)
	q.Add(`,"tokens":[`)
	for i, id := range ids {
		q.Comma(i)
		t := tokens[id]
		q.Add(`{"tokenId":`)
		q.ID(id)
		q.Add(`,"amount":`)
		q.Uint(amounts[i])
		if t == nil || t.Explorer == nil {
			q.Add(`,"decimals":0,"name":null,"tokenType":null}`)
			continue
		}
		q.Add(`,"decimals":`)
		q.Int(t.Explorer.Decimals)
		q.Add(`,"name":`)
		q.Text(t.Explorer.Name)
		q.Add(`,"tokenType":"EIP-004"}`)
	}
	q.Add("]}")
	return nil
}
