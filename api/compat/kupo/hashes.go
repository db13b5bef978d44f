package kupo

import (
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
)

// datum returns the datum with a hash; null if no transaction that creates or spends an output with it contains it.
func datum(r *request) answer {
	hash := hashArg(r, blake2b.Size256, errDatumHash)
	return func(v *view) (any, error) {
		found, err := v.FindDatum(hash)
		if found == nil {
			return nil, err
		}
		return &datumValue{found}, err
	}
}

// script returns the script with a hash; null if none is known. It is a reference script, or a witness of a transaction
// that spends from the script or mints with it.
func script(r *request) answer {
	hash := hashArg(r, address.CredentialSize, errScriptHash)
	return func(v *view) (any, error) {
		found, err := v.FindScript(hash)
		return scriptOf(found), err
	}
}
