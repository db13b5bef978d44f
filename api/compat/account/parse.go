package account

import (
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/model"
)

// MaxBranches is how many branches a descriptor can have.
const MaxBranches = 16

// Is reports whether a text is meant as an account and not as an address: it is longer than any address, which has at
// most 90 characters (BIP 173).
func Is(text string) bool { return len(text) > 90 }

// Parse returns the account of an extended public key or a descriptor, with its checksum or without. The forms of a
// descriptor's branches are KEY, which means KEY/<0;1>/*, KEY/0/*, KEY/<0;1>/* (BIP 389) and KEY/{0,1}/*, which Trezor
// Suite has used. Errors are of kind [model.Usage], code bad_account. They do not contain the text, which others must
// not see in logs.
func Parse(text string, net *chaincfg.Params) (*Account, error) {
	if !strings.ContainsRune(text, '(') {
		key, kind, err := parseKey(text, net)
		if err != nil {
			return nil, err
		}
		return newAccount(text, kind, key, nil, defaultBranches, net)
	}
	body, err := withoutChecksum(text)
	if err != nil {
		return nil, err
	}
	kind, expression, ok := unwrap(body)
	if !ok {
		return nil, bad("unknown descriptor: expected pkh(KEY), sh(wpkh(KEY)), wpkh(KEY) or tr(KEY) " +
			"with one extended public key")
	}
	origin, expression, err := cutOrigin(expression)
	if err != nil {
		return nil, err
	}
	encoded, path, _ := strings.Cut(expression, "/")
	key, _, err := parseKey(encoded, net)
	if err != nil {
		return nil, err
	}
	branches := defaultBranches
	if path != "" || strings.HasSuffix(expression, "/") {
		if branches, err = parsePath(path); err != nil {
			return nil, err
		}
	}
	return newAccount(text, kind, key, origin, branches, net)
}

func bad(format string, args ...any) error {
	return model.Errorf(model.Usage, "bad_account", "invalid account: "+format, args...)
}

// withoutChecksum removes the checksum of a descriptor after it has verified it.
func withoutChecksum(text string) (string, error) {
	body, sum, has := strings.Cut(text, "#")
	want, ok := Checksum(body)
	switch {
	case !ok:
		return "", bad("the descriptor has characters that are not allowed (BIP 380)")
	case has && len(sum) != checksumSize:
		return "", bad("the descriptor's checksum has %d characters instead of %d", len(sum), checksumSize)
	case has && sum != want:
		return "", bad("the checksum of the descriptor does not match: check that you copied all of it")
	}
	return body, nil
}

// wrappings are the script expressions around a key.
var wrappings = []struct {
	before, after string
	kind          Kind
}{
	{"pkh(", ")", P2PKH},
	{"sh(wpkh(", "))", P2SHP2WPKH},
	{"wpkh(", ")", P2WPKH},
	{"tr(", ")", P2TR},
}

// unwrap returns the key expression within a descriptor.
func unwrap(body string) (Kind, string, bool) {
	for _, w := range wrappings {
		if inner, ok := strings.CutPrefix(body, w.before); ok {
			inner, ok = strings.CutSuffix(inner, w.after)
			return w.kind, inner, ok && !strings.ContainsAny(inner, "()")
		}
	}
	return 0, "", false
}

// step is a step of a derivation path. Hardened steps have [hdkeychain.HardenedKeyStart] added.
type step = uint32

// cutOrigin removes the origin of a key, [fingerprint/44h/0h/0h], and returns its steps; nil for a key without origin.
func cutOrigin(expression string) (origin []step, rest string, err error) {
	inner, ok := strings.CutPrefix(expression, "[")
	if !ok {
		return nil, expression, nil
	}
	inner, rest, ok = strings.Cut(inner, "]")
	parts := strings.Split(inner, "/")
	fingerprint, err := hex.DecodeString(parts[0])
	if !ok || err != nil || len(fingerprint) != 4 {
		return nil, "", bad("the origin of the key does not have the form [fingerprint/44h/0h/0h] with 8 hex digits")
	}
	origin = []step{}
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
func parseStep(text string) (step, error) {
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
	return step(n), nil
}

// defaultBranches are the branches of a key without a path.
var defaultBranches = [][]step{{0}, {1}}

// parsePath reads the path after a key, which ends in *, and returns the steps of each branch.
func parsePath(path string) (branches [][]step, err error) {
	steps := strings.Split(path, "/")
	if steps[len(steps)-1] != "*" {
		return nil, bad("the path after the key must end with /*, so that the account has several addresses")
	}
	branches, multiple := [][]step{nil}, false
	for _, text := range steps[:len(steps)-1] {
		choices := []string{text}
		if inner, ok := within(text); ok {
			if multiple {
				return nil, bad("the path has more than one list of branches (BIP 389)")
			}
			multiple, choices = true, inner
		}
		if len(choices) > MaxBranches {
			return nil, bad("the path has %d branches, the limit is %d", len(choices), MaxBranches)
		}
		longer := make([][]step, 0, len(branches)*len(choices))
		for _, choice := range choices {
			s, err := parseStep(choice)
			if err != nil {
				return nil, err
			}
			if s >= hdkeychain.HardenedKeyStart {
				return nil, bad("the path has hardened steps, which a public key cannot derive")
			}
			for _, b := range branches {
				longer = append(longer, append(b[:len(b):len(b)], s))
			}
		}
		branches = longer
	}
	return branches, nil
}

// within returns the choices of <0;1> or {0,1}.
func within(text string) ([]string, bool) {
	if inner, ok := strings.CutPrefix(text, "<"); ok {
		inner, ok = strings.CutSuffix(inner, ">")
		return strings.Split(inner, ";"), ok
	}
	if inner, ok := strings.CutPrefix(text, "{"); ok {
		inner, ok = strings.CutSuffix(inner, "}")
		return strings.Split(inner, ","), ok
	}
	return nil, false
}
