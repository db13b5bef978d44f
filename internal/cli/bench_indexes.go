package cli

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"birthmark/bench"
	"birthmark/chains"
	"birthmark/chains/bitcoin"
	"birthmark/chains/ergo"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/model"
)

// indexFile takes the indexes of a generated chain from a settings file, which may have nothing else.
func indexFile(path string, chain *bench.Chain) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return usageError("no_settings", "--index-file: %w", err)
	}
	s, err := config.Parse(path, text)
	if err != nil {
		return err
	}
	set, err := s.One([]config.Override{{Key: "chain", Value: chain.Name, Origin: "--chain"}})
	if err != nil {
		return err
	}
	if len(set.Indexes) == 0 {
		return usageError("bad_setting", "%s: expected indexes of %s", path, chain.Name)
	}
	offered, err := chains.New(chain.Name, "")
	if err != nil {
		return err
	}
	defined, err := daemon.Define(offered, set)
	if err != nil {
		return err
	}
	if _, err := daemon.IndexesOf(set, defined); err != nil {
		return err
	}
	chain.Indexes, chain.Definitions = set.IndexNames(), set.Definitions()
	for name, keep := range set.IndexOptions() {
		if keep == (model.IndexOptions{}) {
			continue
		}
		if chain.Keep == nil {
			chain.Keep = map[string]model.IndexOptions{}
		}
		chain.Keep[name] = keep
	}
	chain.Serialized = chain.Name == bitcoin.Name && !bench.Generates(chain.Indexes)
	return nil
}

// indexesSet are the indexes of a generated chain as settings have them.
func indexesSet(chain *bench.Chain) (set []config.Index) {
	for _, name := range chain.Indexes {
		set = append(set, config.Index{Name: name, Options: chain.Keep[name]})
	}
	for i := range chain.Definitions {
		j := slices.IndexFunc(set, func(ix config.Index) bool { return ix.Name == chain.Definitions[i].Name })
		set[j].Definition = &chain.Definitions[i]
	}
	return set
}

// benchIndexes are the indexes of a generated chain with what is kept for each.
func benchIndexes(chain *bench.Chain) map[string]config.IndexView {
	set := config.Chain{Indexes: indexesSet(chain)}
	return set.View("", nil).Indexes
}

// evaluatedTxs is the number of transactions in the blocks that measure custom indexes.
const evaluatedTxs = 20_000

// evaluation measures what custom indexes add to decoding; nil if there are none.
func evaluation(ctx context.Context, chain *bench.Chain) (map[string]*bench.Evaluation, error) {
	if len(chain.Definitions) == 0 {
		return nil, nil
	}
	network := map[string]string{ergo.Name: generatedErgo, bitcoin.Name: generatedBitcoin}[chain.Name]
	adapter, err := chains.New(chain.Name, network)
	if err != nil {
		return nil, err
	}
	blocks, err := bench.GeneratedBlocks(chain.Name, chain.Seed, float64(chain.TxsPerBlock), evaluatedTxs)
	if err != nil {
		return nil, err
	}
	return bench.Evaluate(ctx, adapter, chain.Definitions, blocks)
}

func (p *page) evaluation(of map[string]*bench.Evaluation) {
	if len(of) == 0 {
		return
	}
	var rows [][]cell
	for _, name := range slices.Sorted(maps.Keys(of)) {
		e := of[name]
		rows = append(rows, []cell{
			{name, green}, text(count(uint64(e.Outputs))), text(count(uint64(e.Values))), {fmt.Sprintf("%.0f", e.Nanos), bold},
			text(fmt.Sprintf("%.2f", e.Allocs)), text(fmt.Sprintf("%.0f", e.Base)),
		})
	}
	p.heading("what indexes of one's own add to decoding")
	p.table([]column{{name: "index"}, {"outputs", true}, {"values", true}, {"CPU ns an output", true}, {"allocations", true}, {"without, ns", true}}, rows)
}

// indexesLine is indexes and what is kept for them, for people.
func indexesLine(views map[string]config.IndexView) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(views)) {
		v, kept := views[name], []string{}
		for _, o := range []struct {
			on   bool
			name string
		}{{v.Value != "", "own"}, {v.Balance, "balance"}, {v.Unspent, "unspent"}, {v.History, "history"}, {v.Prefix, "prefix"}} {
			if o.on {
				kept = append(kept, o.name)
			}
		}
		if len(kept) > 0 {
			name += " (" + strings.Join(kept, ", ") + ")"
		}
		texts = append(texts, name)
	}
	return strings.Join(texts, ", ")
}
