// Package chains is the list of supported chains. Each is a separate package that creates the types of
// birthmark/model out of a chain's formats; here each is one line.
package chains
