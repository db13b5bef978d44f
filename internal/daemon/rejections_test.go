package daemon

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"birthmark/api/compat/blockbook"
	"birthmark/api/compat/blockfrost"
	"birthmark/api/compat/boxes"
	"birthmark/api/compat/ergoexplorer"
	"birthmark/api/compat/ergographql"
	"birthmark/api/compat/ergonode"
	"birthmark/api/compat/esplora"
	"birthmark/api/compat/kupo"
	"birthmark/api/compat/ogmios"
	"birthmark/api/compat/onesat"
	"birthmark/api/compat/ord"
	"birthmark/api/compat/submitapi"
	"birthmark/api/compat/wallet"
	"birthmark/api/exchange"
	"birthmark/api/problem"
	"birthmark/api/served"
	"birthmark/chains"
	"birthmark/chains/bitcoin/runes"
	tokens "birthmark/chains/bitcoinsv/onesat"
	"birthmark/model"
)

// ogmiosNode is a node that Ogmios could use.
type ogmiosNode struct {
	model.Source
	ogmios.Node
}

// A request that the server rejects before its handler, such as one above the rate, gets the error in the form of the
// protocol of its path.
func TestRejectionsHaveTheFormOfTheProtocol(t *testing.T) {
	chain := func(name string) *served.Chain {
		c, err := chains.New(name, "")
		if err != nil {
			t.Fatal(err)
		}
		return &served.Chain{Name: name, Model: c, Node: ogmiosNode{}}
	}
	bitcoin, cardano, ergo := wallet.New(chain("bitcoin")), chain("cardano"), &boxes.Chain{Chain: chain("ergo")}
	trezor, err := blockbook.New(blockbook.Options{Chain: bitcoin, Prefix: "/blockbook"})
	if err != nil {
		t.Fatal(err)
	}
	runesOf, err := ord.New(ord.Options{Chain: bitcoin, Rules: runes.RulesOf(0, false)})
	if err != nil {
		t.Fatal(err)
	}
	stack, err := onesat.New(onesat.Options{Chain: bitcoin, Rules: tokens.Rules{}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		setting string
		handler http.Handler
		want    string
	}{
		{"esplora", esplora.New(esplora.Options{Chain: bitcoin}), "slow down"},
		{"ord", runesOf, "slow down"},
		{"onesat", stack, "slow down"},
		{"blockbook", trezor, `{"error":"slow down"}` + "\n"},
		{"kupo", kupo.New(kupo.Options{Chain: cardano}), `{"hint":"slow down"}`},
		{"blockfrost", blockfrost.New(blockfrost.Options{Chain: cardano}),
			`{"status_code":429,"error":"Too Many Requests","message":"slow down"}`},
		{"submit_api", submitapi.New(submitapi.Options{Chain: cardano}),
			`{"tag":"TxSubmitFail","contents":{"tag":"TxCmdTxSubmitConnectionError","contents":"slow down"}}`},
		{"ogmios", ogmios.New(ogmios.Options{Chain: cardano}), `{"jsonrpc":"2.0","error":{"code":-32000,"message":"slow down"}}`},
		{"ergo_node", ergonode.New(ergonode.Options{Chain: ergo}), `{"error":429,"reason":"rate-exceeded","detail":"slow down"}`},
		{"ergo_explorer", ergoexplorer.New(ergoexplorer.Options{Chain: ergo}), `{"status":429,"reason":"slow down"}`},
		{"ergo_graphql", ergographql.New(ergographql.Options{Chain: ergo}), `{"errors":[{"message":"slow down"}]}`},
	} {
		w := httptest.NewRecorder()
		c.handler.(exchange.ProblemWriter).WriteProblem(w, problem.New(http.StatusTooManyRequests, "rate_exceeded", "slow down"))
		if w.Code != http.StatusTooManyRequests || w.Body.String() != c.want {
			t.Errorf("%s: %d %q, expected %q", c.setting, w.Code, w.Body, c.want)
		}
	}
}
