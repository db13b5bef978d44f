// Package epochs has the endpoints of epochs: their sums, which are computed when a client first requests an epoch, and
// their blocks.
package epochs
