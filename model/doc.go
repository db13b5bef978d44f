// Package model is the vocabulary of Birthmark: what a chain is made of once its own formats are left behind.
//
// Pointers ([HeightPk], [TxPk], [InputPk], [UtxoPk], [AssetPk]) say where in the chain a thing stands. The first
// output in which a value occurs is the value's birth, and the pointer to it ([BirthPk], [AssetBirthPk]) is the
// value's id from then on. Byte order of an encoded pointer is chain order.
//
// A [Source] yields an [Event] at a time: a [Block] with its transactions, or a rollback to an earlier [Point].
// A [Chain] knows how one chain on one network is read, and how people write its hashes, assets and values.
//
// The package imports nothing of the project. Chains make these types, the core consumes them.
package model
