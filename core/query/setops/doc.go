// Package setops combines lists of outputs: unions and intersections of scans in chain order or its reverse.
//
// No list is read completely: a stream that is behind the others seeks forward. A [Span] limits the positions, a
// [Budget] the rows that are read.
package setops
