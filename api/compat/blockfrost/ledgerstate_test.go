package blockfrost_test

import (
	"encoding/hex"
	"fmt"
	"strings"
	"testing"

	gcbor "github.com/blinklabs-io/gouroboros/cbor"
	gouroboros "github.com/blinklabs-io/gouroboros/ledger"
	"github.com/blinklabs-io/gouroboros/ledger/common"
	"github.com/blinklabs-io/gouroboros/protocol/localstatequery"
	"github.com/fxamacker/cbor/v2"

	"birthmark/api/compat/blockfrost"
	"birthmark/api/served"
	"birthmark/chains/cardano/address"
	"birthmark/internal/testnode/cardanotest"
	"birthmark/model"
)

// connect serves the database with the node as the source of the ledger state.
func (g *growing) connect() {
	g.t.Helper()
	src, err := g.db.Chain().Open(g.t.Context(), model.SourceOptions{URI: g.node.Unix(), Indexes: g.db.Indexes(), Raw: true})
	if err != nil {
		g.t.Fatal(err)
	}
	g.t.Cleanup(func() { src.Close() })
	g.Handler = blockfrost.New(blockfrost.Options{Path: path, InSync: func() bool { return true }, Chain: &served.Chain{
		Name: "cardano-preview", Model: g.db.Chain(), View: g.db.View, Moved: g.db.Moved, State: func() served.State { return served.State{} }, Node: src,
	}})
}

