package model

// ScriptPrinter is a chain that writes scripts as text.
type ScriptPrinter interface {
	// PrintScript returns a script as readable text of at most most bytes, empty if it is malformed or the chain does not
	// write scripts of this language ([ScriptDetails.Language]). whole: the text is not cut.
	PrintScript(language string, code []byte, most int) (text string, whole bool)
}

// Scripter is a chain whose outputs are locked by scripts, some of which have an address.
type Scripter interface {
	// AddressScript returns the output script that an address pays to. Its errors are of kind [Usage], code bad_address
	// if the address is malformed, and bad_network if it is an address of another network.
	AddressScript(address string) ([]byte, error)

	// ScriptAddress returns the address that stands for exactly this script, empty if it has none. A script that pays
	// to a public key has none, although the index address lists its output by the hash of the key.
	ScriptAddress(script []byte) string

	// ValueScript returns the output script that a stored value of the index address pays to, nil if the value is
	// malformed. The script of an output with this value can be another one that pays to the same key.
	ValueScript(value []byte) []byte
}
