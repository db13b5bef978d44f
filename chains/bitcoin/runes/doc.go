// Package runes has the rules of runes, the fungible tokens of Bitcoin. A transaction can have a message, a [Message],
// in an output script: it creates a rune (etching), mints one, and moves runes of the inputs to outputs (edicts).
// [Reader]
// reads messages, [Runestone.Script] writes them, and [Rules] derive the runes of outputs.
//
// The program ord is the reference: crates/ordinals/src/runestone.rs, and src/index/updater/rune_updater.rs of
// github.com/ordinals/ord.
//
// A rune's asset birth is output 0 of the transaction that created it, also if that output holds none. Its asset id is
// the pointer to the transaction. Both follow from the [ID] of the rune, BLOCK:TX, without a lookup.
package runes
