package cardanogen

import (
	"math"

	"birthmark/bench/generate/distribution"
)

// The shape of mainnet's Conway, as counted in blocks of that era: 6.5 transactions in a block, each with 3.16 inputs
// (of one in a hundred 27), 3.14 outputs (20) and 1,439 bytes; 45% of outputs hold assets, 6.8 in the mean (of one in ten
// 12, of one in a hundred 127, at most 490), 24% have a datum. Generated transactions have 3.05 inputs: no chain can spend
// more than it makes for long. The shares of what a transaction does with assets were found by trying.
const (
	defaultTxsPerBlock = 6.5

	// The age in blocks of what inputs spend is log-normal: half is younger than 17 blocks, 90% younger than 186.
	medianAge = 17
	sigmaAge  = 1.87

	scriptDatums   = 0.93  // outputs to scripts that have a datum,
	keyDatums      = 0.024 // and others; together a quarter
	inlineDatums   = 0.6   // of those not given as a hash
	referenceShare = 0.002 // outputs with a reference script
	legacyShare    = 0.35  // outputs without either that are arrays and not maps
	failedShare    = 0.004 // transactions whose scripts failed
	metadataShare  = 0.35  // transactions with metadata

	// To whom outputs go. What is left of 1 goes to addresses used before that are in no way special.
	hotShare    = 0.05 // one single address
	headShare   = 0.18 // the most used addresses, by Zipf's law
	freshShare  = 0.16 // an address never used before
	changeShare = 0.30 // an address of one of the inputs
	headSize    = 5000
	headPower   = 0.9

	scriptCredentials = 400 // contracts: their addresses differ in who stakes

	// A transaction keeps most of what its inputs hold together in its last output. More is burned than on mainnet, as
	// nobody here gathers what was split.
	entriesPerOutput = 3.06 // in the mean: 6.8 in 45% of outputs
	lately           = 2000 // outputs that the mean is taken of, to mint or burn where it goes astray
	mostEntries      = 490  // in one output
	sharedBag        = 0.90 // other outputs that get a part of what the inputs hold
	hotPart          = 0.15 // parts that begin with the hot asset
	splitEntry       = 0.88 // assets in a part of which only some of the amount is given
	splitBag         = 0.06 // transactions that leave the rest in two outputs and not in one
	mintShare        = 0.10 // transactions that mint some,
	burnShare        = 0.05 // and that burn one,
	endowShare       = 0.15 // and that mint many where outputs hold too few
	policyShare      = 0.02 // new assets that have a new policy

	meanLines     = 9 // of metadata, where there is some
	slotsPerBlock = 20
)

var (
	ages     = distribution.LogNormal{Median: medianAge, Sigma: sigmaAge}
	mostUsed = distribution.Zipf{Size: headSize, Flat: 1 - headPower} // of addresses

	inputCounts  = distribution.Spans{{0.53, 1, 1}, {0.21, 2, 2}, {0.15, 3, 5}, {0.08, 6, 12}, {0.02, 13, 27}, {0.01, 28, 60}}
	outputCounts = distribution.Spans{{0.26, 1, 1}, {0.45, 2, 2}, {0.19, 3, 5}, {0.075, 6, 12}, {0.016, 13, 20}, {0.009, 21, 60}}

	// heldCounts is how many assets an output with some has, partCounts how many it gets of what inputs hold,
	// newCounts how many new ones a transaction mints.
	heldCounts = distribution.Spans{{0.50, 1, 1}, {0.16, 2, 2}, {0.13, 3, 5}, {0.11, 6, 12}, {0.07, 13, 40}, {0.02, 41, 127}, {0.01, 128, mostEntries}}
	partCounts = distribution.Spans{{0.56, 1, 1}, {0.17, 2, 2}, {0.14, 3, 5}, {0.09, 6, 12}, {0.04, 13, 80}}
	newCounts  = distribution.Spans{{0.85, 1, 1}, {0.10, 2, 5}, {0.05, 6, 60}}
)

// age draws how many blocks ago what is spent was made; 0 is in the same block.
func age(r distribution.Random) int { return int(ages.Draw(r)) }

// blockTxs draws how many transactions a block has. Small ones differ much, as on mainnet, and full ones little.
func blockTxs(r distribution.Random, mean float64) int {
	if mean < 20 {
		return int(math.Log(r.Float64()) / math.Log(mean/(mean+1)))
	}
	return r.Around(mean)
}
