// Package watchlist has the watch lists of clients that follow many values of an index: up to ten million addresses, and
// the addresses of extended public keys.
//
// [Values] are the values of one list, which the command line reads from a file. [Lists] are the lists of a server's
// clients, in bounded memory. Package changes compares each value of a block with the list.
package watchlist
