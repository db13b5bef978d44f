package ergoexplorer

import (
	"encoding/hex"
	"strings"

	"birthmark/api/compat/boxes"
	"birthmark/model"
)

// listTokens returns a window of the tokens that keep accepts, in the order of minting.
func listTokens(r *request, keep func(*boxes.Token) bool) answer {
	p := pageOf(r, maxItems)
	if boxes.Flag(r, "hideNfts") {
		before := keep
		keep = func(t *boxes.Token) bool { return t.InFirst > 1 && (before == nil || before(t)) }
	}
	return func(v *view) (any, error) {
		page, total, err := v.TokenList(!p.ascending, keep, p.offset, p.limit)
		return paged(v, valuesOf(page, func(t *boxes.Token) (*tokenValue, error) { return tokenOf(t), nil }), total), err
	}
}

func tokens(r *request) answer { return listTokens(r, nil) }

func tokensNamed(r *request) answer {
	name, _ := r.Arg("name")
	return listTokens(r, func(t *boxes.Token) bool { return t.Explorer != nil && t.Explorer.Name == name })
}

// Shortest texts of searches.
const (
	leastName = 3
	leastID   = 5
)

// searched returns the text of a search in lower case.
func searched(r *request, least int) string {
	text := r.Param("query")
	if len(text) < least {
		r.Refuse(bad("query: expected at least %d characters", least))
	}
	return strings.ToLower(text)
}

func searchTokens(r *request) answer {
	text := searched(r, leastName)
	id, isID := boxes.ParseID(text)
	return listTokens(r, func(t *boxes.Token) bool {
		return t.Explorer != nil && strings.Contains(strings.ToLower(t.Explorer.Name), text) || isID && t.ID == id
	})
}

func token(r *request) answer {
	id := idArg(r, "id")
	return func(v *view) (any, error) {
		t, err := v.TokenOf(id)
		if err == nil && t == nil {
			err = absent("token %x", id)
		}
		if err != nil {
			return nil, err
		}
		return tokenOf(t), nil
	}
}

// listAssets lists the entries of tokens in the boxes that mint them.
func listAssets(r *request, keep func(*boxes.Token) bool) answer {
	p := pageOf(r, maxItems)
	return func(v *view) (any, error) {
		page, total, err := v.TokenList(!p.ascending, keep, p.offset, p.limit)
		return paged(v, valuesOf(page, v.mintedOf), total), err
	}
}

func (v *view) mintedOf(t *boxes.Token) (*mintedValue, error) {
	pk, _, err := v.BoxOf(t.Box)
	if err != nil {
		return nil, err
	}
	minting, err := v.UnspentBoxes([]model.UtxoPk{pk})
	if err != nil {
		return nil, err
	}
	b := &minting[0]
	to := &mintedValue{ID: boxes.ID(t.ID), Box: boxes.ID(t.Box), Header: boxes.ID(b.Block.ID), kindValue: kindOf(t)}
	for i, entry := range b.Box().Tokens {
		if entry.ID == t.ID {
			to.Index, to.Amount = i, entry.Amount
			break
		}
	}
	return to, nil
}

func assets(r *request) answer { return listAssets(r, nil) }

func searchAssets(r *request) answer {
	text := searched(r, leastID)
	return listAssets(r, func(t *boxes.Token) bool { return strings.Contains(hex.EncodeToString(t.ID[:]), text) })
}
