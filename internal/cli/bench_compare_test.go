package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"birthmark/bench/benchcmd"
	"birthmark/bench/compare"
)

// Every figure of every part is measured in each round with both programs.
func TestBenchCompareOfAProgramWithItself(t *testing.T) {
	slow(t)
	t.Parallel()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for chain, c := range map[string]struct {
		rounds int
		parts  []string
	}{
		"bitcoin": {1, []string{"sync", "log", "files", "tip", "query", "http", "esplora", "electrum"}},
		"ergo":    {2, []string{"files", "sync", "query"}},
	} {
		var a benchcmd.CompareAnswer
		line := fmt.Sprintf("compare --txs 1500 --block-txs 100 --blocks 2 --seconds 1 --samples 20 --rounds %d --chain %s",
			c.rounds, chain)
		if chain != "bitcoin" {
			line += " --parts " + strings.Join(c.parts, ",")
		}
		ask(t, &a, append(benchTo(t, line), self, self)...)
		if a.Chain != chain || a.Txs != 1500 || a.Rounds != c.rounds {
			t.Errorf("%+v", a)
		}
		var names []string
		for _, f := range a.Figures {
			if !slices.Contains(names, f.Part) {
				names = append(names, f.Part)
			}
			of := fmt.Sprint(chain, ": ", f.Part, ", ", f.Figure)
			// The kernel may count CPU time in ticks: that of a short run can be 0.
			if len(f.Old) != c.rounds || len(f.New) != c.rounds ||
				slices.Min(slices.Concat(f.Old, f.New)) <= 0 && !strings.Contains(f.Figure, "CPU") {
				t.Errorf("%s: %+v", of, f)
			}
			if f.Ratio != compare.Of(f.Old, f.New, f.Higher) || f.Verdict != f.Ratio.Verdict() {
				t.Errorf("%s: %+v", of, f)
			}
		}
		if !slices.Equal(names, c.parts) {
			t.Errorf("%s: parts %v, expected %v", chain, names, c.parts)
		}
	}
}

func TestBenchCompareRejectsInvalidFlags(t *testing.T) {
	t.Parallel()
	bench := func(more ...string) []string { return append([]string{"bench", "compare"}, more...) }
	wantFailure(t, exitUsage, "bad_value",
		`^--parts: expected some of sync, log, files, tip, query, http, not "electrum"$`,
		bench("--chain", "ergo", "--parts", "electrum", "x", "y")...)
	wantFailure(t, exitUsage, "bad_value", `^--rounds: expected a number from 1 to 1000`,
		bench("--rounds", "0", "x", "y")...)
	wantFailure(t, exitUsage, "missing_argument", `^missing argument NEW`, bench("x")...)
	none := filepath.Join(t.TempDir(), "none")
	wantFailure(t, exitUsage, "missing_program", `none is not a program`, bench(none, none)...)
}
