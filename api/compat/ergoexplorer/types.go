package ergoexplorer

import (
	"encoding/json"

	"birthmark/api/compat/boxes"
	"birthmark/api/jsonappend"
	"birthmark/chains/ergo/sigma"
)

// The members of answers are in the order of the explorer. Comments have the names of its types.

// optional is a member that some forms of a type lack, and others have, as null without a value.
type optional[T any] struct {
	there bool
	value *T
}

// AppendJSON implements [jsonappend.Value].
func (o *optional[T]) AppendJSON(b []byte) []byte { return jsonappend.Append(b, o.value) }

// eip4 is the type of a token with a description (EIP-4).
var eip4, empty = "EIP-004", ""

// kindValue describes a token; null if it has no description.
type kindValue struct {
	Name     *string `json:"name"`
	Decimals *int    `json:"decimals"`
	Type     *string `json:"type"`
}

func kindOf(t *boxes.Token) kindValue {
	if t == nil || t.Explorer == nil {
		return kindValue{}
	}
	return kindValue{&t.Explorer.Name, &t.Explorer.Decimals, &eip4}
}

// tokenValue is a TokenInfo.
type tokenValue struct {
	ID          boxes.ID `json:"id"`
	Box         boxes.ID `json:"boxId"`
	Amount      uint64   `json:"emissionAmount"`
	Name        *string  `json:"name"`
	Description *string  `json:"description"`
	Type        *string  `json:"type"`
	Decimals    *int     `json:"decimals"`
}

func tokenOf(t *boxes.Token) *tokenValue {
	kind := kindOf(t)
	v := &tokenValue{ID: boxes.ID(t.ID), Box: boxes.ID(t.Box), Amount: t.InFirst, Name: kind.Name, Type: kind.Type, Decimals: kind.Decimals}
	if t.Explorer != nil {
		v.Description = &t.Explorer.Description
	}
	return v
}

// mintedValue is the entry of a token in the box that mints it.
type mintedValue struct {
	ID     boxes.ID `json:"tokenId"`
	Box    boxes.ID `json:"boxId"`
	Header boxes.ID `json:"headerId"`
	Index  int      `json:"index"`
	Amount uint64   `json:"amount"`
	kindValue
}

// balanceValue is a Balance.
type balanceValue struct {
	NanoErgs uint64      `json:"nanoErgs"`
	Tokens   []heldValue `json:"tokens"`
}

type heldValue struct {
	ID       boxes.ID `json:"tokenId"`
	Amount   uint64   `json:"amount"`
	Decimals int      `json:"decimals"`
	Name     *string  `json:"name"`
	Type     *string  `json:"tokenType"`
}

func (v *view) balanceOf(nanoErgs uint64, held []sigma.Token) (*balanceValue, error) {
	tokens, err := v.TokensHeld(held)
	if err != nil {
		return nil, err
	}
	to := &balanceValue{nanoErgs, make([]heldValue, len(held))}
	for i, x := range held {
		kind := kindOf(tokens[x.ID])
		to.Tokens[i] = heldValue{ID: boxes.ID(x.ID), Amount: x.Amount, Name: kind.Name, Type: kind.Type}
		if kind.Decimals != nil {
			to.Tokens[i].Decimals = *kind.Decimals
		}
	}
	return to, nil
}

// totalValue is a TotalBalance.
type totalValue struct {
	Confirmed   *balanceValue `json:"confirmed"`
	Unconfirmed *balanceValue `json:"unconfirmed"`
}

// addressValue is an AddressInfo.
type addressValue struct {
	Address   string        `json:"address"`
	Pending   bool          `json:"hasUnconfirmedTxs"`
	Used      bool          `json:"used"`
	Confirmed *balanceValue `json:"confirmedBalance"`
}

// stateValue is a NetworkState.
type stateValue struct {
	Height    int         `json:"height"`
	LastBlock string      `json:"lastBlockId"` // empty before the first block
	MaxBox    int64       `json:"maxBoxGix"`
	MaxTx     int64       `json:"maxTxGix"`
	Params    *parameters `json:"params"`
}

type statsValue struct {
	Addresses uint64 `json:"uniqueAddressesNum"`
}

// chainValue is a BlockChainInfo.
type chainValue struct {
	HashRate json.Number `json:"hashRate"`
	Supply   uint64      `json:"supply"`
	Txs      int         `json:"transactionAverage"`
	Version  string      `json:"version"`
}

type submittedValue struct {
	ID boxes.ID `json:"id"`
}
