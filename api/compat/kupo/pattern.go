package kupo

import (
	"encoding/hex"
	"strconv"
	"strings"

	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// pattern selects outputs. At most one of the fields is set, or both credentials; the zero pattern selects all.
type pattern struct {
	shelley    bool   // outputs of addresses since Shelley
	address    []byte // as in outputs
	payment    []byte // hash of the credential, of a key or of a script
	delegation []byte
	policy     []byte
	asset      []byte // id: policy and name
	tx         *model.Hash
	index      *uint32 // of an output of tx
}

const anything = "*"

// readPattern parses a pattern; ok is false if it is malformed.
func readPattern(text string) (p pattern, ok bool) {
	if text == anything {
		return p, true
	}
	if payment, delegation, found := strings.Cut(text, "/"); found {
		if payment == anything && delegation == anything {
			return pattern{shelley: true}, true
		}
		if payment != anything {
			if p.payment, ok = address.KeyHash(payment); !ok {
				return p, false
			}
		}
		if delegation != anything {
			if p.delegation, ok = address.KeyHash(delegation); !ok {
				return p, false
			}
		}
		return p, true
	}
	if index, tx, found := strings.Cut(text, "@"); found {
		if p.tx, ok = readHash(tx); !ok || index == anything {
			return p, ok
		}
		p.index, ok = readIndex(index)
		return p, ok
	}
	if policy, name, found := strings.Cut(text, "."); found {
		if p.policy, ok = readHex(policy, address.PolicySize); !ok || name == anything {
			return p, ok
		}
		p.asset, ok = assetID(p.policy, name)
		p.policy = nil
		return p, ok
	}
	raw, err := hex.DecodeString(text)
	if err == nil {
		_, err = address.ParseAny(address.FormatAny(raw))
	} else {
		raw, err = address.ParseAny(text)
	}
	if err == nil && address.IsStake(raw) {
		return pattern{delegation: raw[1:]}, true
	}
	return pattern{address: raw}, err == nil
}

func readHex(text string, size int) ([]byte, bool) {
	b, err := hex.DecodeString(text)
	return b, err == nil && len(b) == size
}

func readHash(text string) (*model.Hash, bool) {
	b, ok := readHex(text, len(model.Hash{}))
	if !ok {
		return nil, false
	}
	h := model.Hash(b)
	return &h, true
}

func readIndex(text string) (*uint32, bool) {
	n, err := strconv.ParseUint(text, 10, 32)
	index := uint32(n)
	return &index, err == nil
}

// maxName is the largest size of an asset name in bytes.
const maxName = 32

// assetID returns the id of an asset, whose name is hex.
func assetID(policy []byte, name string) ([]byte, bool) {
	b, err := hex.DecodeString(name)
	return append(policy[:len(policy):len(policy)], b...), err == nil && len(b) <= maxName
}
