package bitcoingen

import (
	"math"

	"birthmark/bench/generate/distribution"
)

// The shape of Bitcoin since about block 550,000: from 130 blocks of mainnet, exports of the whole chain at block
// 916,467 (1.25 G transactions, 3.13 G inputs, 3.46 G outputs, 1.44 G addresses) and a list of its most used scripts.
const (
	sameBlockSpends = 0.23 // inputs that spend an output of the same block

	// The age in blocks of outputs spent by other inputs is log-normal.
	medianAge = 40
	sigmaAge  = 3.0

	// Recipients of outputs. The rest goes to ordinary used addresses.
	freshOutputs = 0.415 // new addresses
	headOutputs  = 0.10  // the most used addresses, Zipf-distributed
	hotOutputs   = 0.095 // one address: more than a million uses in 4 million transactions
	headSize     = 13150 // addresses used more than 4,000 times
	headExponent = 0.9

	// Outputs to an ordinary used address whose first use is in the same block.
	reuseInBlock = 0.35
)

// inputShape and outputShape are the numbers of inputs and outputs per transaction: the shares of 1 and 2, of 3 to 5,
// and of 6 and more, where the share of n falls with n^-(1+tail). The tails give means of 2.25 and 2.72.
var (
	inputShape  = counts{one: 0.83, two: 0.09, few: 0.052, tail: 0.85, most: 1012}
	outputShape = counts{one: 0.19, two: 0.73, few: 0.05, tail: 0.92, most: 628}
)

var ages = distribution.LogNormal{Median: medianAge, Sigma: sigmaAge}

// age draws an age in blocks, at least 1.
func age(r distribution.Random) int { return int(max(1, math.Round(ages.Draw(r)))) }

// Shape draws numbers of inputs and outputs. It is immutable, so generators can share it.
type Shape struct{ inputs, outputs *distribution.Table }

// NewShape builds a table of all counts, which takes some time.
func NewShape() *Shape { return &Shape{inputShape.table(), outputShape.table()} }

// Inputs draws a number of inputs, from 1 to 1,012.
func (s *Shape) Inputs(r distribution.Random) int { return s.inputs.Draw(r) + 1 }

// Outputs draws a number of outputs, from 1 to 628.
func (s *Shape) Outputs(r distribution.Random) int { return s.outputs.Draw(r) + 1 }

type counts struct {
	one, two, few float64
	tail          float64
	most          int
}

// table draws a count minus 1.
func (c counts) table() *distribution.Table {
	w := make([]float64, c.most)
	w[0], w[1] = c.one, c.two
	w[2], w[3], w[4] = c.few*0.5, c.few*0.3, c.few*0.2
	sum := 0.0
	for n := 6; n <= c.most; n++ {
		w[n-1] = math.Pow(float64(n), -1-c.tail)
		sum += w[n-1]
	}
	for n := 6; n <= c.most; n++ {
		w[n-1] *= (1 - c.one - c.two - c.few) / sum
	}
	return distribution.NewTable(w...)
}
