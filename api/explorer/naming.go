package explorer

import (
	"birthmark/core/query"
	"birthmark/internal/humanize"
	"birthmark/model"
)

// naming returns the names and units of the assets of a page, up to a limit of reads.
type naming struct {
	v     *visit
	known map[string]*query.AssetAnswer
	most  int // assets of an output
	room  int // characters of the assets of all outputs, with their markup
}

func (v *visit) naming() *naming {
	return &naming{v, map[string]*query.AssetAnswer{}, rowAssets, rowAssetsRoom}
}

// entry formats an amount of an asset. After the first [assetNames] assets it has no name and no decimals.
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
	e := assetAmount{link: n.v.AssetLink(id)}
	var u humanize.Unit
	if a == nil {
		a = n.unconfirmed(id)
		if a != nil {
			e.link = n.v.TxLink(id)
		}
	}
	if a != nil {
		e.Name, u = n.v.AssetName(a), assetUnit(a)
	}
	e.Amount = amountOf(u, amount)
	return e, nil
}

// assetMarkup is the number of characters of markup of an asset in a list.
const assetMarkup = 130

// unconfirmed returns an asset whose id is the hash of the unconfirmed transaction that creates it; nil: it creates none.
func (n *naming) unconfirmed(id string) *query.AssetAnswer {
	hash, err := n.v.chain.Model.ParseHash(id)
	describer, ok := n.v.chain.Model.(model.AssetDescriber)
	if err != nil || !ok || n.v.overlay == nil {
		return nil
	}
	t := n.v.overlay.Tx(hash)
	if t == nil {
		return nil
	}
	for _, c := range t.Created {
		if n.v.chain.Model.FormatAsset(c.ID) == id {
			d := describer.DescribeAsset(c.Info)
			return &query.AssetAnswer{Asset: id, Name: d.Name, Decimals: d.Decimals}
		}
	}
	return nil
}

// maxDecimals is the maximum of decimals that an issuer can declare.
const maxDecimals = 38

func assetUnit(a *query.AssetAnswer) (u humanize.Unit) {
	if a.Decimals != nil && *a.Decimals > 0 && *a.Decimals <= maxDecimals {
		u.Decimals = *a.Decimals
	}
	return u
}
