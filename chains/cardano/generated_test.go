package cardano

import (
	"testing"

	"birthmark/bench/generate/cardanogen"
)

// Generated blocks of every form are decoded as gouroboros decodes them, with their body hashes verified.
func TestGeneratedBlocksMatchGouroboros(t *testing.T) {
	for _, o := range []cardanogen.Options{{Seed: 1}, {Seed: 2, TxsPerBlock: 60}, {Seed: 4, AllParts: true}, {Seed: 5, TxsPerBlock: 15, AllParts: true}} {
		c := cardanogen.New(o)
		d := decodedAs(t, "preview", oracleIndexes...)
		for c.Made().Txs < 1000 && !t.Failed() {
			compareWithOracle(t, d, c.Next().Raw)
		}
	}
}
