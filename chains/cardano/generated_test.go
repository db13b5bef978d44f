package cardano

import (
	"testing"

	"birthmark/chains/cardano/generate"
)

// Every form that generated blocks have is what gouroboros reads in them, body hashes checked.
func TestGeneratedBlocksAreWhatGouroborosReads(t *testing.T) {
	for _, o := range []generate.Options{{Seed: 1}, {Seed: 2, TxsPerBlock: 60}} {
		c := generate.New(o)
		d := decodedAs(t, "preview", oracleIndexes...)
		for c.Made().Txs < 1000 && !t.Failed() {
			compareWithOracle(t, d, c.Next().Raw)
		}
	}
}
