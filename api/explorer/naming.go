package explorer

import (
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// naming knows what assets are called and in what people count them: for those of one page, as far as it may read.
type naming struct {
	v     *visit
	known map[string]*query.AssetAnswer
}

func (v *visit) naming() *naming { return &naming{v, map[string]*query.AssetAnswer{}} }

// entry is some of an asset, made for reading. Beyond the first [assetNames] assets it is the plain number.
func (n *naming) entry(id, amount string) (assetAmount, error) {
	a, ok := n.known[id]
	if !ok && len(n.known) < assetNames {
		var err error
		if a, err = n.v.Asset(n.v.ctx, id); err != nil {
			if kind, _ := model.KindOf(err); kind != model.NotFound {
				return assetAmount{}, err
			}
			a = nil
		}
		n.known[id] = a
	}
	e := assetAmount{link: n.v.assetLink(id)}
	var u humanize.Unit
	if a != nil {
		e.Name, u = n.v.assetName(a), assetUnit(a)
	}
	e.Amount = amountOf(u, amount)
	return e, nil
}

// mostDecimals is the most places behind the point that anybody is believed: a maker can say any number.
const mostDecimals = 38

// assetUnit is what people count an asset in.
func assetUnit(a *query.AssetAnswer) (u humanize.Unit) {
	if a.Decimals != nil && *a.Decimals > 0 && *a.Decimals <= mostDecimals {
		u.Decimals = *a.Decimals
	}
	return u
}
