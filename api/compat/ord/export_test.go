package ord

// Routes returns the methods and paths of all endpoints.
func Routes() (all []string) {
	for _, e := range (&protocol{}).endpoints() {
		all = append(all, e.Method+" "+e.Path)
	}
	return all
}

// Decimal is decimal.
var Decimal = decimal
