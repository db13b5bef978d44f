// Package exchange has the common parts of the endpoints of Blockfrost's API: a request with its answer, the reading of
// its path and parameters, pages by number, transactions and blocks by reference, and the documents of errors.
package exchange
