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

// NameInID returns what the id of an asset contains, on chains whose ids have a name or a group.
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

// cutRef splits TXHASH:N, or TXHASH#N as Cardano's tools write it.
func cutRef(ref string) (hash, n string, ok bool) {
	return strings.Cut(strings.Replace(ref, "#", ":", 1), ":")
}
