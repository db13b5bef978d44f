package ergoexplorer

import (
	"net/http"
	"strings"

	"birthmark/api/compat/boxes"
)

var tokenEndpoints = []endpoint{
	{http.MethodGet, "tokens", tokens, false},
	{http.MethodGet, "tokens/search", searchTokens, false},
	{http.MethodGet, "tokens/bySymbol/*", tokensNamed, false},
	{http.MethodGet, "tokens/check/*/*", unsupported(handKept), false},
	{http.MethodGet, "tokens/listGenuine", unsupported(handKept), false},
	{http.MethodGet, "tokens/listBlocked", unsupported(handKept), false},
	{http.MethodGet, "tokens/*", token, false},
	{http.MethodGet, "assets", assets, false},
	{http.MethodGet, "assets/search/byTokenId", searchAssets, false},
}

const handKept = "the list of genuine tokens (EIP-21) is kept by hand and not part of the chain"

// listTokens writes a window of the tokens that keep accepts, in the order of minting.
func (q *request) listTokens(keep func(*boxes.Token) bool) error {
	p, err := q.page(maxItems)
	if err != nil {
		return err
	}
	hide, err := q.Flag("hideNfts")
	if err != nil {
		return err
	}
	if hide {
		before := keep
		keep = func(t *boxes.Token) bool { return t.InFirst > 1 && (before == nil || before(t)) }
	}
	page, total, err := q.v.TokenList(!p.ascending, keep, p.offset, p.limit)
	if err != nil {
		return err
	}
	return q.paged(total, func() error {
		for i, t := range page {
			q.Comma(i)
			q.addToken(t)
		}
		return nil
	})
}

func tokens(q *request, _ []string) error { return q.listTokens(nil) }

func tokensNamed(q *request, args []string) error {
	return q.listTokens(func(t *boxes.Token) bool { return t.Explorer != nil && t.Explorer.Name == args[0] })
}

// Shortest texts of searches.
const (
	leastName = 3
	leastID   = 5
)

func searchTokens(q *request, _ []string) error {
	text := q.Query["query"]
	if len(text) < leastName {
		return bad("query: expected at least %d characters", leastName)
	}
	lower := strings.ToLower(text)
	id, isID := boxes.ParseID(lower)
	return q.listTokens(func(t *boxes.Token) bool {
		return t.Explorer != nil && strings.Contains(strings.ToLower(t.Explorer.Name), lower) || isID && t.ID == id
	})
}

func token(q *request, args []string) error {
	id, err := parseID(args[0])
	if err != nil {
		return err
	}
	t, err := q.v.TokenOf(id)
	if err != nil {
		return err
	}
	if t == nil {
		return absent("token %s", args[0])
	}
	q.addToken(t)
	return nil
}

// addToken writes a TokenInfo.
func (q *request) addToken(t *boxes.Token) {
	q.Add(`{"id":`)
	q.ID(t.ID)
	q.Add(`,"boxId":`)
	q.ID(t.Box)
	q.Add(`,"emissionAmount":`)
	q.Uint(t.InFirst)
	if t.Explorer == nil {
		q.Add(`,"name":null,"description":null,"type":null,"decimals":null}`)
		return
	}
	q.Add(`,"name":`)
	q.Text(t.Explorer.Name)
	q.Add(`,"description":`)
	q.Text(t.Explorer.Description)
	q.Add(`,"type":"EIP-004","decimals":`)
	q.Int(t.Explorer.Decimals)
	q.Add("}")
}

// assets lists the tokens in the boxes that mint them.
func assets(q *request, _ []string) error { return q.listAssets(nil) }

func searchAssets(q *request, _ []string) error {
	text := strings.ToLower(q.Query["query"])
	if len(text) < leastID {
		return bad("query: expected at least %d characters", leastID)
	}
	return q.listAssets(func(t *boxes.Token) bool { return strings.Contains(idText(t), text) })
}
