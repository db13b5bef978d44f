// Package chains is the list of chains Birthmark knows. Each is a package of its own that makes the types of
// birthmark/model out of a chain's formats; here each is one line.
package chains
