package config

import (
	"reflect"
	"testing"
	"time"

	"birthmark/model"
)

func TestElectrumSettings(t *testing.T) {
	s := parse(t, `
electrum: { max_request: 2MiB, max_batch: 50, client_connections: 3, client_subscriptions: 4, idle_timeout: 1m,
  request_timeout: 0, soft_cost: 0.5, hard_cost: 6, cost_per_second: 7 }
chain: bitcoin
serve: { electrum: ":50001", electrum_tls: ":50002", electrum_ws: ":50003", electrum_wss: ":50004" }
`)
	want := Electrum{
		MaxRequest: 2 * MiB, MaxBatch: 50, ClientConns: 3, ClientSubs: 4, IdleTimeout: time.Minute, SoftCost: 0.5, HardCost: 6,
		CostPerSecond: 7,
	}
	if s.Server.Electrum != want {
		t.Errorf("%+v, expected %+v", s.Server.Electrum, want)
	}
	if v := s.View().Electrum; v == nil || v.Timeout != "0" || v.IdleTimeout != "1m0s" || v.MaxRequest != 2*MiB {
		t.Errorf("%+v", v)
	}
	addresses := Serve{Electrum: ":50001", ElectrumTLS: ":50002", ElectrumWS: ":50003", ElectrumWSS: ":50004"}
	if c := s.Chains[0]; c.Serve != addresses || c.Origin("serve.electrum_ws") != "birthmark.yaml:5" {
		t.Errorf("%+v, set at %q", c.Serve, c.Origin("serve.electrum_ws"))
	}
	if v := Default().View().Electrum; v != nil {
		t.Errorf("the defaults are shown: %+v", v)
	}
	for key, value := range map[string]string{
		"max_request": "1kB", "max_batch": "0", "client_connections": "-1", "client_subscriptions": "x", "idle_timeout": "1ms",
		"request_timeout": "5", "soft_cost": "-1", "hard_cost": "NaN", "cost_per_second": "",
	} {
		if _, err := Parse("x", []byte("electrum: { "+key+": \""+value+"\" }\n")); err == nil {
			t.Errorf("%s: %s is accepted", key, value)
		}
	}
}

func TestPresetExplorer(t *testing.T) {
	full := model.IndexOptions{Balance: true, Unspent: true, History: true}
	all := map[string]model.IndexOptions{"address": full, "stake_credential": full, "policy": {Balance: true}, "statistics": {}}
	if c := parse(t, "chain: cardano\nindexes: explorer\n").Chains[0]; !reflect.DeepEqual(c.IndexOptions(), all) {
		t.Errorf("%+v", c.Indexes)
	}
	// An index that is also named by itself is not optional.
	c, err := with(t, parse(t, "chain: cardano\n"), Override{"indexes", "explorer,wallet", "--index"}).One()
	if err != nil {
		t.Fatal(err)
	}
	for _, ix := range c.Indexes {
		if optional := ix.Name == "stake_credential" || ix.Name == "policy"; ix.Optional != optional {
			t.Errorf("%+v", ix)
		}
	}
}

func TestPresetWallet(t *testing.T) {
	full := model.IndexOptions{Balance: true, Unspent: true, History: true}
	both := map[string]model.IndexOptions{"address": {}, "script_hash": full}
	file := parse(t, "chain: bitcoin\nindexes: wallet\n")
	if c := file.Chains[0]; !reflect.DeepEqual(c.IndexOptions(), both) || c.DefinitionOrigin("script_hash", "") != "birthmark.yaml:2" {
		t.Errorf("%+v", c.Indexes)
	}
	options := parse(t, "chain: bitcoin\nindexes: { address: { prefix: true }, script_hash: { balance: true } }\n")
	for list, want := range map[string]map[string]model.IndexOptions{
		"wallet":             {"address": {Prefix: true}, "script_hash": full},
		"wallet, input":      {"address": {Prefix: true}, "script_hash": full, "input": {}},
		"script_hash,wallet": {"address": {Prefix: true}, "script_hash": full},
	} {
		c, err := with(t, options, Override{"indexes", list, "--index"}).One()
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(c.IndexOptions(), want) {
			t.Errorf("%s: %+v, expected %+v", list, c.IndexOptions(), want)
		}
	}
}
