package blockfrost

// Operations returns the endpoints with the conditions of their answers, or with the reasons why they have none.
func Operations() (all []struct{ Method, Path, With, Reason string }) {
	for _, r := range routes {
		all = append(all, struct{ Method, Path, With, Reason string }{r.method, "/" + r.path, r.with, r.reason})
	}
	return all
}
