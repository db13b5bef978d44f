package onesat

import (
	"strings"

	"birthmark/model"
)

// Kind is a kind of assets. It is the index in the birth of an asset: the births of the token, the ordinal and the
// authority that one output creates differ by it.
type Kind uint16

const (
	TokenKind     Kind = iota // an amount of a BSV-21 token
	OrdinalKind               // a satoshi, with its origin as id
	AuthorityKind             // the authority to mint a BSV-21 token
)

// suffixes are the ends of ids as text.
var suffixes = [...]string{TokenKind: "", OrdinalKind: ":origin", AuthorityKind: ":auth"}

// ID returns the id of an asset: its outpoint and its kind.
func ID(o Outpoint, k Kind) []byte { return append(o[:], byte(k)) }

// FormatID returns an id as text: TXID_INDEX of a token, followed by :origin for an ordinal, and by :auth for the
// authority to mint the token.
func FormatID(id []byte) string {
	if len(id) != len(Outpoint{})+1 || int(id[len(id)-1]) >= len(suffixes) {
		return ""
	}
	return Outpoint(id[:len(id)-1]).String() + suffixes[id[len(id)-1]]
}

// ParseID reads the form of [FormatID].
func ParseID(text string) (id []byte, ok bool) {
	for k := len(suffixes) - 1; k >= 0; k-- {
		if of, has := strings.CutSuffix(text, suffixes[k]); has {
			o, ok := ParseOutpoint(of)
			return ID(o, Kind(k)), ok
		}
	}
	return nil, false
}

func birthOf(out model.UtxoPk, k Kind) model.AssetBirthPk {
	return model.AssetBirthPk{Utxo: out, Index: uint16(k)}
}

func kindOf(birth model.AssetBirthPk) Kind { return Kind(birth.Index) }
