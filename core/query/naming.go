package query

import (
	"fmt"
	"strings"

	"birthmark/model"
)

// OutputRef returns the text of a reference to an output: TXHASH:N.
func OutputRef(tx string, index int) string { return fmt.Sprintf("%s:%d", tx, index) }

// AssetName returns the name that the issuer gave an asset, or the one in its id; empty if there is none.
func AssetName(chain model.Chain, a *AssetAnswer) string {
	if a.Name != "" {
		return a.Name
	}
	return NameInID(chain, a.Asset).Name
}

// maxDecimals is the maximum number of decimals that are shown; an issuer can state any number.
const maxDecimals = 38

// ShownDecimals returns the decimals of displayed amounts of an asset: 0 if they are unknown or more than 38.
func (a *AssetAnswer) ShownDecimals() int {
	if a.Decimals == nil || *a.Decimals < 0 || *a.Decimals > maxDecimals {
		return 0
	}
	return *a.Decimals
}

// NameInID returns the name and the group in the id of an asset, on chains whose ids contain them.
func NameInID(chain model.Chain, id string) model.AssetName {
	namer, ok := chain.(model.AssetNamer)
	if !ok {
		return model.AssetName{}
	}
	b, err := chain.ParseAsset(id)
	if err != nil {
		return model.AssetName{}
	}
	return namer.AssetName(b)
}

// nameAssets adds the parts of the ids of assets to outputs, on chains whose assets have a fingerprint.
func (q *Query) nameAssets(outputs []OutputAnswer) {
	if q.Traits.Fingerprint == nil {
		return
	}
	known := map[string]*AssetParts{}
	for i := range outputs {
		for n := range outputs[i].Assets {
			e := &outputs[i].Assets[n]
			if known[e.Asset] == nil {
				known[e.Asset] = assetParts(q.Chain, e.Asset)
			}
			e.AssetParts = known[e.Asset]
		}
	}
}

// nameMints does the same for mints.
func (q *Query) nameMints(mints []MintAnswer) {
	for i := range mints {
		if q.Traits.Fingerprint != nil {
			mints[i].AssetParts = assetParts(q.Chain, mints[i].Asset)
		}
	}
}

// assetParts returns the parts of the id of an asset; nil if it has no group.
func assetParts(chain model.Chain, id string) *AssetParts {
	b, err := chain.ParseAsset(id)
	in := NameInID(chain, id)
	name, ok := strings.CutPrefix(id, in.Group)
	if err != nil || in.Group == "" || !ok {
		return nil
	}
	fp := chain.Traits().Fingerprint
	var text *string
	if in.Name != "" {
		text = &in.Name
	}
	return &AssetParts{Policy: in.Group, Name: &name, NameText: &text, Fingerprint: fp.Format(fp.Of(b, nil))}
}

// cutRef splits TXHASH:N, or TXHASH#N as Cardano's tools write it.
func cutRef(ref string) (hash, n string, ok bool) {
	return strings.Cut(strings.Replace(ref, "#", ":", 1), ":")
}
