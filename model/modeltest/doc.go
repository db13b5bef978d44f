// Package modeltest makes up chains for tests: a chain that follows every rule of the model and has everything rare
// often. Values come back in the same block, outputs are spent where they were made, hashes repeat (BIP 30), assets are
// minted, split, burned. The same seed makes the same chain.
//
// A [Variant] is one set of rules, [Variants] are those worth testing. A [Generator] makes block after block; its
// [Generator.Fork] goes another way from the same point.
package modeltest
