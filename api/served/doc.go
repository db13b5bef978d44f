// Package served is what the parts of the HTTP server know of the chains they serve. It keeps them apart from how a
// database came to be open: written by a sync of the same process, or by another one.
package served
