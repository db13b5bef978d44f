package blockfrost

import (
	"encoding/json"

	"birthmark/api/compat/blockfrost/contents"
	"birthmark/api/compat/blockfrost/exchange"
)

// extendedAmount is an amount and the properties of its asset that are on the chain.
type extendedAmount struct {
	amount
	Decimals    *int64 `json:"decimals"` // null: unknown; registries outside of the chain are not read
	HasMetadata bool   `json:"has_nft_onchain_metadata"`
}

// adaDecimals are the decimal places of lovelace in ada.
const adaDecimals = 6

// manyAssets is the number of assets whose metadata makes a request expensive.
const manyAssets = 100

// addressExtended answers an address with the decimal places of its assets by CIP-68, and whether they have metadata on
// the chain.
func addressExtended(q *request) error {
	h, err := q.holder()
	if err != nil {
		return err
	}
	amounts, err := q.balance(h)
	if err != nil {
		return err
	}
	if len(amounts) > manyAssets {
		if err := q.Expensive(); err != nil {
			return err
		}
	}
	all := make([]extendedAmount, len(amounts))
	for i, a := range amounts {
		if all[i].amount = a; a.Unit == lovelace {
			n := int64(adaDecimals)
			all[i].Decimals = &n
			continue
		}
		o, err := q.describeUnit(a.Unit)
		if err != nil {
			return err
		}
		all[i].Decimals, all[i].HasMetadata = decimalsOf(o), o.Metadata != nil
	}
	k := q.kindOf(h)
	q.Answer = addressJSON[extendedAmount]{h.text, all, k.Stake, k.Type, k.Script}
	return nil
}

// describeUnit returns the metadata of an asset that exists.
func (q *request) describeUnit(unit string) (contents.Onchain, error) {
	if err := q.Ctx.Err(); err != nil {
		return contents.Onchain{}, err
	}
	id, birth, err := q.Q.Asset(unit)
	if err != nil {
		return contents.Onchain{}, exchange.OrNotFound(err)
	}
	return q.describe(id, birth)
}

// decimalsOf returns the decimal places in the metadata of a reference token (CIP-68); nil without such metadata.
func decimalsOf(o contents.Onchain) *int64 {
	m, ok := o.Metadata.(map[string]any)
	n, isNumber := m["decimals"].(json.Number)
	if !ok || !isNumber || !o.Reference {
		return nil
	}
	places, err := n.Int64()
	if err != nil {
		return nil
	}
	return &places
}
