package model

// InscriptionReader is a chain whose scripts can contain files.
type InscriptionReader interface {
	// Inscriptions returns the files in the scripts of a transaction, in their order. Its inputs and outputs can be nil if
	// their details are unknown.
	Inscriptions(inputs []*InputDetails, outputs []*OutputDetails) []Inscription
}

// Inscription is a file in a script. Anybody can write any content.
type Inscription struct {
	Output   bool   // it is in an output, otherwise in the witness of an input
	Position int    // of the input or the output
	Number   int    // among the files of the transaction, from 0: its id is TXi0
	Type     string // media type; empty: none, or not text
	Encoding string // compression of the content; empty: none
	Protocol string // that the content is for; empty: none
	Parents  []string
	Delegate string // id of the file that it shows instead; empty: none
	Content  []byte
}
