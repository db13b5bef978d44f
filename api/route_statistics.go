package api

import (
	"context"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"birthmark/api/docs"
	"birthmark/core/query"
)

// statisticsOperations are the questions about sums of blocks and periods.
func statisticsOperations() []*operation {
	return []*operation{
		get("stats", "/stats", "chain", "List the series of statistics",
			"Empty if the database has neither the index statistics nor an index with the option statistics.",
			query.StatisticsNamesAnswer{},
			func(ctx context.Context, v *query.View, _ *request) (any, error) { return v.StatisticsNames(ctx) }).
			shown(docs.Example{Path: "/stats"}),
		listing(get("statsSeries", "/stats/{series}", "chain", "List the numbers of a series",
			"Per block, day, week or month, such as transactions, fees, or `address.active`. A block belongs to the day of its "+
				"own time (UTC). Periods without blocks are left out.", query.StatisticsAnswer{},
			func(ctx context.Context, v *query.View, q *request) (any, error) {
				unit := q.unit
				if unit == "" {
					unit = "day"
				}
				return v.Statistics(ctx, q.args[0], unit, q.within, q.page)
			}).
			with([]*parameter{byParameter}, rangeParameters, orderedParameters).
			shown(docs.Example{Path: "/stats/transactions?by=month&limit=3"}),
			func(a *query.StatisticsAnswer) ([]query.StatisticAnswer, *string) { return a.Values, a.Next }),
	}
}

// byParameter is the unit of statistics.
var byParameter = newParameter("by", huma.TypeString, "The numbers of each `block`, `day`, `week` (from Monday) or `month`, in UTC.",
	strings.Join(query.StatisticsUnits, ", "), func(q *request, value string) bool {
		q.unit = value
		return slices.Contains(query.StatisticsUnits, value)
	}).documented("month", "day", "block", "day", "week", "month")
