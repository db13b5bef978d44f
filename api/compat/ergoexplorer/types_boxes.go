package ergoexplorer

import (
	"iter"

	"birthmark/api/compat/boxes"
	"birthmark/api/jsonappend"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// form is a form of boxes.
type form uint8

const (
	confirmedForm form = iota // OutputInfo
	pendingForm               // UOutputInfo: without the members of the block
	mergedForm                // MOutputInfo: these are null for an unconfirmed box
	anyForm                   // AnyOutputInfo: so they are
)

// boxValue is a box in any form.
type boxValue struct {
	ID      boxes.ID           `json:"boxId"`
	Tx      boxes.ID           `json:"transactionId"`
	Block   optional[boxes.ID] `json:"blockId,omitzero"`
	Header  optional[boxes.ID] `json:"headerId,omitzero"` // its name in AnyOutputInfo
	Value   uint64             `json:"value"`
	Index   int                `json:"index"`
	Number  optional[uint64]   `json:"globalIndex,omitzero"`
	Created uint32             `json:"creationHeight"`
	Height  optional[int]      `json:"settlementHeight,omitzero"`
	contentsValue
	SpentBy *boxes.ID      `json:"spentTransactionId"`
	Main    optional[bool] `json:"mainChain,omitzero"`
}

// contentsValue are the script, the tokens and the registers of a box.
type contentsValue struct {
	Tree      jsonappend.Hex                   `json:"ergoTree"`
	Constants *string                          `json:"ergoTreeConstants,omitempty"` // empty, or absent
	Script    *string                          `json:"ergoTreeScript,omitempty"`    // empty, or absent
	Address   string                           `json:"address"`
	Assets    []assetValue                     `json:"assets"`
	Registers jsonappend.Object[registerValue] `json:"additionalRegisters"`
}

type assetValue struct {
	ID     boxes.ID `json:"tokenId"`
	Index  int      `json:"index"`
	Amount uint64   `json:"amount"`
	kindValue
}

type registerValue struct {
	Serialized jsonappend.Hex `json:"serializedValue"`
	Type       *string        `json:"sigmaType"`
	Rendered   *string        `json:"renderedValue"`
}

func registerOf(raw []byte) registerValue {
	v := registerValue{Serialized: raw}
	if kind, text, ok := register(raw); ok {
		read := &[2]string{kind, text}
		v.Type, v.Rendered = &read[0], &read[1]
	}
	return v
}

// tokenMap has the tokens in boxes.
type tokenMap map[sigma.ID]*boxes.Token

func assetsOf(b *sigma.Box, tokens tokenMap) []assetValue {
	all := make([]assetValue, len(b.Tokens))
	for i, t := range b.Tokens {
		all[i] = assetValue{boxes.ID(t.ID), i, t.Amount, kindOf(tokens[t.ID])}
	}
	return all
}

func (v *view) setContents(c *contentsValue, b *boxes.Box, tokens tokenMap, printed bool) {
	box := b.Box()
	c.Tree, c.Address, c.Assets = box.Tree, v.Address(b.Tx, b.Pos), assetsOf(box, tokens)
	c.Registers = boxes.RegistersOf(box, registerOf)
	if printed {
		c.Constants, c.Script = &empty, &empty
	}
}

func (v *view) boxOf(b *boxes.Box, tokens tokenMap, f form) (*boxValue, error) {
	to := new(boxValue)
	return to, v.setBox(to, b, tokens, f)
}

func (v *view) setBox(to *boxValue, b *boxes.Box, tokens tokenMap, f form) error {
	to.ID, to.Tx, to.Value, to.Index, to.Created = boxes.ID(b.ID()), boxes.ID(b.Tx.ID), b.Box().Value, b.Pos, b.Box().Height
	v.setContents(&to.contentsValue, b, tokens, f == confirmedForm || f == anyForm)
	if b.Spend != nil {
		to.SpentBy = (*boxes.ID)(&b.Spend.Tx.ID)
	}
	if f == pendingForm {
		return nil
	}
	block := &to.Block
	if f == anyForm {
		block = &to.Header
	}
	block.there, to.Number.there, to.Height.there, to.Main.there = true, true, true, true
	if b.Unconfirmed {
		if f == mergedForm {
			to.Main.value = new(bool)
		}
		return nil
	}
	var err error
	if block.value, err = v.headerOf(b); err != nil {
		return err
	}
	at := place{height: b.Height(), main: true}
	at.number, err = v.BoxNumber(b.Pk)
	to.Number.value, to.Height.value, to.Main.value = &at.number, &at.height, &at.main
	return err
}

// place is where a box of the chain is.
type place struct {
	number uint64
	height int
	main   bool
}

// headerOf returns the block of a box of the chain.
func (v *view) headerOf(b *boxes.Box) (*boxes.ID, error) {
	if b.Block != nil {
		return (*boxes.ID)(&b.Block.ID), nil
	}
	id, err := v.HeaderOf(b)
	return (*boxes.ID)(&id), err
}

// boxes yields boxes in a form. Each value is valid until the next one.
func (v *view) boxes(batches iter.Seq2[[]boxes.Box, error], f form) iter.Seq2[*boxValue, error] {
	return func(yield func(*boxValue, error) bool) {
		to := new(boxValue)
		for batch, err := range batches {
			var tokens tokenMap
			if err == nil {
				tokens, err = v.tokensIn(batch)
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for i := range batch {
				*to = boxValue{}
				if err := v.setBox(to, &batch[i], tokens, f); !yield(to, err) || err != nil {
					return
				}
			}
		}
	}
}

// confirmed yields boxes of the chain.
func (v *view) confirmed(pks []model.UtxoPk, of kind) iter.Seq2[*boxValue, error] {
	return v.boxes(v.BoxBatches(pks, of == unspentBoxes), confirmedForm)
}

// tokensIn returns the tokens in boxes.
func (v *view) tokensIn(lists ...[]boxes.Box) (tokenMap, error) {
	var ids []sigma.ID
	seen := map[sigma.ID]bool{}
	for _, all := range lists {
		for i := range all {
			if all[i].Tx == nil {
				continue // an input whose box is unknown
			}
			for _, t := range all[i].Box().Tokens {
				if !seen[t.ID] {
					seen[t.ID] = true
					ids = append(ids, t.ID)
				}
			}
		}
	}
	return v.TokensOf(ids)
}
