// Package pendingtest generates random histories of a node: its chain, its forks and its mempool. Tests compare overlays
// of unconfirmed transactions with it.
package pendingtest
