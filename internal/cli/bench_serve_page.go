package cli

import (
	"fmt"
	"maps"
	"slices"

	"birthmark/bench"
)

func (p *page) benchServe(a *benchServeAnswer) {
	asked := mixText(a.Mix)
	if a.Pace > 0 {
		asked += fmt.Sprintf(", %s a second", count(uint64(a.Pace)))
	}
	fields := []field{
		{"asked", text(asked)},
		{"connections", text(count(uint64(a.Connections)))},
		{"requests/s", cell{count(uint64(a.RequestsPerSecond)), bold}},
		{"errors", text(count(uint64(a.Errors)))},
	}
	if a.URL != "" {
		fields = append([]field{{"server", cell{a.URL, green}}}, fields...)
	} else {
		fields = append([]field{
			{"chain", cell{a.Chain, green}}, {"transactions", text(count(a.Txs))}, {"indexes", text(indexesLine(a.Indexes))},
		}, fields...)
	}
	if s := a.Syncing; s != nil {
		fields = append(fields, field{"sync", text(fmt.Sprintf("%s txs/s, %s when nobody asks: it loses %.0f %%",
			count(uint64(s.Asked)), count(uint64(s.Alone)), 100*s.Loses))})
	}
	p.fields(fields...)
	p.heading("milliseconds")
	of := map[string]bench.Latencies{"all": a.Millis}
	for kind, l := range a.Kinds {
		of[kind] = l
	}
	p.latencies(append([]string{"all"}, kindsOf(a.Mix)...), of)
	p.heading("what it took")
	rows := [][]cell{p.loadRow("all", &a.loadAnswer)}
	for _, kind := range kindsOf(a.Mix) {
		if r := a.ByItself[kind]; r != nil {
			rows = append(rows, p.loadRow(kind+" by itself", r))
		}
	}
	p.table([]column{{name: "what"}, {"requests/s", true}, {"p99 ms", true}, {"bytes an answer", true}, {"server CPU µs", true}, {"client CPU µs", true},
		{"memory", true}, {"grown", true}, {"errors", true}}, rows)
	if len(a.Failed) > 0 {
		p.heading("errors")
		var rows [][]cell
		for _, what := range slices.Sorted(maps.Keys(a.Failed)) {
			rows = append(rows, []cell{text(count(uint64(a.Failed[what]))), {what, red}})
		}
		p.table([]column{{"times", true}, {name: "what"}}, rows)
	}
}

func (p *page) loadRow(name string, r *loadAnswer) []cell {
	each := func(of float64) string { return fmt.Sprintf("%.1f", of/float64(max(r.Requests, 1))) }
	row := []cell{{name, green}, {count(uint64(r.RequestsPerSecond)), bold}, text(fmt.Sprintf("%.1f", r.Millis.P99)), text(each(float64(r.Bytes)))}
	server, memory, grown := "", "", ""
	if u := r.Server; u != nil {
		server, memory, grown = each(u.CPUSeconds*1e6), byteSize(u.RSS[len(u.RSS)-1]), fmt.Sprintf("%.1f MiB", float64(u.Grown())/(1<<20))
	}
	return append(row, text(server), text(each(r.ClientCPU*1e6)), text(memory), text(grown), text(count(uint64(r.Errors))))
}
