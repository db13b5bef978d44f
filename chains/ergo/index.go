package ergo

import (
	"crypto/sha256"
	"encoding/hex"
	"slices"
	"strings"

	"golang.org/x/crypto/blake2b"

	"birthmark/chains/ergo/sigma"
	"birthmark/chains/indexexpr"
	"birthmark/model"
)

// The names of the indexes.
const (
	indexBoxID        = "box_id"
	indexAddress      = "address"
	indexTreeHash     = "ergo_tree_hash"
	indexTemplateHash = "ergo_tree_template_hash"
	indexRegister     = "register"
)

const hashSize = 32

// indexes are what Ergo offers on a network.
func (n *network) indexes() []model.Index {
	return []model.Index{
		{
			Name: indexAddress, Kind: model.OneToMany, Default: true,
			Value:  "output.address",
			Doc:    "who can spend a box, as the reference implementation writes it: P2PK, P2SH, and P2S for every other script",
			Format: func(value []byte) string { return formatAddress(n, value) },
			Parse:  func(text string) ([]byte, error) { return parseAddress(n, text) },
		},
		{
			Name: indexBoxID, Kind: model.OneToOne, Always: true,
			Value:  "output.box_id",
			Doc:    "the id of a box, which inputs name",
			Format: hex.EncodeToString, Parse: hashParser("box id"),
		},
		{
			Name: indexTreeHash, Kind: model.OneToMany,
			Value:  "output.ergo_tree_hash",
			Doc:    "Blake2b-256 of a box's ErgoTree",
			Format: hex.EncodeToString, Parse: hashParser("hash of an ErgoTree"),
		},
		{
			Name: indexTemplateHash, Kind: model.OneToMany,
			Value:  "output.ergo_tree_template_hash",
			Doc:    "SHA-256 of an ErgoTree without its header and constants: the same for a contract whatever its constants are",
			Format: hex.EncodeToString, Parse: hashParser("hash of a template"),
		},
		{
			Name: indexRegister, Kind: model.ManyValued,
			Value:  "output.register_texts",
			Doc:    "the additional registers of a box: R4 to R9, a colon, and the bytes in hex",
			Format: formatRegister, Parse: parseRegister,
		},
	}
}

func treeHash(tree []byte) [hashSize]byte { return blake2b.Sum256(tree) }

// templateHash is not ok where the tree cannot be read.
func templateHash(raw []byte) (sum [hashSize]byte, ok bool) {
	tree, err := sigma.ParseTree(raw)
	if err != nil {
		return sum, false
	}
	return sha256.Sum256(tree.Template), true
}

// hashParser reads a hash of 32 bytes in hex.
func hashParser(what string) func(string) ([]byte, error) {
	return func(text string) ([]byte, error) {
		value, err := hex.DecodeString(text)
		if err != nil || len(value) != hashSize {
			return nil, model.Errorf(model.Usage, "bad_value", "%q is no %s: expected %d hex digits", shownText(text), what, 2*hashSize)
		}
		return value, nil
	}
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
	return nil, model.Errorf(model.Usage, "bad_value", "%q is no register: expected R4 to R9, a colon and hex digits, as in R4:0e0474657374", shownText(text))
}

// wanted says which values of an output are to be made: the names of indexes, in the order of their
// [model.Key.Index].
type wanted []valueOf

// valueOf is one of the indexes; those that users defined are all one.
type valueOf uint8

const (
	valueBoxID valueOf = iota
	valueAddress
	valueTreeHash
	valueTemplateHash
	valueRegister
	valueOwn
)

var valueNames = []string{indexBoxID, indexAddress, indexTreeHash, indexTemplateHash, indexRegister}

// newWanted reads a list of index names; the position of a name is its [model.Key.Index].
func newWanted(own *indexexpr.Indexes, names []string) (wanted, error) {
	w := make(wanted, len(names))
	for i, name := range names {
		v := slices.Index(valueNames, name)
		if own.Has(name) {
			v = int(valueOwn)
		}
		if v < 0 {
			return nil, model.Errorf(model.Usage, "unknown_index", "unknown index %q of ergo: expected %s", name, strings.Join(valueNames, ", "))
		}
		if slices.Contains(names[:i], name) {
			return nil, model.Errorf(model.Usage, "unknown_index", "index %q is named twice", name)
		}
		w[i] = valueOf(v)
	}
	return w, nil
}

// shownText is what a person wrote, cut to what an error can show.
func shownText(text string) string {
	const most = 80
	if len(text) <= most {
		return text
	}
	return text[:most] + "…"
}
