package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"birthmark/chains"
	"birthmark/core"
	"birthmark/core/query"
	"birthmark/core/query/richest"
	"birthmark/internal/testblocks"
	"birthmark/storage/rocks"
)

// realRun is blocks of a real chain, and custom indexes that have values in them.
type realRun struct {
	chain, network, source string
	indexes                []string // built-in indexes, except one-to-one ones
	own                    string   // five definitions of custom indexes
	half, to               string   // a height in the middle, and the last one
}

// settings writes settings for all indexes of the run, with all options or with none.
func (r *realRun) settings(t *testing.T, dir string, everything bool) (file string, indexes []string) {
	t.Helper()
	options := ""
	var b strings.Builder
	fmt.Fprintf(&b, "chain: %s\nnetwork: %s\nsource: %s\n", r.chain, r.network, r.source)
	if everything {
		b.WriteString("raw: true\n")
		options = "balance: true, unspent: true, history: true, prefix: true"
	}
	b.WriteString("indexes:\n")
	for _, name := range r.indexes {
		fmt.Fprintf(&b, "  %s: { %s }\n", name, options)
	}
	indexes = slices.Clone(r.indexes)
	for line := range strings.Lines(strings.TrimSpace(r.own)) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), ": ")
		indexes = append(indexes, name)
		if options != "" {
			rest = strings.TrimSuffix(rest, " }") + ", " + options + " }"
		}
		fmt.Fprintf(&b, "  %s: %s\n", name, rest)
	}
	file = filepath.Join(dir, fmt.Sprintf("everything-%t.yaml", everything))
	if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return file, indexes
}

// The options of an index change the speed of queries and not the answers. A database with all options equals a new
// one after any sequence of syncs and rollbacks.
func TestOptionsDoNotChangeAnswers(t *testing.T) {
	slow(t)
	t.Parallel()
	for name, run := range map[string]func(t *testing.T) realRun{
		"bitcoin": func(t *testing.T) realRun {
			return realRun{
				chain: "bitcoin", network: "mainnet", source: "file://" + realBlocks(t), half: "1500", to: "3000",
				indexes: []string{"address", "script_hash", "script_type"},
				own: `
coin: { when: "tx.coinbase", value: "output.value" }
output_number: { value: "output.index" }
script_start: { when: "output.value > 0", value: "output.script[0:2]" }
pushed: { value: "output.pushes", kind: many-valued }
spender_sequences: { when: "not tx.coinbase", value: "map(tx.inputs, .sequence)", kind: many-valued }`,
			}
		},
		"cardano": func(t *testing.T) realRun {
			return realRun{
				chain: "cardano", network: "preview", source: "file://" + testblocks.Path(t, "cardano", "dingo-immutable"), half: "37500", to: "39000",
				indexes: strings.Split(everyCardanoIndex, ","),
				own: `
asset_name: { value: "map(output.assets, .name)", kind: many-valued }
contract: { when: "output.payment_credential startsWith 'script1'", value: "output.payment_credential" }
metadata_label: { when: "output.index == 0", value: "tx.metadata_labels", kind: many-valued }
rich: { when: "output.value > 1000000000", value: "output.address" }
outputs_of_tx: { value: "tx.output_count" }`,
			}
		},
		"ergo": func(t *testing.T) realRun {
			return realRun{
				chain: "ergo", network: "mainnet", source: "file://" + testblocks.Path(t, "ergo", "ergo-uexplorer", "blocks_first.gz"), half: "400", to: "800",
				indexes: slices.DeleteFunc(strings.Split(everyErgoIndex, ","), func(name string) bool { return name == "box_id" }),
				own: `
made_at: { value: "output.creation_height" }
tree_start: { value: "output.ergo_tree[0:8]" }
small: { when: "output.value < 100000000000", value: "output.address" }
register_bytes: { value: "[output.registers.R4, output.registers.R5]", kind: many-valued }
tx_outputs: { value: "tx.output_count" }`,
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r, dir := run(t), t.TempDir()
			plain, all, again := filepath.Join(dir, "plain"), filepath.Join(dir, "all"), filepath.Join(dir, "again")
			off, indexes := r.settings(t, dir, false)
			on, _ := r.settings(t, dir, true)
			ask(t, nil, "sync", "--config", off, "--db", plain, "--to-height", r.to)
			ask(t, nil, "sync", "--config", on, "--db", all, "--to-height", r.to)
			consistent(t, all)

			without, with := openReadOnly(t, plain), openReadOnly(t, all)
			for _, index := range indexes {
				sameAnswers(t, without, with, index)
			}

			digest := digestOf(t, all)
			ask(t, nil, "sync", "--config", on, "--db", again, "--to-height", r.half)
			half := digestOf(t, again)
			ask(t, nil, "sync", "--config", on, "--db", again, "--to-height", r.to)
			same(t, again, digest)
			ask(t, nil, "rollback", "--db", again, "--to-height", r.half)
			consistent(t, again)
			same(t, again, half)
		})
	}
}

