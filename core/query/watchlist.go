package query

// WatchList selects the outputs that have a value of Index which is in Values.
type WatchList struct {
	Index  string
	Values ValueSet
}

// ValueSet is a set of values of an index in their stored form.
type ValueSet interface{ Has(value []byte) bool }