// The state of DReps and the stakes of pools are those of the node. Everything else about them is in the chain.
func TestDRepsAndStakesOfTheNode(t *testing.T) {
	g := grow(t, 11)
	hash := func(n byte) []byte { return cardanotest.Filled(28, n) }
	anchor := list{"https://example.org", cardanotest.Filled(32, 9)}
	pool := func(n byte, pledge int, metadata any) list {
		return list{
			3, hash(n), cardanotest.Filled(32, n), pledge, 340_000_000, cbor.Tag{Number: 30, Content: list{1, 20}}, append([]byte{0xe0}, hash(n)...),
			list{hash(n)}, list{}, metadata,
		}
	}
	proposal := g.add(dict{4: list{
		list{16, list{0, hash(1)}, 500_000_000, anchor}, list{16, list{1, hash(2)}, 500_000_000, nil}, list{16, list{0, hash(3)}, 500_000_000, nil},
		pool(4, 1000, list{"https://example.org/pool", cardanotest.Filled(32, 8)}), pool(5, 2000, nil), pool(6, 3000, nil),
	}, 20: list{list{100, append([]byte{0xe0}, hash(7)...), list{6}, anchor}}})
	raw, err := hex.DecodeString(proposal)
	if err != nil {
		t.Fatal(err)
	}
	voting := cardanotest.Endless(t, 0xbf, list{2, hash(3)}, cardanotest.Endless(t, 0xbf, list{raw, 0}, list{1, nil}))
	g.add(dict{4: list{list{17, list{1, hash(2)}, 500_000_000}, list{18, list{0, hash(3)}, anchor}, pool(5, 2500, nil), list{4, hash(6), 0}}, 19: voting})
	unknown := address.FormatGovernance(address.DRep, append([]byte{0}, hash(99)...))
	id := func(kind, n byte) string {
		return address.FormatGovernance(address.DRep, append([]byte{kind}, hash(n)...))
	}
	poolID := func(n byte) string { return address.FormatPoolHash(hash(n)) }
	for _, endpoint := range []string{"/governance/dreps", "/governance/dreps/" + id(0, 1), "/pools/extended", "/governance/dreps/drep_always_abstain"} {
		if status, body := g.ask(t, "GET", endpoint); status != 501 || !strings.Contains(body, "needs a node") {
			t.Errorf("%s without a node: %d %s", endpoint, status, body)
		}
	}
	g.connect()

	cred := func(kind uint64, n byte) localstatequery.StakeCredential {
		return localstatequery.StakeCredential{Tag: kind, Bytes: gouroboros.Blake2b224(hash(n))}
	}
	encode := func(v any) []byte {
		raw, err := gcbor.Encode(v)
		if err != nil {
			t.Fatal(err)
		}
		return raw
	}
	rewards := encode(localstatequery.RewardInfoPoolsResult{
		Params: localstatequery.RewardParams{NOpt: 500, A0: &gcbor.Rat{Rat: common.NewGenesisRat(3, 10).Rat}, RPot: 1, TotalStake: 1_000_000},
		Pools: map[gouroboros.Blake2b224]localstatequery.RewardInfoPool{
			gouroboros.Blake2b224(hash(4)): {Stake: 500, Margin: &gcbor.Rat{Rat: common.NewGenesisRat(1, 20).Rat}, PerformanceEstimate: 0.5},
			gouroboros.Blake2b224(hash(5)): {Stake: 4000, Margin: &gcbor.Rat{Rat: common.NewGenesisRat(1, 20).Rat}},
		},
	})
	account := cred(0, 20)
	g.node.Answers(map[int][]byte{
		1: {0x18, 200}, 18: rewards[1:], // the node adds the array around it
		20: encode(localstatequery.StakeSnapshotsResult{PoolSnapshots: map[gouroboros.Blake2b224]*localstatequery.PoolStakeSnapshot{
			gouroboros.Blake2b224(hash(4)): {StakeMark: 1, StakeSet: 450, StakeGo: 3},
		}}),
		25: encode(localstatequery.DRepStateResult{
			cred(0, 1): {Expiry: 200, Anchor: &common.GovAnchor{Url: "https://example.org"}, Delegators: []localstatequery.StakeCredential{account}},
			cred(0, 3): {Expiry: 199},
		}),
		26: cardanotest.Raw(t, cardanotest.Endless(t, 0xbf, list{0, hash(1)}, 7_000_000_000, list{0, hash(3)}, 8, list{2}, 77)),
		10: encode([]any{map[any]any{}, map[any]any{account: 1000}}), 22: {0xa0}, 28: {0xa0},
	})
	epoch := *g.naive.tip().header.Epoch
	document := object{"url": "https://example.org", "hash": hex.EncodeToString(cardanotest.Filled(32, 9)), "json_metadata": nil, "bytes": nil}
	drep := func(kind, n byte, amount string, retired, expired bool, metadata any) object {
		return object{
			"drep_id": id(kind, n), "hex": fmt.Sprintf("%02x%x", 0x22+kind, hash(n)), "amount": amount, "has_script": kind == 1, "retired": retired,
			"expired": expired, "last_active_epoch": epoch, "metadata": metadata,
		}
	}
	all := []any{
		drep(0, 1, "7000000000", false, false, document), drep(1, 2, "0", true, false, nil), drep(0, 3, "8", false, true, document),
	}
	extended := func(n byte, active, live string, saturation float64, pledge string, metadata any) object {
		return object{
			"pool_id": poolID(n), "hex": hex.EncodeToString(hash(n)), "active_stake": active, "live_stake": live, "blocks_minted": 0,
			"live_saturation": saturation, "declared_pledge": pledge, "margin_cost": 0.05, "fixed_cost": "340000000", "metadata": metadata,
		}
	}
	pools := []any{
		extended(4, "450", "500", 0.25, "1000", object{
			"url": "https://example.org/pool", "hash": hex.EncodeToString(cardanotest.Filled(32, 8)), "ticker": nil, "name": nil, "description": nil, "homepage": nil,
		}),
		extended(5, "0", "4000", 2, "2500", nil),
	}
	for endpoint, want := range map[string][]any{
		"/governance/dreps":                              all,
		"/governance/dreps?count=1&page=2&order=desc":    all[1:2],
		"/governance/dreps?retired=true":                 all[1:2],
		"/governance/dreps?retired=false&expired=false":  all[:1],
		"/governance/dreps?expired=true":                 all[2:],
		"/governance/dreps?order_by=amount":              {all[1], all[2], all[0]},
		"/governance/dreps?order_by=amount&order=desc":   {all[0], all[2], all[1]},
		"/governance/dreps/" + id(0, 1) + "/delegators":  {object{"address": stakeAddress(0, hash(20)), "amount": "1000"}},
		"/governance/dreps/" + id(1, 2) + "/delegators":  {},
		"/pools/extended":                                pools,
		"/pools/extended?order=desc&count=1":             pools[1:],
		"/governance/dreps?retired=false&count=1&page=3": {},
	} {
		g.same(t, endpoint, append([]any{}, want...))
	}
	one := func(d any, active bool) object {
		answer := object{"active": active, "active_epoch": epoch}
		for name, v := range d.(object) {
			if name != "metadata" {
				answer[name] = v
			}
		}
		return answer
	}
	g.same(t, "/governance/dreps/"+id(0, 1), one(all[0], true))
	g.same(t, "/governance/dreps/"+id(1, 2), one(all[1], false))
	g.same(t, "/governance/dreps/"+id(0, 3), one(all[2], true))
	g.same(t, "/governance/dreps/drep_always_abstain", object{
		"drep_id": "drep_always_abstain", "hex": "", "amount": "77", "active": true, "active_epoch": nil, "has_script": false, "retired": false,
		"expired": false, "last_active_epoch": nil,
	})
	if q := fmt.Sprintf("%x", g.node.Queries()[20]); q != "821480" {
		t.Errorf("the query of snapshots is %s", q)
	}
	for endpoint, status := range map[string]int{
		"/governance/dreps/" + unknown: 404, "/governance/dreps/x": 400, "/governance/dreps?retired=x": 400, "/governance/dreps?order_by=x": 400,
		"/governance/dreps/" + unknown + "/delegators": 404, "/pools/extended?count=0": 400,
	} {
		if got, body := g.ask(t, "GET", endpoint); got != status {
			t.Errorf("%s: %d %s, expected %d", endpoint, got, body, status)
		}
	}
}

func stakeAddress(kind byte, hash []byte) string {
	return address.FormatStakeCredential(address.Preview, append([]byte{kind}, hash...))
}
