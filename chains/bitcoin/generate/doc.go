// Package generate has the shape of Bitcoin's chain, for whoever makes blocks that look like it: [Shape] draws how many
// inputs and outputs a transaction has, [Coins] what it spends, [Recipients] whom it pays. shape.go has the figures and
// where they come from.
package generate
