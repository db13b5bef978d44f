// Package jsonstream cuts JSON that is read as a stream into values, without decoding them.
//
// A [Splitter] hands out one value after the other as the bytes it has, whether they stand one a line, one behind the
// other or as the elements of an array: full blocks as a node's REST sends them and as files keep them. [Field] finds a
// member of an object without looking at the others.
//
// Caveat: what is inside a value is looked at no further than where it ends. Whoever decodes it finds what else is wrong.
package jsonstream
