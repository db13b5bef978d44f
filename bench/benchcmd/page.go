package benchcmd

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"birthmark/bench"
	"birthmark/internal/cli/terminal"
	"birthmark/internal/config"
	"birthmark/internal/humanize"
)

// Figures of several pages.

// whole rounds a figure.
func whole(f float64) uint64 { return uint64(f + 0.5) }

// peakMemory returns the peak of a run's memory and, if it has one, its bound.
func peakMemory(r *bench.Result) terminal.Cell {
	peak, bound := humanize.Bytes(r.PeakRSS), humanize.Bytes(r.PeakRSSBound)
	switch {
	case r.WithinBound == nil:
		return terminal.Right(peak)
	case *r.WithinBound:
		return terminal.Right(peak + " of " + bound)
	}
	return terminal.Red(terminal.Right(peak + ", over its bound of " + bound))
}

// quartersLine returns the transactions per second of each quarter of a run.
func quartersLine(r *bench.Result) string {
	quarters := make([]string, len(r.Quarters))
	for i, q := range r.Quarters {
		quarters[i] = humanize.Count(uint64(q))
	}
	return strings.Join(quarters, " ")
}

// stagesLine returns the busy time of each stage.
func stagesLine(r *bench.Result) string {
	var stages []string
	for _, name := range slices.Sorted(maps.Keys(r.Stages)) {
		stages = append(stages, fmt.Sprintf("%s %.2f s", name, r.Stages[name]))
	}
	return strings.Join(stages, "  ")
}

// indexesLine returns the names of indexes with their options.
func indexesLine(views map[string]config.IndexView) string {
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(views)) {
		v, options := views[name], []string{}
		for _, o := range []struct {
			on   bool
			name string
		}{{v.Value != "", "custom"}, {v.Balance, "balance"}, {v.Unspent, "unspent"}, {v.History, "history"}, {v.Prefix, "prefix"}, {v.Statistics, "statistics"}} {
			if o.on {
				options = append(options, o.name)
			}
		}
		if len(options) > 0 {
			name += " (" + strings.Join(options, ", ") + ")"
		}
		texts = append(texts, name)
	}
	return strings.Join(texts, ", ")
}

// showLatencies prints a row per name that has latencies.
func showLatencies(p *terminal.Page, names []string, of map[string]bench.Latencies) {
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool { _, ok := of[name]; return !ok })
	columns := []string{"what", "times", "p50", "p90", "p99", "max"}
	terminal.Table(p, names, columns, func(_ int, name string) terminal.Cells {
		l := of[name]
		return terminal.Cells{terminal.Green(name), l.Count, terminal.Bold(l.P50), l.P90, l.P99, l.Max}
	})
}
