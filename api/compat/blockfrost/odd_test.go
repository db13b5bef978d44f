package blockfrost_test

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"birthmark/api/compat/kupo"
	"birthmark/api/served"
	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/ledger"
	"birthmark/core/query"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/model"
)

// odd are parts of transactions that the decoder accepts, though they are rare, wrong or of a later era.
func odd(t *testing.T) map[string]whole {
	account, key := append([]byte{0xe1}, cardanotest.Filled(28, 1)...), cardanotest.Filled(28, 2) // an account of mainnet
	output := func(more dict) list {
		o := dict{0: append([]byte{0x60}, cardanotest.Filled(28, 9)...), 1: 1_000_000}
		for k, v := range more {
			o[k] = v
		}
		return list{o}
	}
	script := func(language int, code any) dict {
		return dict{3: cardanotest.Tagged(24, []byte(cardanotest.Raw(t, list{language, code})))}
	}
	linked := encoded(strings.Repeat("d8798201", 1000) + "80")
	datum := dict{2: list{1, cardanotest.Tagged(24, []byte(linked))}}
	unknown := list{list{cardanotest.Filled(32, 0xee), 3}}
	pool := list{3, key, cardanotest.Filled(32, 1), 1, 2, cardanotest.Tagged(30, list{1, 2}), account, list{key, key}, list{}, nil}
	anchor := list{"https://example.org", cardanotest.Filled(32, 9)}
	treasury := list{1, account, list{2, cardanotest.Endless(t, 0xbf, account, 5), nil}, anchor}
	return map[string]whole{
		"unknown collateral":        {body: dict{13: unknown}},
		"unknown reference":         {body: dict{18: unknown}},
		"collateral return":         {body: dict{13: unknown, 16: output(script(4, []byte("x")))[0]}},
		"script of Plutus V4":       {body: dict{1: output(script(4, []byte("four")))}},
		"script of Plutus V200":     {body: dict{1: output(script(200, []byte("later")))}},
		"guards":                    {body: dict{14: list{list{0, key}, list{1, key}}}},
		"linked datum":              {body: dict{1: output(datum)}},
		"deep metadata":             {auxiliary: dict{5: encoded(strings.Repeat("81", 1000) + "00")}},
		"large label":               {auxiliary: dict{uint64(1<<64 - 1): "x", uint64(1 << 63): -5}},
		"long number":               {auxiliary: dict{6: encoded("3bffffffffffffffff")}},
		"deep timelock":             {body: dict{1: output(script(0, encoded(strings.Repeat("820181", 500)+"8200581c"+hex.EncodeToString(key))))}},
		"unknown certificate":       {body: dict{4: list{list{99, 1}, list{2, list{0, key}}}}},
		"account of another tag":    {body: dict{4: list{pool}, 5: cardanotest.Endless(t, 0xbf, account, 5), 20: list{treasury}}},
		"unknown redeemers":         {witnesses: dict{5: list{list{9, 0, 1, list{1, 2}}, list{0, 77, 1, list{1, 2}}, list{6, 0, 1, list{1, 2}}}}},
		"parameter of a later era":  {body: dict{20: list{list{1, account, list{0, nil, dict{39: 1, 3: 5}, nil}, anchor}}}},
		"proposal of a later era":   {body: dict{20: list{list{1, account, list{9}, anchor}}}},
		"witnesses of a later era":  {witnesses: dict{8: list{[]byte("x")}}},
		"body keys of a later era":  {body: dict{24: dict{}, 25: dict{}, 26: dict{}, 27: dict{}, 99: 1}},
		"voter of a later era":      {body: dict{19: cardanotest.Endless(t, 0xbf, list{7, key}, cardanotest.Endless(t, 0xbf, list{cardanotest.Filled(32, 1), 0}, list{1, nil}))}},
		"address with a tail":       {body: dict{1: list{list{append([]byte{0x60}, cardanotest.Filled(60, 9)...), 1_000_000}}}},
		"pointer of any size":       {body: dict{1: list{list{append(append([]byte{0x40}, cardanotest.Filled(28, 9)...), 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f, 1, 2), 1_000_000}}}},
		"auxiliary data of scripts": {auxiliary: cardanotest.Tagged(259, dict{5: list{[]byte("x")}})},
	}
}

