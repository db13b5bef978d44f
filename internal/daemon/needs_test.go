package daemon

import (
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"testing"

	"birthmark/api/served"
	"birthmark/chains"
	"birthmark/core/schema"
	"birthmark/internal/config"
	"birthmark/model"
)

// unable is a node that can do nothing that a protocol needs of one.
type unable struct{ model.Source }

// settingsOf returns settings of a chain with one protocol.
func settingsOf(t *testing.T, key, indexes string) (*config.Chain, model.Chain) {
	t.Helper()
	value := "/api"
	if strings.HasPrefix(key, "serve.electrum") {
		value = "127.0.0.1:0"
	}
	text := fmt.Sprintf("chain: %s\ndb: /data/db\nsource: p2p://x\nserve:\n  %s: %s\n", needs[key].Chain,
		strings.TrimPrefix(key, "serve."), value)
	if indexes != "" {
		text += "indexes: " + indexes + "\nraw: keep\n"
	}
	s, err := config.Parse("birthmark.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	set, err := s.One()
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{NewChain: chains.New}
	chain, err := h.Chain(set)
	if err != nil {
		t.Fatal(err)
	}
	return set, chain
}

// flags are those of commands that would change the database of the settings.
func flags(set *config.Chain, presets []string) string {
	if len(presets) > 0 {
		return " --index " + strings.Join(presets, ",") + " --db " + set.DB
	}
	return " --db " + set.DB
}

// complete returns what the settings create, without a node.
func complete(t *testing.T, set *config.Chain, chain model.Chain) has {
	t.Helper()
	l, err := newLayout(set, chain)
	if err != nil {
		t.Fatal(err)
	}
	set.Indexes, set.Raw = nil, config.RawOff // only the protocols need something
	return has{true, l, nil, false}
}

// Every protocol of the settings declares its needs.
func TestEveryProtocolDeclaresItsNeeds(t *testing.T) {
	for _, key := range config.ServeKeys() {
		if n := needs[key]; n == nil || n.Chain == "" || len(n.Parts) == 0 {
			t.Errorf("%s declares %+v", key, n)
		}
	}
	if len(needs) != len(config.ServeKeys()) {
		t.Errorf("needs of %d protocols, there are %d", len(needs), len(config.ServeKeys()))
	}
}

// without returns what have has without a need.
func without(t *testing.T, need served.Need, have has) has {
	t.Helper()
	l, _ := have.layout.Copy(nil)
	have.layout = l
	switch {
	case need.Index != "":
		l.All = slices.DeleteFunc(l.All, func(x *schema.Index) bool { return x.Name == need.Index })
		l.Arrange()
	case need.Raw:
		l.Raw = false
	case need.Mempool:
		have.node = unable{}
	}
	return have
}

// With the preset of a protocol, raw transactions and a node, nothing is missing. Each need that a database or node does
// not have is in the one error, or among what some answers need, with the setting that needs it and a remedy.
func TestEachNeedIsReported(t *testing.T) {
	h := &Host{Log: slog.New(slog.DiscardHandler), Flags: flags}
	for _, key := range slices.Sorted(maps.Keys(needs)) {
		preset := needs[key].Preset
		set, chain := settingsOf(t, key, preset)
		all := complete(t, set, chain)
		bare := h.findLacks(set, chain, all, true)
		for _, l := range [][]Lack{bare.Missing, bare.Optional} {
			for _, x := range l {
				if x.What != "a node" {
					t.Errorf("%s: with the preset %q, %s is missing: %s", key, preset, x.What, x.Remedy)
				}
			}
		}
		for _, need := range needs[key].Parts {
			lacks := h.findLacks(set, chain, without(t, need, all), true)
			list := lacks.Missing
			if need.Without != "" {
				list = lacks.Optional
			}
			i := slices.IndexFunc(list, func(x Lack) bool { return strings.HasSuffix(x.What, nameOfNeed(need)) })
			if i < 0 {
				t.Errorf("%s: %+v is not in %+v", key, need, lacks)
				continue
			}
			x := list[i]
			if !slices.Contains(x.NeededBy, key+" (birthmark.yaml:5)") || x.Remedy == "" {
				t.Errorf("%s: %+v", key, x)
			}
			if need.Without == "" {
				text := fmt.Sprint(missing(lacks))
				if !strings.Contains(text, x.What) || !strings.Contains(text, x.Remedy) {
					t.Errorf("%s: %s lacks %+v", key, text, x)
				}
			} else if !slices.Contains(x.Without, need.Without) {
				t.Errorf("%s: %+v", key, x)
			}
			if need.Index != "" && x.Remedy != "birthmark index add "+need.Index+" --index "+needs[key].Preset+" --db /data/db" {
				t.Errorf("%s: the remedy of %s is %s", key, x.What, x.Remedy)
			}
		}
	}
}

// A sync logs everything that a server with its settings will lack, for each protocol, before it reads a block.
func TestSyncsLogWhatAServerWillLack(t *testing.T) {
	for _, key := range slices.Sorted(maps.Keys(needs)) {
		set, chain := settingsOf(t, key, "")
		var text strings.Builder
		h := &Host{Log: slog.New(slog.NewTextHandler(&text, nil)), Flags: flags, NewChain: chains.New}
		if err := h.NewBlockSync(set, nil, false).compareSettings(t.Context(), chain); err != nil {
			t.Errorf("%s: %v", key, err)
		}
		layout, err := newLayout(set, chain)
		if err != nil {
			t.Fatal(err)
		}
		has := comparison{set: set, chain: chain, has: has{layout: layout}}
		for _, need := range needs[key].Parts {
			name := nameOfNeed(need)
			if need.Mempool {
				name = "a node"
			}
			if !has.fulfils(need) && (!strings.Contains(text.String(), name) || !strings.Contains(text.String(), key)) {
				t.Errorf("%s: the log lacks %s: %s", key, name, text.String())
			}
		}
		if !strings.Contains(text.String(), "birthmark serve will refuse") && needs[key].Preset != "" {
			t.Errorf("%s: %s", key, text.String())
		}
	}
}

func nameOfNeed(n served.Need) string {
	switch {
	case n.Index != "":
		return "index " + n.Index
	case n.Raw:
		return "raw transactions"
	case n.Mempool:
		return "unconfirmed transactions of the node"
	}
	return "a node"
}

// Each option that an index needs is named if the index lacks it, and so is one that is being added.
func TestEachOptionIsReported(t *testing.T) {
	h := &Host{Log: slog.New(slog.DiscardHandler), Flags: flags}
	for _, key := range slices.Sorted(maps.Keys(needs)) {
		set, chain := settingsOf(t, key, needs[key].Preset)
		all := complete(t, set, chain)
		for _, need := range needs[key].Parts {
			for _, option := range need.Options.Names() {
				part := map[string]schema.Features{
					"balance": schema.FeatureBalance, "unspent": schema.FeatureUnspent, "history": schema.FeatureHistory,
				}[option]
				for _, building := range []bool{false, true} {
					have := all
					have.layout, _ = all.layout.Copy(nil)
					x := have.layout.Entry(need.Index)
					x.Active &^= part
					want := option + " of index " + need.Index
					if building {
						x.Building |= part
						want += " (it is being added)"
					}
					lacks := h.findLacks(set, chain, have, true)
					named := func(x Lack) bool { return x.What == want }
					if !slices.ContainsFunc(slices.Concat(lacks.Missing, lacks.Optional), named) {
						t.Errorf("%s: %s is not in %+v", key, want, lacks)
					}
				}
			}
		}
	}
}

// Settings of a new database and of an existing one: each thing is listed once, with everything that needs it.
func TestOneMessageListsEverything(t *testing.T) {
	text := `chain: cardano
db: /data/db
source: tcp://relay:3001
indexes:
  address: { prefix: true }
  policy: {}
raw: keep
serve:
  kupo: /kupo
  blockfrost: /api/v0
  ogmios: /ogmios
  esplora: /esplora
`
	s, err := config.Parse("b.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	set, err := s.One()
	if err != nil {
		t.Fatal(err)
	}
	h := &Host{NewChain: chains.New, Log: slog.New(slog.DiscardHandler), Flags: flags}
	chain, err := h.Chain(set)
	if err != nil {
		t.Fatal(err)
	}
	names := []string{"address", "datum_hash", "script_hash", "stake_credential"}
	l, err := schema.NewLayout(chain, names, map[string]model.IndexOptions{
		"address": {Balance: true}, "script_hash": {Unspent: true},
		"stake_credential": {Balance: true, Unspent: true, History: true},
	}, false, false)
	if err != nil {
		t.Fatal(err)
	}
	got := missing(h.findLacks(set, chain, has{true, l, nil, false}, true))
	const want = `cardano (/data/db) lacks 6 things that its settings need:
  the chain bitcoin or tapyrus, for serve.esplora (b.yaml:12)
      remove serve.esplora from the settings of cardano
  unspent, history and prefix of index address, for indexes (b.yaml:5), serve.blockfrost (b.yaml:10)
      birthmark index add address --index blockfrost --db /data/db
  index policy, for indexes (b.yaml:6), serve.blockfrost (b.yaml:10), serve.kupo (b.yaml:9)
      birthmark index add policy --db /data/db
  raw transactions, for raw (b.yaml:7), serve.blockfrost (b.yaml:10), serve.kupo (b.yaml:9)
      birthmark index add raw --db /data/db
  index payment_credential, for serve.blockfrost (b.yaml:10), serve.kupo (b.yaml:9)
      birthmark index add payment_credential --index blockfrost,kupo --db /data/db
  a node, for serve.blockfrost (b.yaml:10), serve.ogmios (b.yaml:11)
      set node, or source, to a node, such as unix:///path/to/node.socket`
	lines := strings.Join(linesOf(t, got), "\n")
	if lines != want {
		t.Errorf("%s\nexpected\n%s", lines, want)
	}
	for _, line := range strings.Split(want, "\n") {
		if text := strings.TrimSuffix(strings.TrimSpace(line), ":"); !strings.Contains(fmt.Sprint(got), text) {
			t.Errorf("the error lacks %q: %v", text, got)
		}
	}

	made, err := newLayout(set, chain)
	if err != nil {
		t.Fatal(err)
	}
	got = missing(h.findLacks(set, chain, has{false, made, nil, false}, true))
	for _, want := range []string{
		"cardano (/data/db) would lack 7 things that its settings need",
		`index payment_credential, for serve.blockfrost (b.yaml:10), serve.kupo (b.yaml:9): add "payment_credential: ` +
			`{balance: true, unspent: true, history: true}" to indexes, as the preset blockfrost or kupo has it`,
	} {
		if !strings.Contains(fmt.Sprint(got), want) {
			t.Errorf("%v\nexpected %s", got, want)
		}
	}
}

func linesOf(t *testing.T, err error) []string {
	t.Helper()
	lacks, ok := errors.AsType[LacksError](err)
	if !ok {
		t.Fatalf("%v lists nothing", err)
	}
	return lacks.Lines()
}
