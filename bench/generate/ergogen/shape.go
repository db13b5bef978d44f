package ergogen

import (
	"math"

	"birthmark/bench/generate/distribution"
)

// The shape of mainnet around height 1,796,000, with what is known of whole chains where a hundred blocks say little.
const (
	defaultTxsPerBlock = 6.85

	// The age in blocks of what inputs look for is log-normal. As fees are spent in the block they are paid in, and old
	// blocks have little left, half of what is spent is younger than 3 blocks.
	medianAge = 50
	sigmaAge  = 1.6

	feeShare    = 0.74 // transactions that pay a fee
	dataShare   = 0.11 // that look at other boxes
	readMost    = 3    // so many at most
	proofShare  = 0.56 // inputs with a proof; those of keys have one
	contextMost = 2    // variables in the extension of an input that has any

	// To whom boxes go. What is left of 1 goes to scripts used before that are in no way special.
	hotShare    = 0.06 // one single script
	headShare   = 0.40 // the most used scripts, by Zipf's law
	freshShare  = 0.03 // a script never used before
	changeShare = 0.30 // the script of one of the inputs
	headSize    = 2000
	headPower   = 0.9

	// What scripts are, by the first use of each.
	keyShare        = 0.50
	scriptHashShare = 0.01
	brokenShare     = 0.002 // trees that cannot be parsed

	registerShare = 0.38 // boxes with registers, but for those of fees: 31% of all
	knownValue    = 0.4  // registers that have a value of others

	// Tokens. A transaction keeps most of what its inputs hold in its last box.
	entriesPerBox = 1.10 // in the mean, but for those of fees: 1.96 in 46% of all
	mostEntries   = 255  // in one box
	lately        = 1000 // boxes that the mean is taken of, to mint or burn where it goes astray
	sharedBag     = 1.00 // other boxes that get a part of what the inputs hold
	strayShare    = 0.5  // of the rest, that does not go to the last
	hotPart       = 0.15 // parts that begin with the token held by more boxes than any other
	splitEntry    = 0.97 // tokens in a part of which only some of the amount is given
	mintShare     = 0.03 // transactions that mint,
	endowShare    = 0.30 // and that do where boxes hold too few
	spreadShare   = 0.30 // of what is minted, over all boxes of the transaction
	burnShare     = 0.03 // transactions that burn one,
	relieveShare  = 0.50 // and that burn some where boxes hold too many
	twiceShare    = 0.01 // boxes with tokens that hold one twice
	firstFull     = 20
	fullEvery     = 200 // blocks; a transaction of the 20th, 220th … makes a box of as many entries as there can be
)

var (
	ages     = distribution.LogNormal{Median: medianAge, Sigma: sigmaAge}
	mostUsed = distribution.Zipf{Size: headSize, Flat: 1 - headPower} // of scripts

	inputCounts  = distribution.Spans{{0.365, 1, 1}, {0.18, 2, 2}, {0.22, 3, 5}, {0.15, 6, 10}, {0.055, 11, 20}, {0.02, 21, 40}, {0.01, 41, 100}}
	outputCounts = distribution.Spans{{0.20, 1, 1}, {0.33, 2, 2}, {0.33, 3, 5}, {0.11, 6, 10}, {0.02, 11, 21}, {0.01, 22, 50}}
	partCounts   = distribution.Spans{{0.80, 1, 1}, {0.15, 2, 2}, {0.04, 3, 5}, {0.0095, 6, 12}, {0.0005, 13, 71}}

	registerCounts = distribution.Spans{{0.39, 1, 1}, {0.04, 2, 2}, {0.52, 3, 3}, {0.05, 4, 6}}
)

// age draws how many blocks ago what is spent was made; 0 is in the same block.
func age(r distribution.Random) int { return int(ages.Draw(r)) }

// blockTxs draws how many transactions a block has, besides those of its miner. Small ones differ much, as on mainnet,
// and full ones little.
func blockTxs(r distribution.Random, mean float64) int {
	mean = max(mean-minerTxs, 0.5)
	if mean < 20 {
		return int(math.Log(1-r.Float64()) / math.Log(mean/(mean+1)))
	}
	return r.Around(mean)
}

// minerTxs is how many transactions a block's miner adds, in most blocks: one takes what he is paid, one gathers fees.
const minerTxs = 2
