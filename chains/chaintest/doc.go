// Package chaintest is the conformance suite of chains: [Run] tests the parts of a [birthmark/model.Chain] that are the
// same for every chain. A chain's own tests compare it with other implementations and with its protocol.
package chaintest
