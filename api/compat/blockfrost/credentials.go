package blockfrost

import "birthmark/chains/cardano/address"

// stakeAddress returns the stake address of a stored credential on this network.
func (q *request) stakeAddress(cred []byte) string {
	return address.FormatStakeCredential(q.networkName(), cred)
}
