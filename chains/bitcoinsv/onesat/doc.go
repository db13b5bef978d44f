// Package onesat has the rules of tokens on BSV: 1Sat ordinals and BSV-21, which are assets that the transactions
// derive. It reads scripts and follows assets; it reads no database.
//
// An ordinal is a satoshi in an output of its own. Its id is its origin, the first output that held it alone, and its
// amount is 1. BSV-21 tokens are inscriptions of outputs: a deployment creates a token, whose id is its output, and later
// outputs state amounts, which count if the inputs of the transaction cover them.
//
// The rules come from the programs 1sat-stack and 1sat-indexer, the form of scripts from go-templates.
package onesat
