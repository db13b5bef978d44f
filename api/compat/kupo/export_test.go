package kupo

// Operations returns the operations of the API: endpoints and their methods.
func Operations() (all []string) {
	for endpoint, methods := range operations {
		for method := range methods {
			all = append(all, method+" /"+endpoint)
		}
	}
	return all
}
