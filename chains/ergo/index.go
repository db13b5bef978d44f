package ergo

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/adapter"
	"birthmark/chains/ergo/sigma"
	"birthmark/model"
)

// The positions of the built-in indexes.
const (
	addressIndex = iota
	boxIDIndex
	treeHashIndex
	templateHashIndex
	registerIndex
)

const (
	indexAddress = "address"
	indexBoxID   = "box_id" // by which inputs name the boxes they spend
)

const hashSize = 32

func (n *network) indexes() []model.Index {
	return []model.Index{
		addressIndex: {
			Name: indexAddress, Kind: model.OneToMany, Default: true,
			Value:  "output.address",
			Doc:    "the address that can spend a box, as in the reference implementation: P2PK, P2SH, and P2S for every other script",
			Format: func(value []byte) string { return formatAddress(n, value) },
			Parse:  func(text string) ([]byte, error) { return parseAddress(n, text) },
			Types:  addressTypes,
		},
		boxIDIndex: {
			Name: indexBoxID, Kind: model.OneToOne, Always: true,
			Value:  "output.box_id",
			Doc:    "the id of a box, by which inputs name it",
			Format: hex.EncodeToString, Parse: adapter.ParseHex("box id", hashSize),
		},
		treeHashIndex: {
			Name: "ergo_tree_hash", Kind: model.OneToMany,
			Value:  "output.ergo_tree_hash",
			Doc:    "Blake2b-256 of a box's ErgoTree",
			Format: hex.EncodeToString, Parse: adapter.ParseHex("ErgoTree hash", hashSize),
		},
		templateHashIndex: {
			Name: "ergo_tree_template_hash", Kind: model.OneToMany,
			Value:  "output.ergo_tree_template_hash",
			Doc:    "SHA-256 of an ErgoTree without its header and constants: the same for a contract with any constants",
			Format: hex.EncodeToString, Parse: adapter.ParseHex("template hash", hashSize),
		},
		registerIndex: {
			Name: "register", Kind: model.ManyValued,
			Value:  "output.register_texts",
			Doc:    "the additional registers of a box: R4 to R9, a colon, and the bytes in hex",
			Format: formatRegister, Parse: parseRegister,
		},
	}
}

// treeHash is the hash that Ergo uses for ids.
func treeHash(tree []byte) [hashSize]byte { return blake2b.Sum256(tree) }

// templateHash is the hash that Ergo's explorer uses, so that its values are found. It returns ok false if the tree is
// invalid.
func templateHash(raw []byte) (sum [hashSize]byte, ok bool) {
	tree, err := sigma.ParseTree(raw)
	if err != nil {
		return sum, false
	}
	return sha256.Sum256(tree.Template), true
}

// A register is stored as its number, 4 to 9, and its bytes.
const (
	firstRegister = 4
	lastRegister  = 9
)

// formatRegister writes a register as R4:0e0474657374.
func formatRegister(value []byte) string {
	if len(value) == 0 {
		return ""
	}
	return "R" + string('0'+value[0]) + ":" + hex.EncodeToString(value[1:])
}

func parseRegister(text string) ([]byte, error) {
	name, digits, found := strings.Cut(text, ":")
	if found && len(name) == 2 && (name[0] == 'R' || name[0] == 'r') && name[1] >= '0'+firstRegister && name[1] <= '0'+lastRegister {
		if raw, err := hex.DecodeString(digits); err == nil && len(raw) > 0 {
			return append([]byte{name[1] - '0'}, raw...), nil
		}
	}
	return nil, adapter.BadValue("register", text, "R4 to R9, a colon and hex digits, as in R4:0e0474657374")
}
