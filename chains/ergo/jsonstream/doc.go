// Package jsonstream splits a stream of JSON into values without decoding them.
//
// A [Splitter] returns the bytes of one value after the other, whether they are on separate lines, adjacent or elements
// of an array: full blocks as a node's REST API sends them and as files store them.
//
// Caveat: a value is scanned only for its end. Other errors in it are found when it is decoded.
package jsonstream
