// Package indexexpr computes the indexes that users define: an expression says which outputs have a value, another
// what it is. The expressions are those of expr-lang/expr, over the fields of an output, its transaction and its block.
//
// A chain declares its fields as Go structs ([NewLanguage]): the tags of their fields are what people are told, and the
// fields are what its decoder fills. [Language.Define] checks definitions and compiles them once; an [Error] names the
// index, the key and the character. [Indexes.Bind] compiles them for one decoder, which owns a struct of that type: a
// [Run] asks it for the fields that the next expression needs and that are not there yet, so that what no expression
// reads is not computed, and what only the value reads is computed only where the condition held. Without an index of
// a user there is no Run, and nothing costs anything.
// Expressions that are simple enough are computed without the library's machine (short.go).
//
// What the library does otherwise than its own documentation says is in rewrite.go: bytes are compared with text, an
// entry that is not there is nil and so is all that is computed of it, operators and functions that depend on the time,
// the order of a map, the machine or the release of Go do not exist. What fails when it runs is no value.
//
// Outputs are written by strangers: loops and functions spend from a meter (functions.go) that is full again in every
// transaction. An index whose meter is empty has no values in the rest of that transaction. That is deterministic: how
// much is spent depends on the transaction and the definition alone.
package indexexpr
