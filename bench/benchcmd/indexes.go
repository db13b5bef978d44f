package benchcmd

import (
	"context"
	"fmt"
	"maps"
	"os"
	"slices"

	"birthmark/bench"
	"birthmark/bench/generate"
	"birthmark/chains"
	"birthmark/chains/bitcoin"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/model"
)

// readIndexFile reads the indexes of a generated chain from a settings file. Other settings of the file are ignored.
func readIndexFile(path string, chain *bench.Chain) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return command.UsageError("no_settings", "--index-file: %w", err)
	}
	s, err := config.Parse(path, text)
	if err != nil {
		return err
	}
	if err := s.Override(config.Override{Key: "chain", Value: chain.Name, Origin: "--chain"}); err != nil {
		return err
	}
	set, err := s.One()
	if err != nil {
		return err
	}
	if len(set.Indexes) == 0 {
		return command.UsageError("bad_setting", "%s: expected indexes of %s", path, chain.Name)
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
	chain.Keep = set.IndexOptions()
	maps.DeleteFunc(chain.Keep, func(_ string, o model.IndexOptions) bool { return o == (model.IndexOptions{}) })
	if len(chain.Keep) == 0 {
		chain.Keep = nil // as in a saved recording
	}
	chain.Serialized = chain.Name == bitcoin.Name && !bench.Generates(chain.Indexes)
	return nil
}

// configured returns the indexes of a generated chain as settings.
func configured(chain *bench.Chain) (set []config.Index) {
	for _, name := range chain.Indexes {
		set = append(set, config.Index{Name: name, Options: chain.Keep[name]})
	}
	for i := range chain.Definitions {
		j := slices.IndexFunc(set, func(ix config.Index) bool { return ix.Name == chain.Definitions[i].Name })
		set[j].Definition = &chain.Definitions[i]
	}
	return set
}

// indexViews returns the indexes of a generated chain with their options.
func indexViews(chain *bench.Chain) map[string]config.IndexView {
	set := config.Chain{Indexes: configured(chain)}
	return set.View("", nil).Indexes
}

// evaluatedTxs is the number of transactions in the blocks that measure custom indexes.
const evaluatedTxs = 20_000

// evaluation measures the time that custom indexes add to decoding; nil if there are none.
func evaluation(ctx context.Context, chain *bench.Chain) (map[string]*bench.Evaluation, error) {
	if len(chain.Definitions) == 0 {
		return nil, nil
	}
	adapter, err := chains.New(chain.Name, generate.Networks[chain.Name])
	if err != nil {
		return nil, err
	}
	blocks, err := bench.GeneratedBlocks(chain.Name, chain.Seed, float64(chain.TxsPerBlock), evaluatedTxs)
	if err != nil {
		return nil, err
	}
	return bench.Evaluate(ctx, adapter, chain.Definitions, blocks)
}

func showEvaluation(p *terminal.Page, of map[string]*bench.Evaluation) {
	if len(of) == 0 {
		return
	}
	p.Heading("time that custom indexes add to decoding")
	columns := []string{"index", "outputs", "values", "CPU ns per output", "allocations", "without, ns"}
	terminal.Table(p, slices.Sorted(maps.Keys(of)), columns, func(_ int, name string) terminal.Cells {
		e := of[name]
		return terminal.Cells{
			terminal.Green(name), e.Outputs, e.Values, terminal.Bold(whole(e.Nanos)), terminal.Right(fmt.Sprintf("%.2f", e.Allocs)),
			whole(e.Base),
		}
	})
}
