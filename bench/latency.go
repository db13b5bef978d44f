package bench

import (
	"context"
	"math"
	"slices"
	"time"
)

// Latencies are percentiles of latencies. The name of the containing field gives the unit.
type Latencies struct {
	Count int     `json:"count"`
	P50   float64 `json:"p50"`
	P90   float64 `json:"p90"`
	P99   float64 `json:"p99"`
	Max   float64 `json:"max"`
}

// Percentiles returns the percentiles of took, which it sorts.
func Percentiles(took []time.Duration, unit time.Duration) Latencies {
	if len(took) == 0 {
		return Latencies{}
	}
	slices.Sort(took)
	at := func(share float64) float64 {
		i := max(int(math.Ceil(share*float64(len(took))))-1, 0)
		return float64(took[i]) / float64(unit)
	}
	return Latencies{len(took), at(0.5), at(0.9), at(0.99), at(1)}
}

// ask calls question with 0, 1, … n-1 until limit has passed, at least once, and returns the durations.
func ask(ctx context.Context, n int, limit time.Duration, question func(i int) error) (took []time.Duration, err error) {
	for began, i := time.Now(), 0; i < n && (i == 0 || time.Since(began) < limit); i++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		asked := time.Now()
		if err := question(i); err != nil {
			return nil, err
		}
		took = append(took, time.Since(asked))
	}
	return took, nil
}
