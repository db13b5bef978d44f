package cardanogen

import "birthmark/chains/cardano/cbor"

const tagConstr = 121 // the first constructor of Plutus data

// fillerBytes appends a byte string of filler.
func (c *Chain) fillerBytes(b []byte, n int) []byte {
	return c.rng.Filler(cbor.AppendHead(b, cbor.Bytes, uint64(n)), n)
}
