// Package model defines the vocabulary of Birthmark: the parts of a blockchain, independent of any chain's formats.
//
// Pointers ([HeightPk], [TxPk], [InputPk], [UtxoPk], [AssetPk]) locate an item in the chain. The first output that
// contains a value is the value's birth, and the pointer to it ([BirthPk], [AssetBirthPk]) is the value's id
// (dictionary encoding). The byte order of encoded pointers is chain order.
//
// A [Source] yields a sequence of [Event] values: a [Block] with its transactions, or a rollback to an earlier [Point].
// A [Chain] describes one chain on one network: how it is read, and how its hashes, assets and values are written as
// text.
//
// The package imports nothing of the project. Chains produce these types, the core consumes them.
package model
