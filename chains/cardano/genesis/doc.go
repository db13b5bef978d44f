// Package genesis has the networks of Cardano: the public ones, whose Byron genesis is built in, networks read from a
// folder of genesis files ([ReadFiles]), and networks of which only the name is known, which is enough for queries.
//
// A [Network] converts slots to times and epochs, and has the outputs that exist before the first block.
package genesis
