package account

import (
	"strconv"
	"strings"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"

	"birthmark/chains/bitcoin/descriptor"
	"birthmark/model"
)

// purposes are the first steps of derivation paths by kind (BIP 44, 49, 84, 86).
var purposes = [...]uint32{descriptor.P2PKH: 44, descriptor.P2SHP2WPKH: 49, descriptor.P2WPKH: 84, descriptor.P2TR: 86}

// Account is a sequence of addresses for each of its branches. It keeps the scripts that it has derived. It is safe for
// concurrent use.
type Account struct {
	*descriptor.Descriptor
	Text  string   // as given
	paths []string // of the branches, without the index: m/84'/0'/0'/0
}

// Is reports whether a text is meant as an account and not as an address: it is longer than any address, which has at
// most 90 characters (BIP 173).
func Is(text string) bool { return len(text) > 90 }

// Parse returns the account of an extended public key, or of a descriptor of one, with its checksum or without. In a
// descriptor, KEY means KEY/<0;1>/*, and KEY/{0,1}/*, which Trezor Suite has used, means the same. Errors are of kind
// [model.Usage], code bad_account. They do not contain the text, which others must not see in logs.
func Parse(text string, n *descriptor.Network) (*Account, error) {
	d, err := descriptor.Parse(normal(text), n)
	if err == nil && !d.Ranged() {
		err = model.Errorf(model.Usage, "bad_account", "the path after the key must end with /*, so that the account has several addresses")
	} else if err == nil && d.Account() == nil {
		err = model.Errorf(model.Usage, "bad_account", "expected an extended public key, or pkh(KEY), sh(wpkh(KEY)), "+
			"wpkh(KEY) or tr(KEY) with one, whose path ends with *")
	}
	if err != nil {
		return nil, model.Errorf(model.Usage, "bad_account", "invalid account: %w", err)
	}
	a := &Account{Descriptor: d, Text: text}
	of := d.Account()
	base := basePath(of, n)
	for _, steps := range of.Branches {
		a.paths = append(a.paths, base+formatSteps(steps))
	}
	return a, nil
}

// normal returns a descriptor in the form of BIP 389. A checksum stays that of the text.
func normal(text string) string {
	if !strings.Contains(text, "(") {
		return text
	}
	body, sum, has := strings.Cut(text, "#")
	if want, ok := descriptor.Checksum(body); has && (!ok || sum != want) {
		return text // whose error names the checksum
	}
	if before, rest, ok := strings.Cut(body, "/{"); ok {
		if choices, after, ok := strings.Cut(rest, "}"); ok {
			body = before + "/<" + strings.ReplaceAll(choices, ",", ";") + ">" + after
		}
	}
	key := strings.TrimRight(body, ")")
	if !strings.Contains(key[strings.LastIndexByte(key, ']')+1:], "/") {
		body = key + "/<0;1>/*" + body[len(key):]
	}
	return body
}

// basePath returns the path of the account's key: its origin if that is known, else the path that a key of depth 3 has
// by BIP 44, 49, 84 or 86.
func basePath(a *descriptor.Account, n *descriptor.Network) string {
	if len(a.Origin) == int(a.Key.Depth()) && len(a.Origin) > 0 {
		return "m" + formatSteps(a.Origin)
	}
	if a.Key.Depth() != 3 {
		return "unknown" + formatSteps([]uint32{a.Key.ChildIndex()})
	}
	const hardened = hdkeychain.HardenedKeyStart
	coin := uint32(hardened)
	if n.Test {
		coin++
	}
	return "m" + formatSteps([]uint32{purposes[a.Kind] + hardened, coin, a.Key.ChildIndex()})
}

func formatSteps(steps []uint32) string {
	var b strings.Builder
	for _, s := range steps {
		b.WriteByte('/')
		if s < hdkeychain.HardenedKeyStart {
			b.WriteString(strconv.FormatUint(uint64(s), 10))
		} else {
			b.WriteString(strconv.FormatUint(uint64(s-hdkeychain.HardenedKeyStart), 10) + "'")
		}
	}
	return b.String()
}

// Path returns the derivation path of an address: m/84'/0'/0'/0/5. It begins with "unknown" if the key does not contain
// it.
func (a *Account) Path(branch, index int) string { return a.paths[branch] + "/" + strconv.Itoa(index) }

// Script returns the output script of an address of a branch; nil for an index that BIP 32 leaves out.
func (a *Account) Script(branch, index int) ([]byte, error) {
	scripts, _, err := a.Scripts(branch, index)
	if len(scripts) == 0 {
		return nil, err
	}
	return scripts[0], err
}
