// Package sha256x2 computes SHA-256 of many short messages, two at a time.
//
// A processor with instructions for SHA-256 waits for most of the time: each of them needs the result of the one
// before. Two messages side by side take hardly longer than one, and the messages of Bitcoin are short enough for the
// preparations of crypto/sha256 to cost as much as its work. A [Batch] collects messages of any length, [Pairs] does one
// level of a merkle tree.
//
// Where a processor has no such instructions, or is no amd64, crypto/sha256 does the work, with the same results.
package sha256x2
