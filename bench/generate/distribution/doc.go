// Package distribution is what the generators of chains have in common, whatever a chain looks like: how to draw from the
// distributions that chains are made of, and which outputs are unspent.
//
// [Random] is a generator's one source of chance, and all that is drawn comes out of it in the order in which it is
// asked for: the same seed makes the same chain. So a change of what a method here draws changes every chain generated
// with it. [Spans], [LogNormal], [Zipf] and [Table] are the distributions, declared where a chain's figures are. [Mix]
// and [Fill] draw nothing: they make bytes that stand for a hash or a key out of its number.
//
// [Unspent] keeps what a chain has to spend, by the block that made it, so that what is spent has an age. Its memory is
// that of what is unspent, and a list head for each block.
//
// Nothing here may be used where chance has to be hard to guess.
package distribution