// appendOdd appends a block of Conway with a transaction to the database, and returns its hash. The transaction spends the
// first output of the one before it. The test node refuses items that are nested as deep, so it has no part in this.
func (g *growing) appendOdd(tx whole) string {
	g.t.Helper()
	outputs, _ := tx.body[1].(list)
	g.value -= 170_000 + 1_000_000*uint64(len(outputs))
	body := dict{0: list{list{g.spent[:], g.index}}, 2: 170_000}
	for k, v := range tx.body {
		body[k] = v
	}
	body[1] = append(list{list{cardanotest.Address, g.value}}, outputs...)
	witnesses, auxiliary := dict{}, dict{}
	if tx.witnesses != nil {
		witnesses = tx.witnesses
	}
	if tx.auxiliary != nil {
		auxiliary[0] = tx.auxiliary
	}
	tip := g.db.Tip()
	raw := cardanotest.BlockAt(g.t, ledger.EraConway, uint64(tip.Height)+1, 100_000+20*uint64(tip.Height), tip.Hash[:], cardanotest.Raw(g.t, list{body}),
		cardanotest.Raw(g.t, list{witnesses}), cardanotest.Raw(g.t, auxiliary), cardanotest.Raw(g.t, list{}))
	for b, err := range g.db.Chain().Decode(g.t.Context(), bytes.NewReader(raw), g.db.Indexes(), tip.Height+1) {
		if err != nil {
			g.t.Fatal(err)
		}
		b.Txs[0].Raw = cardanotest.Raw(g.t, list{body, witnesses, true, tx.auxiliary})
		if err := g.db.Append(g.t.Context(), []*model.Block{b}); err != nil {
			g.t.Fatal(err)
		}
		g.spent, g.index = b.Txs[0].Hash, 0
	}
	return g.spent.String()
}

// whole are the parts of a transaction that a test adds.
type whole struct {
	body, witnesses dict
	auxiliary       any
}

// encoded is an item in hex.
func encoded(digits string) encodedItem {
	b, err := hex.DecodeString(digits)
	if err != nil {
		panic(err)
	}
	return b
}

type encodedItem []byte

func (e encodedItem) MarshalCBOR() ([]byte, error) { return e, nil }

// Each request about an odd transaction is answered, by the server's own API, Blockfrost's and Kupo's, and no list of other
// transactions fails because of it.
func TestOddTransactionsAreAnswered(t *testing.T) {
	g := grow(t, 5)
	paths := []string{
		"/addresses/" + address.FormatAny(append([]byte{0x60}, cardanotest.Filled(28, 9)...)) + "/utxos",
		"/addresses/" + address.FormatAny(append([]byte{0x60}, cardanotest.Filled(28, 9)...)) + "/transactions",
		"/governance/proposals", "/metadata/txs/labels", "/scripts", "/pools", "/blocks/latest/txs",
		"/scripts/" + hex.EncodeToString(address.Hash224([]byte("\x04four"))), "/scripts/" + hex.EncodeToString(address.Hash224([]byte("\xc8later"))),
	}
	kupoPaths := []string{"/matches/*", "/matches/*?unspent"}
	for name, tx := range odd(t) {
		hash := g.appendOdd(tx)
		for _, part := range []string{
			"", "/utxos", "/metadata", "/metadata/cbor", "/redeemers", "/required_signers", "/withdrawals", "/mirs", "/delegations", "/stakes",
			"/pool_updates", "/pool_retires", "/cbor",
		} {
			if code, body := g.asked(t, path+"/txs/"+hash+part); code != http.StatusOK && code != http.StatusNotImplemented {
				t.Errorf("%s: /txs/%s%s: %d %.300s", name, hash, part, code, body)
			} else if strings.Contains(body, "hex:") {
				t.Errorf("%s: /txs/%s%s has a text of this server alone: %.300s", name, hash, part, body)
			}
		}
		err := g.db.View(t.Context(), func(v *query.View) error {
			a, err := v.Tx(t.Context(), hash)
			if err == nil {
				_, err = json.Marshal(a)
			}
			return err
		})
		if err != nil {
			t.Errorf("%s: %v", name, err)
		}
		kupoPaths = append(kupoPaths, "/matches/*@"+hash)
	}
	for _, p := range paths {
		if code, body := g.asked(t, path+p); code != http.StatusOK {
			t.Errorf("%s: %d %.300s", p, code, body)
		}
	}
	k := g.kupo(t)
	for _, p := range kupoPaths {
		w := httptest.NewRecorder()
		k.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/kupo"+p, nil))
		if w.Code != http.StatusOK || strings.Contains(w.Body.String(), "hex:") {
			t.Errorf("kupo %s: %d %.300s", p, w.Code, w.Body)
		}
	}
}

// kupo returns Kupo's API on the same database.
func (w *world) kupo(t *testing.T) http.Handler {
	t.Helper()
	k, err := kupo.New(t.Context(), kupo.Options{Path: "/kupo", InSync: func() bool { return true }, Chain: &served.Chain{
		Name: "cardano-preview", Model: w.db.Chain(), View: w.db.View, Moved: w.db.Moved, State: func() served.State { return served.State{} },
	}})
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func (w *world) asked(t *testing.T, path string) (int, string) {
	t.Helper()
	r := httptest.NewRecorder()
	w.ServeHTTP(r, httptest.NewRequestWithContext(t.Context(), "GET", path, nil))
	return r.Code, r.Body.String()
}
