package bench

import "slices"

// Median returns the medians of the figures of runs on the same blocks.
func Median(runs []*Result) *Result {
	if len(runs) == 1 {
		return runs[0]
	}
	m := *runs[0]
	of := func(figure func(*Result) float64) float64 {
		values := make([]float64, len(runs))
		for i, r := range runs {
			values[i] = figure(r)
		}
		return MedianOf(values)
	}
	for _, figure := range []func(*Result) *float64{
		func(r *Result) *float64 { return &r.TxsPerSecond },
		func(r *Result) *float64 { return &r.SettledTxsPerSecond },
		func(r *Result) *float64 { return &r.BlocksPerSecond },
		func(r *Result) *float64 { return &r.EntitiesPerSecond },
		func(r *Result) *float64 { return &r.CPUMicrosPerTx },
		func(r *Result) *float64 { return &r.RowsPerTx },
		func(r *Result) *float64 { return &r.BytesPerTx },
		func(r *Result) *float64 { return &r.BytesWrittenPerTx },
		func(r *Result) *float64 { return &r.BytesReadPerTx },
		func(r *Result) *float64 { return &r.ReadsPerTx },
		func(r *Result) *float64 { return &r.LookupsPerTx },
		func(r *Result) *float64 { return &r.Quarters[0] },
		func(r *Result) *float64 { return &r.Quarters[1] },
		func(r *Result) *float64 { return &r.Quarters[2] },
		func(r *Result) *float64 { return &r.Quarters[3] },
	} {
		*figure(&m) = of(func(r *Result) float64 { return *figure(r) })
	}
	m.PeakRSS = int64(of(func(r *Result) float64 { return float64(r.PeakRSS) }))
	if m.WithinBound != nil {
		m.WithinBound = new(m.PeakRSS <= m.PeakRSSBound)
	}
	byName := func(figures func(*Result) map[string]float64) map[string]float64 {
		medians := map[string]float64{}
		for name := range figures(runs[0]) {
			medians[name] = of(func(r *Result) float64 { return figures(r)[name] })
		}
		return medians
	}
	m.Stages = byName(func(r *Result) map[string]float64 { return r.Stages })
	m.CacheMissesPerTx = byName(func(r *Result) map[string]float64 { return r.CacheMissesPerTx })
	return &m
}

// MedianOf returns the median of values and sorts them.
func MedianOf(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	return (values[(n-1)/2] + values[n/2]) / 2
}
