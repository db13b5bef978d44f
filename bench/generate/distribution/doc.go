// Package distribution has the common parts of the chain generators: random distributions and the set of unspent
// outputs.
//
// [Random] is a generator's only source of randomness, and draws are made in the order of the calls: the same seed
// makes the same chain. A change of what a method here draws therefore changes every chain generated with it. [Spans],
// [LogNormal], [Zipf] and [Table] are the distributions, declared with the figures of a chain. [Mix] and [Fill] draw
// nothing: they make filler for a hash or a key from its number.
//
// [Unspent] has the spendable outputs of a chain by block, so that spent outputs have an age. Its memory is that of the
// unspent outputs plus a slice header per block.
//
// Nothing here is cryptographically secure.
package distribution
