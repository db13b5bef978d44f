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
	kind, text, ok := register(raw)
	if !ok {
		return registerValue{Serialized: raw}
	}
	return registerValue{raw, &kind, &text}
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

func (v *view) contentsOf(b *boxes.Box, tokens tokenMap, printed bool) contentsValue {
	box := b.Box()
	c := contentsValue{
		Tree: box.Tree, Address: v.Address(b.Tx, b.Pos), Assets: assetsOf(box, tokens), Registers: boxes.RegistersOf(box, registerOf),
	}
	if printed {
		c.Constants, c.Script = &empty, &empty
	}
	return c
}

func (v *view) boxOf(b *boxes.Box, tokens tokenMap, f form) (*boxValue, error) {
	to := new(boxValue)
	return to, v.setBox(to, b, tokens, f)
}

func (v *view) setBox(to *boxValue, b *boxes.Box, tokens tokenMap, f form) error {
	*to = boxValue{
		ID: boxes.ID(b.ID()), Tx: boxes.ID(b.Tx.ID), Value: b.Box().Value, Index: b.Pos, Created: b.Box().Height,
		contentsValue: v.contentsOf(b, tokens, f == confirmedForm || f == anyForm),
	}
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
	main := !b.Unconfirmed
	if main || f == mergedForm {
		to.Main.value = &main
	}
	if !main {
		return nil
	}
	place, err := v.placeOf(b)
	block.value, to.Number.value, to.Height.value = &place.block, &place.number, &place.height
	return err
}

// place is where a box of the chain is.
type place struct {
	block  boxes.ID
	number uint64
	height int
}

func (v *view) placeOf(b *boxes.Box) (*place, error) {
	block, err := v.HeaderOf(b)
	if err != nil {
		return nil, err
	}
	n, err := v.BoxNumber(b.Pk)
	return &place{boxes.ID(block), n, b.Height()}, err
}

// boxes yields boxes in a form.
func (v *view) boxes(batches iter.Seq2[[]boxes.Box, error], f form) iter.Seq2[*boxValue, error] {
	return func(yield func(*boxValue, error) bool) {
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
				if b, err := v.boxOf(&batch[i], tokens, f); !yield(b, err) || err != nil {
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
