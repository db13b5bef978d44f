// Package indexexpr computes custom indexes: one expression selects outputs, another computes their values. The
// expressions are those of expr-lang/expr, over the fields of an output, its transaction and its block.
//
// A chain declares its fields as Go structs ([NewLanguage]): the tags are the documentation, and the chain's decoder
// fills the struct fields. [Language.Define] checks definitions and compiles them once; an [Error] names the index, the
// key and the character. [Indexes.Bind] compiles them for one decoder, which owns a struct of that type. The resulting
// [Run] requests the fields that the next expression needs and that are missing: fields that no expression reads are
// never computed, and fields of the value are computed only if the condition is true. Without custom
// indexes there is no Run and no cost. Simple expressions do not run in the library's machine (short.go).
//
// Differences from the library's documentation are in rewrite.go: bytes can be compared with text, a missing entry and
// everything computed from it is nil, and there are no operators and functions that depend on the time, the order of a
// map, the machine or the Go release. A failing computation has no value.
//
// Strangers write the data of outputs: loops and functions spend from a meter (functions.go), which is refilled for
// every transaction. An index whose meter is empty has no values in the rest of that transaction. This is
// deterministic: the cost depends on the transaction and the definition alone.
package indexexpr
