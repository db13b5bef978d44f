package account

import (
	"errors"
	"fmt"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcutil/v2/hdkeychain"
	"github.com/btcsuite/btcd/txscript/v2"
)

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
