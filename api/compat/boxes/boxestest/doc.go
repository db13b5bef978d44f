// Package boxestest is for tests of the APIs of Ergo's node and explorer: a [World] is a database that follows a test
// node, with its unconfirmed transactions, and a [Naive] is a model of the same blocks that keeps everything in lists
// and reads all of them for every question. It reads the JSON of blocks and nothing of the adapter.
package boxestest
