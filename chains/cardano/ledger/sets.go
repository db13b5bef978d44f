package ledger

import (
	"slices"

	"birthmark/chains/cardano/address"
	"birthmark/chains/cardano/cbor"
	"birthmark/model"
)

// Outpoints returns the outpoints in a set of a transaction body, in the order of the bytes; none if set is nil. If the
// set is malformed, those before the fault are returned.
func Outpoints(set []byte) (all []model.Input) {
	w := cbor.Walker{Data: set}
	for _, item := range w.Elements("outpoints") {
		in := cbor.Walker{Data: item}
		if o := ReadOutpoint(&in); in.Err == nil {
			all = append(all, o)
		}
	}
	return all
}

// SortInputs sorts inputs in the order of the ledger, in which redeemers count them.
func SortInputs(inputs []model.Input) { slices.SortFunc(inputs, CompareInputs) }

// Hashes returns the hashes of keys or scripts in a set.
func Hashes(set []byte) (all [][]byte, err error) {
	w := cbor.Walker{Data: set}
	for _, item := range w.Elements("hashes") {
		in := cbor.Walker{Data: item}
		if hash := in.BytesOf(address.CredentialSize, "hash"); in.Err != nil {
			return all, in.Err
		} else {
			all = append(all, hash)
		}
	}
	return all, w.Err
}

// SkipBLSKey passes the BLS key in the parameters of a pool, a list or null, which Dijkstra adds before the pledge.
func SkipBLSKey(f *cbor.Fields) {
	if major := f.Major(); major == cbor.Array || major == cbor.Simple {
		f.Skip("BLS key")
	}
}

// RequiredSigners returns the hashes in the part of a transaction body with its required signers; none if it is nil. Since
// Dijkstra the part has its guards, which are also credentials, [kind, hash]: keys that sign, and scripts that run.
func RequiredSigners(set []byte) (hashes [][]byte) {
	w := cbor.Walker{Data: set}
	for _, item := range w.Elements("required signers") {
		in := cbor.Walker{Data: item}
		if in.Major() == cbor.Array {
			f := in.Fields("guard")
			f.Uint("kind of a guard")
			item = f.Item("hash of a guard")
			in = cbor.Walker{Data: item}
		}
		if hash := in.Bytes("required signer"); in.Err == nil {
			hashes = append(hashes, hash)
		}
	}
	return hashes
}
