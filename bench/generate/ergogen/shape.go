package ergogen

import (
	"math"

	"birthmark/bench/generate/distribution"
)

// The shape of mainnet around height 1,796,000, complemented by figures of whole chains if a hundred blocks are too
// few.
const (
	defaultTxsPerBlock = 6.85

	// The age in blocks of spent boxes is log-normal. Since fees are spent in the block in which they are paid, and old
	// blocks have little left, half of the spent boxes are younger than 3 blocks.
	medianAge = 50
	sigmaAge  = 1.6

	feeShare    = 0.74 // transactions that pay a fee
	dataShare   = 0.11 // transactions with data inputs
	readMost    = 3    // their maximum
	proofShare  = 0.56 // inputs with a proof; those of keys always have one
	contextMost = 2    // maximum of variables in the extension of an input

	// Recipients of boxes. The rest goes to ordinary used scripts.
	hotShare    = 0.06 // one script
	headShare   = 0.40 // the most used scripts, Zipf-distributed
	freshShare  = 0.03 // new scripts
	changeShare = 0.30 // the script of an input
	headSize    = 2000
	headPower   = 0.9

	// Kinds of scripts, by first use.
	keyShare        = 0.50
	scriptHashShare = 0.01
	brokenShare     = 0.002 // trees that cannot be parsed

	registerShare = 0.38 // boxes with registers, without fee boxes: 31% of all
	knownValue    = 0.4  // registers that reuse a value

	// Tokens. A transaction keeps most tokens of its inputs in its last box.
	entriesPerBox = 1.10 // mean, without fee boxes: 1.96 in 46% of all
	mostEntries   = 255  // in one box
	lately        = 1000 // boxes over which the mean is taken, to correct it by mints and burns
	sharedBag     = 1.00 // other boxes that get a part of the inputs' tokens
	strayShare    = 0.5  // share of the rest that does not go to the last box
	hotPart       = 0.15 // parts that begin with the hot token
	splitEntry    = 0.97 // tokens of a part of which only some of the amount is given
	mintShare     = 0.03 // transactions that mint
	endowShare    = 0.30 // and that mint if boxes hold too few
	spreadShare   = 0.30 // mints spread over all boxes of the transaction
	burnShare     = 0.03 // transactions that burn one token
	relieveShare  = 0.50 // and that burn some if boxes hold too many
	twiceShare    = 0.01 // boxes with tokens that hold one twice
	firstFull     = 20
	fullEvery     = 200 // blocks; a transaction of the 20th, 220th … makes a box with the maximum number of entries
)

var (
	ages     = distribution.LogNormal{Median: medianAge, Sigma: sigmaAge}
	mostUsed = distribution.Zipf{Size: headSize, Flat: 1 - headPower} // of scripts

	inputCounts  = distribution.Spans{{0.365, 1, 1}, {0.18, 2, 2}, {0.22, 3, 5}, {0.15, 6, 10}, {0.055, 11, 20}, {0.02, 21, 40}, {0.01, 41, 100}}
	outputCounts = distribution.Spans{{0.20, 1, 1}, {0.33, 2, 2}, {0.33, 3, 5}, {0.11, 6, 10}, {0.02, 11, 21}, {0.01, 22, 50}}
	partCounts   = distribution.Spans{{0.80, 1, 1}, {0.15, 2, 2}, {0.04, 3, 5}, {0.0095, 6, 12}, {0.0005, 13, 71}}

	registerCounts = distribution.Spans{{0.39, 1, 1}, {0.04, 2, 2}, {0.52, 3, 3}, {0.05, 4, 6}}
)

// age draws the age in blocks of a spent box; 0 is the same block.
func age(r distribution.Random) int { return int(ages.Draw(r)) }

// blockTxs draws the number of transactions of a block without its miner's. Small blocks vary much, as on mainnet, full
// ones little.
func blockTxs(r distribution.Random, mean float64) int {
	mean = max(mean-minerTxs, 0.5)
	if mean < 20 {
		return int(math.Log(1-r.Float64()) / math.Log(mean/(mean+1)))
	}
	return r.Around(mean)
}

// minerTxs is the usual number of miner's transactions in a block: one takes the reward, one collects fees.
const minerTxs = 2
