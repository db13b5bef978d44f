package cli

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"birthmark/bench/generate/ergogen"
	"birthmark/chains/indexexpr/recipes"
	"birthmark/core/query"
	"birthmark/internal/testblocks"
	"birthmark/internal/testnode/ergotest"
)

// recipeSettings returns settings with all indexes of a chain and its recipes in docs/indexes.md. The recipes have
// every option.
func recipeSettings(t *testing.T, section, network, indexes string) string {
	t.Helper()
	own, _ := recipes.Of(t, section)
	var s strings.Builder
	fmt.Fprintf(&s, "chain: %s\nnetwork: %s\nindexes:\n", strings.ToLower(section), network)
	const options = "balance: true, unspent: true, history: true, prefix: true"
	for _, name := range strings.Split(indexes, ",") {
		fmt.Fprintf(&s, "  %s: {}\n", name)
	}
	for _, d := range own {
		when := d.When
		if when == "" {
			when = "true"
		}
		fmt.Fprintf(&s, "  %s: { when: %q, value: %q, kind: %s, %s }\n", d.Name, when, d.Value, d.Kind, options)
	}
	return s.String()
}

// Databases with the recipes of the documentation are consistent. After a rollback and a sync from any source they
// equal a database that was synced at once.
func TestRecipesGiveOneDatabase(t *testing.T) {
	slow(t)
	t.Parallel()
	ergoBlocks := ergotest.Made(ergogen.New(ergogen.Options{Seed: 12, TxsPerBlock: 8}), 120)
	node := ergotest.New(ergotest.Options{Network: "testnet"})
	node.Extend(ergoBlocks...)
	for _, c := range []struct {
		section, network, indexes string
		sources                   func(t *testing.T) []string
		half, to                  string
		values                    string // an index with values
	}{
		{"Cardano", "preview", everyCardanoIndex, func(t *testing.T) []string {
			return []string{"file://" + testblocks.Path(t, "cardano", "dingo-immutable")}
		}, "40000", "42000", "asset_name"},
		{"Ergo", "testnet", everyErgoIndex, func(t *testing.T) []string {
			return []string{ergoFile(t, ergoBlocks...), node.Start(t)}
		}, "60", "119", "register_text"},
	} {
		t.Run(c.section, func(t *testing.T) {
			dir, sources := t.TempDir(), c.sources(t)
			file := filepath.Join(dir, "birthmark.yaml")
			write(t, file, recipeSettings(t, c.section, c.network, c.indexes))
			sync := func(db, source string) {
				t.Helper()
				ask(t, nil, "sync", "--config", file, "--source", source, "--db", db, "--to-height", c.to)
			}
			db := filepath.Join(dir, "db")
			sync(db, sources[0])
			consistent(t, db)
			digest := digestOf(t, db)
			for i, source := range sources {
				ask(t, nil, "rollback", "--db", db, "--to-height", c.half)
				if i == 0 {
					consistent(t, db)
				}
				sync(db, source)
				same(t, db, digest)
			}
			var a query.ValuesAnswer
			if ask(t, &a, "values", c.values, "--db", db); len(a.Values) == 0 {
				t.Errorf("%s has no values", c.values)
			}
		})
	}
}
