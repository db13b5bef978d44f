// Package modeltest generates chains for tests. A generated chain follows all rules of the model and contains rare
// cases often: values repeat in the same block, outputs are spent in the block that creates them, transaction hashes
// repeat (BIP 30), assets are minted, split and burned. The same seed generates the same chain.
//
// A [Variant] is a set of rules, and [Variants] returns those worth testing. A [Generator] generates one block after
// the other; its [Generator.Fork] continues differently from the same point.
package modeltest
