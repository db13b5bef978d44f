package cli

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"birthmark/api"
	"birthmark/api/compat/utxo"
	"birthmark/api/events"
	"birthmark/api/explorer"
	"birthmark/api/served"
	"birthmark/bench/generate"
	"birthmark/chains"
	"birthmark/core"
	"birthmark/core/coretest"
	"birthmark/core/query"
	"birthmark/internal/testseed"
	"birthmark/model"
	"birthmark/storage/memory"
)

// stakingNode is a node in which every account is registered and has rewards.
type stakingNode struct {
	model.Source
	pool, drep, account string
}

func (n stakingNode) AccountState(_ context.Context, index, _ string) (*model.AccountState, error) {
	if index != "stake_credential" {
		return nil, nil
	}
	return &model.AccountState{Registered: true, Pool: n.pool, DRep: n.drep, Rewards: "1234567"}, nil
}

func (n stakingNode) VoterState(_ context.Context, id string) (*model.VoterState, error) {
	if id != n.drep {
		return nil, nil
	}
	return &model.VoterState{Registered: true, Expires: 500, Power: "123456789012", Delegators: []string{n.account}}, nil
}

// parties are the first accounts, pools and voters in the transactions of a chain, by kind, and transactions that name
// them.
type parties map[string]string

func (p parties) add(kind, name string) {
	if name != "" && p[kind] == "" {
		p[kind] = name
	}
}

func (p parties) addTx(tx *query.TxAnswer) {
	if tx.Valid == nil || !*tx.Valid {
		return
	}
	for _, w := range tx.Withdrawals {
		p.add("account", w.Address)
		p.add("tx withdrawing", tx.Hash)
	}
	for _, c := range tx.Certificates {
		switch c.Type {
		case "pool_registration":
			p.add("pool", c.Pool)
			p.add("tx with a pool", tx.Hash)
		case "reg_drep":
			p.add("drep", c.DRep)
		}
		p.add("cold", c.Credential)
		p.add("hot", c.HotCredential)
	}
	for _, a := range tx.Proposals {
		if len(a.Withdrawals) > 0 {
			p.add("proposal", a.Action)
			p.add("tx proposing", tx.Hash)
		}
	}
	for _, v := range tx.Votes {
		p.add("action", v.Action)
		p.add("vote of "+v.Voter[:4], v.Voter)
		p.add("tx voting", tx.Hash)
	}
}

// partyServer serves a generated chain with certificates, votes and withdrawals of every kind.
func partyServer(t *testing.T) (url string, p parties) {
	t.Helper()
	made, err := generate.Write(t.Context(), "cardano", t.TempDir(), generate.Options{Seed: testseed.Of(t, 4), Txs: 1500, TxsPerBlock: 8, AllParts: true}, nil)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := chains.New("cardano", made.Network)
	if err == nil {
		chain, err = chain.Define([]model.Definition{utxo.Subjects})
	}
	if err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(t.Context(), memory.New(), core.Options{Chain: chain, Raw: true, CacheBytes: 16 << 20,
		Indexes: []string{"address", "stake_credential", "pool", model.StatisticsIndex, utxo.Subjects.Name},
		Keep:    map[string]model.IndexOptions{"address": everyOption, "stake_credential": everyOption}})
	if err != nil {
		t.Fatal(err)
	}
	syncOn(t, db, "file://"+made.Path, 1<<25)
	coretest.Consistent(t, db)
	p = parties{}
	for h := range uint32(db.Tip().Height) + 1 {
		b, err := db.Block(t.Context(), fmt.Sprint(h))
		if kind, _ := model.KindOf(err); kind == model.NotFound {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		txs, err := db.Txs(t.Context(), b.Txs)
		if err != nil {
			t.Fatal(err)
		}
		for _, tx := range txs {
			p.addTx(tx)
		}
	}
	for _, kind := range []string{"account", "pool", "drep", "cold", "hot", "action", "proposal", "vote of pool", "vote of drep", "vote of cc_h"} {
		if p[kind] == "" {
			t.Fatalf("the chain has no %s", kind)
		}
	}
	c := &served.Chain{Name: "cardano", Model: db.Chain(), View: db.View, Moved: db.Moved, State: func() served.State { return served.State{} },
		Node: stakingNode{pool: p["pool"], drep: p["drep"], account: p["account"]}}
	v1, err := api.New(api.Options{Chains: []*served.Chain{c}})
	if err != nil {
		t.Fatal(err)
	}
	pages, err := explorer.New(explorer.Options{Chains: []*served.Chain{c}, API: v1})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/v1/", v1)
	mux.Handle("/v1/cardano/events", events.Handler(c, events.Options{}))
	mux.Handle("/", pages)
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL, p
}

// The pages of accounts, pools, representatives, committee members, governance actions and votes are fit for everybody:
// each on a desktop and on a phone, in light and in dark, with the keyboard, and without scripts.
func TestPagesOfPartiesInABrowser(t *testing.T) {
	slow(t)
	browser := browser(t)
	server, p := partyServer(t)
	axe := axeScript(t)
	b := newTab(t, browser, server)
	b.axeContrast = true
	var paths []string
	for _, kind := range []string{"account", "pool", "drep", "action"} {
		paths = append(paths, "/cardano/index/subject/"+p[kind])
	}
	for _, kind := range []string{"pool", "drep", "cold", "hot", "action", "proposal", "vote of pool", "vote of drep", "vote of cc_h"} {
		paths = append(paths, "/cardano/governance/"+p[kind])
	}
	paths = append(paths, "/cardano/governance", "/cardano/index/stake_credential/"+p["account"], "/cardano/producers", "/cardano/charts")
	for kind, hash := range p {
		if strings.HasPrefix(kind, "tx ") {
			paths = append(paths, "/cardano/tx/"+hash)
		}
	}
	slices.Sort(paths)
	paths = slices.Compact(paths)
	b.open("/cardano/producers", 200)
	paths = append(paths, eval[string](b, `document.querySelector("main a[href*='/producers/']").pathname`))
	for _, path := range paths {
		b.open(path, 200)
		if size := eval[int](b, `new TextEncoder().encode(document.documentElement.outerHTML).length`); size > maxPartyPage {
			t.Errorf("%s has %d bytes, expected at most %d", path, size, maxPartyPage)
		}
		eval[bool](b, `document.querySelectorAll("details").forEach((d) => { d.open = true; }), true`)
		b.everyLook(axe)
		b.do("begin", wide(desk), scheme("light"))
		b.reachEverything(path)
	}
	t.Run("without scripts", func(t *testing.T) {
		b := newTab(t, browser, server)
		b.do("no scripts", scripting(false), wide(phone))
		for _, path := range paths {
			b.open(path, 200)
			b.look("without scripts", "width")
			if text := eval[string](b, "document.querySelector('main').innerText"); len(text) < 100 {
				t.Errorf("%s: %q", path, text)
			}
		}
	})
	if axe == "" {
		t.Skip("axe-core is not installed: make test-programs installs it")
	}
}

// maxPartyPage is the largest page in bytes.
const maxPartyPage = 60_000
