package account

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"
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

// Script returns the output script of an address of a branch.
func (a *Account) Script(branch, index int) ([]byte, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	b := a.branches[branch]
	for len(b.scripts) <= index {
		script, err := a.derive(b.key, step(len(b.scripts)))
		if err != nil {
			return nil, fmt.Errorf("derive %s/%d: %w", b.path, len(b.scripts), err)
		}
		b.scripts = append(b.scripts, script)
	}
	return b.scripts[index], nil
}

// Address returns an address of a branch, and does not keep it; empty for an index that the branch leaves out.
func (a *Account) Address(branch, index int) (string, error) {
	b := a.branches[branch]
	script, err := a.derive(b.key, step(index))
	if err != nil {
		return "", fmt.Errorf("derive %s/%d: %w", b.path, index, err)
	}
	if script == nil {
		return "", nil
	}
	_, addresses, _, err := txscript.ExtractPkScriptAddrs(script, a.net)
	if err != nil || len(addresses) != 1 {
		return "", fmt.Errorf("derive %s/%d: the script %x has no address: %v", b.path, index, script, err)
	}
	return addresses[0].EncodeAddress(), nil
}

// Derived returns how many scripts the account keeps.
func (a *Account) Derived() (n int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, b := range a.branches {
		n += len(b.scripts)
	}
	return n
}

// derive returns the output script of a child key. It is nil for an index whose key is invalid, which happens for one
// in 2^127 keys: BIP 32 leaves such an index out.
func (a *Account) derive(parent *hdkeychain.ExtendedKey, index step) ([]byte, error) {
	child, err := parent.Derive(index)
	if errors.Is(err, hdkeychain.ErrInvalidChild) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	key, err := child.ECPubKey()
	if err != nil {
		return nil, err
	}
	to, err := a.address(key)
	if err != nil {
		return nil, err
	}
	return txscript.PayToAddrScript(to)
}

func (a *Account) address(key *btcec.PublicKey) (address.Address, error) {
	hash := address.Hash160(key.SerializeCompressed())
	switch a.Kind {
	case P2PKH:
		return address.NewAddressPubKeyHash(hash, a.net)
	case P2SHP2WPKH:
		redeem := append([]byte{txscript.OP_0, txscript.OP_DATA_20}, hash...)
		return address.NewAddressScriptHash(redeem, a.net)
	case P2WPKH:
		return address.NewAddressWitnessPubKeyHash(hash, a.net)
	}
	output := txscript.ComputeTaprootKeyNoScript(key).SerializeCompressed()[1:] // x-only (BIP 341)
	return address.NewAddressTaproot(output, a.net)
}
