package ergonode

// Operations returns the method and the path of all endpoints.
func Operations() (all []string) {
	for _, list := range [][]endpoint{
		blockchainEndpoints, blockEndpoints, utxoEndpoints, mempoolEndpoints, nodeEndpoints, utilEndpoints,
	} {
		for _, e := range list {
			all = append(all, e.method+" "+e.path)
		}
	}
	return all
}
