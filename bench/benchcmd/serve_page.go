package benchcmd

import (
	"fmt"
	"maps"
	"slices"

	"birthmark/internal/cli/terminal"
	"birthmark/internal/humanize"
)

func showServe(p *terminal.Page, a *ServeAnswer) {
	requests := mixText(a.Mix)
	if a.Rate > 0 {
		requests += fmt.Sprintf(", %s per second", humanize.Count(uint64(a.Rate)))
	}
	fields := []any{"server", terminal.Green(a.URL)}
	if a.URL == "" {
		fields = []any{"chain", terminal.Green(a.Chain), "transactions", a.Txs, "indexes", indexesLine(a.Indexes)}
	}
	sync := ""
	if s := a.Syncing; s != nil {
		sync = fmt.Sprintf("%s txs/s, %s without requests: %.0f%% less",
			humanize.Count(uint64(s.Loaded)), humanize.Count(uint64(s.Alone)), 100*s.Loss)
	}
	p.Fields(append(fields,
		"requests", requests,
		"connections", a.Connections,
		"requests/s", terminal.Bold(uint64(a.RequestsPerSecond)),
		"errors", a.Errors,
		"sync", sync,
	)...)
	p.Heading("milliseconds")
	latencies := maps.Clone(a.Kinds)
	latencies["all"] = a.Millis
	kinds := append([]string{"all"}, kindsOf(a.Mix)...)
	showLatencies(p, kinds, latencies)

	p.Heading("resources")
	loads := map[string]*LoadAnswer{"all": &a.LoadAnswer}
	maps.Copy(loads, a.PerKind)
	kinds = slices.DeleteFunc(kinds, func(kind string) bool { return loads[kind] == nil })
	columns := []string{
		"kind", "requests/s", "p99 ms", "bytes per answer", "server CPU µs", "client CPU µs", "memory", "growth", "errors",
	}
	terminal.Table(p, kinds, columns, func(i int, kind string) terminal.Cells {
		if i > 0 {
			return loadCells(kind+" only", loads[kind])
		}
		return loadCells(kind, loads[kind])
	})
	if len(a.Failed) > 0 {
		p.Heading("errors")
	}
	terminal.Table(p, slices.Sorted(maps.Keys(a.Failed)), []string{"times", "cause"}, func(_ int, cause string) terminal.Cells {
		return terminal.Cells{a.Failed[cause], terminal.Red(cause)}
	})
}

func loadCells(name string, r *LoadAnswer) terminal.Cells {
	each := func(total float64) float64 { return total / float64(max(r.Requests, 1)) }
	server, memory, growth := terminal.Right(""), "", ""
	if u := r.Server; u != nil {
		server = terminal.Right(fmt.Sprintf("%.1f", each(u.CPUSeconds*1e6)))
		memory, growth = humanize.Bytes(u.RSS[len(u.RSS)-1]), fmt.Sprintf("%.1f MiB", float64(u.Grown())/(1<<20))
	}
	return terminal.Cells{
		terminal.Green(name), terminal.Bold(uint64(r.RequestsPerSecond)), r.Millis.P99, each(float64(r.Bytes)), server,
		each(r.ClientCPU * 1e6), terminal.Right(memory), terminal.Right(growth), r.Errors,
	}
}
