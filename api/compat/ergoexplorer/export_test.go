package ergoexplorer

// Operations returns the method and the path of all endpoints.
func Operations() (all []string) {
	for _, list := range [][]endpoint{
		addressEndpoints, boxEndpoints, blockEndpoints, txEndpoints, tokenEndpoints, stateEndpoints, streamEndpoints,
	} {
		for _, e := range list {
			all = append(all, e.method+" v1/"+e.path)
		}
	}
	for _, e := range oldEndpoints {
		all = append(all, e.method+" v0/"+e.path)
	}
	return all
}
