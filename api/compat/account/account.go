package account

import (
	"strconv"
	"strings"
	"sync"

	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"
)

// Kind is the type of the output scripts of an account.
type Kind uint8

const (
	P2PKH Kind = iota
	P2SHP2WPKH
	P2WPKH
	P2TR
)

// purposes are the first steps of derivation paths by kind (BIP 44, 49, 84, 86).
var purposes = [...]step{44, 49, 84, 86}

// Account is a sequence of addresses for each of its branches. It keeps the scripts that it has derived. It is safe for
// concurrent use.
type Account struct {
	Text string // as given
	Kind Kind

	net      *chaincfg.Params
	mu       sync.Mutex
	branches []*branch
}

// branch derives the addresses of a branch.
type branch struct {
	path    string // without the index: m/84'/0'/0'/0
	key     *hdkeychain.ExtendedKey
	scripts [][]byte
}

func newAccount(
	text string, kind Kind, key *hdkeychain.ExtendedKey, origin []step, branches [][]step, net *chaincfg.Params,
) (*Account, error) {
	a := &Account{Text: text, Kind: kind, net: net}
	base := basePath(kind, key, origin, net)
	for _, steps := range branches {
		b := &branch{path: base + formatSteps(steps), key: key}
		for _, s := range steps {
			var err error
			if b.key, err = b.key.Derive(s); err != nil {
				return nil, bad("the branch %s cannot be derived: %w", b.path, err)
			}
		}
		a.branches = append(a.branches, b)
	}
	return a, nil
}

// basePath returns the path of the account's key: its origin if that is known, else the path that a key of depth 3 has
// by BIP 44, 49, 84 or 86.
func basePath(kind Kind, key *hdkeychain.ExtendedKey, origin []step, net *chaincfg.Params) string {
	if len(origin) == int(key.Depth()) && len(origin) > 0 {
		return "m" + formatSteps(origin)
	}
	if key.Depth() != 3 {
		return "unknown" + formatSteps([]step{key.ChildIndex()})
	}
	const hardened = hdkeychain.HardenedKeyStart
	coin := step(hardened)
	if !mainnet(net) {
		coin++
	}
	return "m" + formatSteps([]step{purposes[kind] + hardened, coin, key.ChildIndex()})
}

func formatSteps(steps []step) string {
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

// Branches returns the number of branches.
func (a *Account) Branches() int { return len(a.branches) }

// Path returns the derivation path of an address: m/84'/0'/0'/0/5. It begins with "unknown" if the key does not contain
// it.
func (a *Account) Path(branch, index int) string {
	return a.branches[branch].path + "/" + strconv.Itoa(index)
}
