package distribution

import (
	"math"
	"testing"

	"birthmark/internal/testseed"
)

func TestTableDrawsByWeight(t *testing.T) {
	const draws = 1_000_000
	r := NewRandom(testseed.New(t), 0)
	for _, weights := range [][]float64{{3}, {1, 1}, {0, 5, 0}, {1, 2, 3, 4}, {0.001, 7, 0.5, 0.5, 12}} {
		table, sum := NewTable(weights...), 0.0
		for _, w := range weights {
			sum += w
		}
		counts := make([]float64, len(weights))
		for range draws {
			counts[table.Draw(r)]++
		}
		for i, w := range weights {
			share := w / sum
			// Six standard deviations, or exact if only one number is possible.
			if off := math.Abs(counts[i] - draws*share); off > 6*math.Sqrt(draws*share*(1-share)) {
				t.Errorf("%v: %d was drawn %v times in %d", weights, i, counts[i], draws)
			}
		}
	}
}
