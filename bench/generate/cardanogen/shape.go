package cardanogen

import (
	"math"

	"birthmark/bench/generate/distribution"
)

// The shape of mainnet's Conway era, counted in its blocks: 6.5 transactions in a block, each with 3.16 inputs (one in
// a hundred has 27), 3.14 outputs (20) and 1,439 bytes; 45% of outputs hold assets, 6.8 in the mean (one in ten 12, one
// in a hundred 127, at most 490), 24% have a datum. Generated transactions have 3.05 inputs: no chain can spend more
// than it makes for long. The shares of asset operations were found by experiment.
const (
	defaultTxsPerBlock = 6.5

	// The age in blocks of spent outputs is log-normal: half are younger than 17 blocks, 90% younger than 186.
	medianAge = 17
	sigmaAge  = 1.87

	scriptDatums   = 0.93  // outputs to scripts that have a datum,
	keyDatums      = 0.024 // and other outputs; a quarter in total
	inlineDatums   = 0.6   // share of datums that are inline
	referenceShare = 0.002 // outputs with a reference script
	legacyShare    = 0.35  // share of plain outputs in array form
	failedShare    = 0.004 // transactions with failed scripts
	metadataShare  = 0.35  // transactions with metadata

	// Recipients of outputs. The rest goes to ordinary used addresses.
	hotShare    = 0.05 // one address
	headShare   = 0.18 // the most used addresses, Zipf-distributed
	freshShare  = 0.16 // new addresses
	changeShare = 0.30 // the address of an input
	headSize    = 5000
	headPower   = 0.9

	scriptCredentials = 400 // contracts; their addresses differ in the stake key

	// A transaction keeps most assets of its inputs in its last output. More is burned than on mainnet, since no wallet
	// collects what was split.
	entriesPerOutput = 3.06 // mean: 6.8 in 45% of outputs
	lately           = 2000 // outputs over which the mean is taken, to correct it by mints and burns
	mostEntries      = 490  // in one output
	sharedBag        = 0.90 // other outputs that get a part of the inputs' assets
	hotPart          = 0.15 // parts that begin with the hot asset
	splitEntry       = 0.88 // assets of a part of which only some of the amount is given
	splitBag         = 0.06 // transactions that put the rest into two outputs
	mintShare        = 0.10 // transactions that mint
	burnShare        = 0.05 // and that burn one asset
	endowShare       = 0.15 // and that mint many if outputs hold too few
	policyShare      = 0.02 // new assets with a new policy

	meanLines     = 9 // of metadata, if there is any
	slotsPerBlock = 20
)

var (
	ages     = distribution.LogNormal{Median: medianAge, Sigma: sigmaAge}
	mostUsed = distribution.Zipf{Size: headSize, Flat: 1 - headPower} // of addresses

	inputCounts  = distribution.Spans{{0.53, 1, 1}, {0.21, 2, 2}, {0.15, 3, 5}, {0.08, 6, 12}, {0.02, 13, 27}, {0.01, 28, 60}}
	outputCounts = distribution.Spans{{0.26, 1, 1}, {0.45, 2, 2}, {0.19, 3, 5}, {0.075, 6, 12}, {0.016, 13, 20}, {0.009, 21, 60}}

	// heldCounts is the number of assets of an output that has some, partCounts the number that an output gets from the
	// inputs, newCounts the number of new assets that a transaction mints.
	heldCounts = distribution.Spans{{0.50, 1, 1}, {0.16, 2, 2}, {0.13, 3, 5}, {0.11, 6, 12}, {0.07, 13, 40}, {0.02, 41, 127}, {0.01, 128, mostEntries}}
	partCounts = distribution.Spans{{0.56, 1, 1}, {0.17, 2, 2}, {0.14, 3, 5}, {0.09, 6, 12}, {0.04, 13, 80}}
	newCounts  = distribution.Spans{{0.85, 1, 1}, {0.10, 2, 5}, {0.05, 6, 60}}
)

// age draws the age in blocks of a spent output; 0 is the same block.
func age(r distribution.Random) int { return int(ages.Draw(r)) }

// blockTxs draws the number of transactions of a block. Small blocks vary much, as on mainnet, full ones little.
func blockTxs(r distribution.Random, mean float64) int {
	if mean < 20 {
		return int(math.Log(r.Float64()) / math.Log(mean/(mean+1)))
	}
	return r.Around(mean)
}
