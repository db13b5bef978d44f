package script

import (
	"birthmark/api/jsonappend"
	"birthmark/model"
)

// Values of Bitcoin's protocols in JSON: see [birthmark/api/jsonappend.Value].
type (
	Hash model.Hash // in display order
	Hex  = jsonappend.Hex
	Asm  []byte // a disassembled script
)

// AppendJSON appends the hash.
func (h *Hash) AppendJSON(b []byte) []byte {
	return append(AppendHash(append(b, '"'), model.Hash(*h)), '"')
}

// AppendJSON appends the text of the script.
func (s Asm) AppendJSON(b []byte) []byte { return append(AppendAsm(append(b, '"'), s), '"') }

// Hashes returns hashes for JSON.
func Hashes(all []model.Hash) []Hash {
	hashes := make([]Hash, len(all))
	for i, h := range all {
		hashes[i] = Hash(h)
	}
	return hashes
}
