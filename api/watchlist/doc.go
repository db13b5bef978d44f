// Package watchlist has the watch lists of clients that follow many values of an index: up to ten million addresses, and
// the addresses of extended public keys.
//
// [Values] are the values of one list, which the command line reads from a file. [Lists] are those of the clients of a
// server, in a limited amount of memory. Package changes compares each value of a block with the list.
package watchlist
