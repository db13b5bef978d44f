package blockfrost

import (
	"encoding/hex"

	"birthmark/chains/cardano/address"
)

// stakeAddress returns the stake address of a stored credential on this network.
func (q *request) stakeAddress(cred []byte) string {
	return address.FormatStakeCredential(q.networkName(), cred)
}

func hexOf(b []byte) string { return hex.EncodeToString(b) }
