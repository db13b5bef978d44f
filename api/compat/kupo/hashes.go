package kupo

import (
	"golang.org/x/crypto/blake2b"

	"birthmark/chains/cardano/address"
)

// datum answers the datum with a hash; null if no transaction that creates or spends an output with it contains it.
func (q *request) datum(args []string) error {
	if len(args) != 1 {
		return errNoEndpoint
	}
	hash, ok := readHex(args[0], blake2b.Size256)
	if !ok {
		return errDatumHash
	}
	datum, err := q.FindDatum(hash)
	if err != nil {
		return err
	}
	if datum == nil {
		q.add("null")
		return nil
	}
	q.add(`{"datum":`)
	q.addHex(datum)
	q.add("}")
	return nil
}

// script answers the script with a hash; null if none is known. It is a reference script, or a witness of a transaction
// that spends from the script or mints with it.
func (q *request) script(args []string) error {
	if len(args) != 1 {
		return errNoEndpoint
	}
	hash, ok := readHex(args[0], address.CredentialSize)
	if !ok {
		return errScriptHash
	}
	found, err := q.FindScript(hash)
	if err != nil {
		return err
	}
	q.addScript(found)
	return nil
}