// openReadOnly opens a database with the chain and the indexes that it stores.
func openReadOnly(t *testing.T, dir string) *core.DB {
	t.Helper()
	store, err := rocks.Open(dir, rocks.Options{ReadOnly: true, BlockCache: 8 << 20})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	id, _, err := core.Identify(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := chains.New(id.Chain, id.Network)
	if err != nil {
		t.Fatal(err)
	}
	if chain, err = chain.Define(id.Definitions); err != nil {
		t.Fatal(err)
	}
	db, err := core.Open(t.Context(), store, core.Options{Chain: chain, ReadOnly: true})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// sameAnswers queries two databases for some values of an index: the first, the last, and the richest.
func sameAnswers(t *testing.T, plain, all *core.DB, index string) {
	t.Helper()
	ctx := t.Context()
	both := func(what string, ask func(db *core.DB) (any, error)) any {
		t.Helper()
		want, err1 := ask(plain)
		got, err2 := ask(all)
		if err1 != nil || err2 != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("%s:\nwithout: %.600v, %v\nwith:    %.600v, %v", what, want, err1, got, err2)
		}
		return got
	}
	var values []string
	for _, descending := range []bool{false, true} {
		a := both("values "+index, func(db *core.DB) (any, error) {
			return db.Values(ctx, index, query.Page{Limit: 5, Descending: descending})
		})
		for _, v := range a.(*query.ValuesAnswer).Values {
			values = append(values, v.Value)
		}
	}
	if len(values) == 0 {
		t.Errorf("no output has a value of %s", index)
	}
	a := both("richest "+index, func(db *core.DB) (any, error) { return richest.Of(ctx, db.Queries, index, "", 7) })
	for _, v := range a.(*query.RichestAnswer).Values {
		values = append(values, v.Value)
	}
	for _, value := range values {
		at := index + " " + value
		both("balance "+at, func(db *core.DB) (any, error) {
			b, err := db.Balance(ctx, index, value)
			if err == nil {
				b.OutputTypes = nil // only in databases with the option balance
			}
			return b, err
		})
		for _, descending := range []bool{false, true} {
			p := query.Page{Limit: 10, Descending: descending}
			both("unspent of "+at, func(db *core.DB) (any, error) {
				a, err := db.Find(ctx, index, value, query.Terms{Unspent: true}, query.Page{Limit: query.MaxLimit, Descending: descending})
				if err == nil {
					a.Next = nil // without the stored unspent outputs, only an empty next page shows the end
				}
				return a, err
			})
			both("history of "+at, func(db *core.DB) (any, error) { return db.History(ctx, index, value, query.Range{}, p) })
		}
		prefix := value[:min(len(value), 6)]
		a, err := all.ValuesByText(ctx, index, prefix, query.Page{Limit: 1000})
		if err != nil {
			t.Fatal(err)
		}
		found := slices.ContainsFunc(a.Values, func(v query.ValueAnswer) bool { return v.Value == value })
		for _, v := range a.Values {
			if !strings.HasPrefix(v.Value, prefix) {
				t.Errorf("%s %s does not begin with %s", index, v.Value, prefix)
			}
		}
		if !found && a.Next == nil {
			t.Errorf("%s is missing from the values with prefix %s", at, prefix)
		}
	}
	assets, err := all.Assets(ctx, query.Page{Limit: 3})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range assets.Assets {
		both("richest "+index+" of "+a.Asset, func(db *core.DB) (any, error) { return richest.Of(ctx, db.Queries, index, a.Asset, 5) })
	}
}

// The preset has exactly the indexes that the chain offers, in settings and as a flag.
func TestPresetExplorer(t *testing.T) {
	t.Parallel()
	const hot = "balance: true unspent: true history: true"
	for chain, want := range map[string]string{
		"bitcoin": "indexes: address: " + hot, "ergo": "indexes: address: " + hot,
		"cardano": "indexes: address: " + hot + " policy: balance: true unspent: false history: false stake_credential: " + hot,
	} {
		r := birthmark("config", "--config", writeConfig(t, "chain: "+chain+"\nindexes: explorer\n"))
		text := strings.NewReplacer(" prefix: false", "", " statistics: false", "").Replace(strings.Join(strings.Fields(r.stdout), " "))
		if r.status != exitDone || !strings.Contains(text, want) || chain != "cardano" && strings.Contains(text, "policy") {
			t.Errorf("%s: %+v, expected %s", chain, r, want)
		}
	}
	db := filepath.Join(t.TempDir(), "db")
	syncTo(t, db, "file://"+realBlocks(t), "--index", "explorer", "--to-height", "200")
	if r := birthmark("index", "list", "--db", db); r.status != exitDone || !strings.Contains(r.stdout, "balance, unspent, history") || strings.Contains(r.stdout, "policy") {
		t.Errorf("%+v", r)
	}
	wantFailure(t, exitUsage, "unknown_index", `--index: bitcoin has no index "policy"`,
		"sync", "--db", db, "--source", "file://"+realBlocks(t), "--index", "explorer,policy")
}
