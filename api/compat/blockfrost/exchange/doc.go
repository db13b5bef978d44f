// Package exchange is what all endpoints of Blockfrost's API share: a request with its answer, the reading of its path and
// parameters, pages by number, transactions and blocks by reference, and the documents of errors.
package exchange
