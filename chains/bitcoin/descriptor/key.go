package descriptor

import (
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
)

// MaxBranches is the maximum number of branches of a descriptor.
const MaxBranches = 16

// uncompressedSize is the size of an uncompressed public key in bytes.
const uncompressedSize = 65

// key is a key expression (BIP 380).
type key struct {
	fixed  []byte // a public key: 33 or 65 bytes; nil: an extended key
	root   *hdkeychain.ExtendedKey
	origin []uint32 // nil: unknown
	paths  [][]uint32
	ranged bool // the path ends with *

	parents []*hdkeychain.ExtendedKey // at the ends of the paths
}

// place selects the keys of a script.
type place struct {
	branch   int
	position uint32
}

// at returns the public key of a place, 33 or 65 bytes.
func (k *key) at(p place) ([]byte, error) {
	if k.fixed != nil {
		return k.fixed, nil
	}
	child := k.parents[p.branch%len(k.parents)]
	if k.ranged {
		var err error
		if child, err = child.Derive(p.position); err != nil {
			return nil, err
		}
	}
	public, err := child.ECPubKey()
	if err != nil {
		return nil, err
	}
	return public.SerializeCompressed(), nil
}

// xOnly returns the public key of a place as BIP 340 has it.
func (k *key) xOnly(p place) ([]byte, error) {
	public, err := k.at(p)
	if err != nil {
		return nil, err
	}
	return public[1:33], nil
}

// readKey reads a key expression. Uncompressed keys are refused unless full is set, and x-only keys unless short is set.
func (p *parser) readKey(text string, full, short bool) (*key, error) {
	origin, text, err := cutOrigin(text)
	if err != nil {
		return nil, err
	}
	encoded, path, hasPath := strings.Cut(text, "/")
	k := &key{origin: origin}
	if raw, err := hex.DecodeString(encoded); err == nil && len(raw) > 0 {
		if hasPath {
			return nil, bad("a public key in hex has no path: only extended keys have one")
		}
		if k.fixed, err = publicKey(raw, full, short); err != nil {
			return nil, err
		}
		return p.add(k), nil
	}
	root, _, err := p.net.extendedKey(encoded)
	if err != nil {
		return nil, err
	}
	k.root, k.paths = root, [][]uint32{nil}
	if hasPath {
		if err := k.readPath(path); err != nil {
			return nil, err
		}
	}
	if err := p.branch(len(k.paths)); err != nil {
		return nil, err
	}
	for _, steps := range k.paths {
		parent := root
		for _, s := range steps {
			if parent, err = parent.Derive(s); err != nil {
				return nil, bad("the path %s cannot be derived: %w", formatSteps(steps), err)
			}
		}
		k.parents = append(k.parents, parent)
	}
	return p.add(k), nil
}

func (p *parser) add(k *key) *key {
	p.keys = append(p.keys, k)
	return k
}

// branch sets the number of branches, in which all keys with lists of steps agree (BIP 389).
func (p *parser) branch(n int) error {
	if n > 1 && p.branches > 1 && n != p.branches {
		return bad("the lists of branches have %d and %d entries: all must have the same number (BIP 389)", p.branches, n)
	}
	p.branches = max(p.branches, n)
	return nil
}

func publicKey(raw []byte, full, short bool) ([]byte, error) {
	switch size := len(raw); {
	case size == schnorr.PubKeyBytesLen && short:
		raw = append([]byte{2}, raw...)
	case size == schnorr.PubKeyBytesLen:
		return nil, bad("a public key has 32 bytes: only tr and rawtr have such keys")
	case size == uncompressedSize && !full:
		return nil, bad("an uncompressed public key (65 bytes): only pk, pkh, combo and multisig without witness have such keys")
	case size != btcec.PubKeyBytesLenCompressed && size != uncompressedSize:
		return nil, bad("a public key has %d bytes: expected 33", size)
	}
	if raw[0] > 4 { // hybrid
		return nil, bad("a public key begins with %02x: expected 02, 03 or 04", raw[0])
	}
	if _, err := btcec.ParsePubKey(raw); err != nil {
		return nil, bad("a public key is not a point of the curve")
	}
	return raw, nil
}

// cutOrigin removes the origin of a key, [fingerprint/44h/0h/0h], and returns its steps; nil for a key without origin.
func cutOrigin(expression string) (origin []uint32, rest string, err error) {
	inner, ok := strings.CutPrefix(expression, "[")
	if !ok {
		return nil, expression, nil
	}
	inner, rest, ok = strings.Cut(inner, "]")
	parts := strings.Split(inner, "/")
	fingerprint, err := hex.DecodeString(parts[0])
	if !ok || err != nil || len(fingerprint) != 4 {
		return nil, "", bad("the origin of a key does not have the form [fingerprint/44h/0h/0h] with 8 hex digits")
	}
	origin = []uint32{}
	for _, part := range parts[1:] {
		s, err := parseStep(part)
		if err != nil {
			return nil, "", err
		}
		origin = append(origin, s)
	}
	return origin, rest, nil
}

// parseStep reads a step such as 5 or 5h.
func parseStep(text string) (uint32, error) {
	number, hardened := strings.CutSuffix(text, "'")
	if !hardened {
		number, hardened = strings.CutSuffix(text, "h")
	}
	n, err := strconv.ParseUint(number, 10, 31)
	if err != nil || number[0] == '+' {
		return 0, bad("%.20q is not a step of a path: expected a number below 2147483648, "+
			"followed by h if it is hardened", text)
	}
	if hardened {
		n += hdkeychain.HardenedKeyStart
	}
	return uint32(n), nil
}

// readPath reads the path after a key, which can end with * and can have one list of steps, <0;1> (BIP 389).
func (k *key) readPath(path string) error {
	steps := strings.Split(path, "/")
	if last := len(steps) - 1; steps[last] == "*" {
		k.ranged, steps = true, steps[:last]
	}
	for _, text := range steps {
		choices := []string{text}
		if inner, ok := strings.CutPrefix(text, "<"); ok {
			if inner, ok = strings.CutSuffix(inner, ">"); !ok || len(k.paths) > 1 {
				return bad("the path of a key has an invalid list of branches: expected one list, such as <0;1> (BIP 389)")
			}
			choices = strings.Split(inner, ";")
			if distinct := slices.Compact(slices.Sorted(slices.Values(choices))); len(choices) < 2 || len(distinct) < len(choices) {
				return bad("a list of branches has less than two entries, or one twice (BIP 389)")
			}
		}
		if len(choices) > MaxBranches {
			return bad("the path has %d branches, the limit is %d", len(choices), MaxBranches)
		}
		longer := make([][]uint32, 0, len(choices))
		for _, choice := range choices {
			s, err := parseStep(choice)
			if err != nil {
				return err
			}
			if s >= hdkeychain.HardenedKeyStart {
				return bad("the path after a key has hardened steps, which a public key cannot derive")
			}
			for _, path := range k.paths {
				longer = append(longer, append(slices.Clone(path), s))
			}
		}
		k.paths = longer
	}
	return nil
}
