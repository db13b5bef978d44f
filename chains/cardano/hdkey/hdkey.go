// Package hdkey derives the public keys of a wallet from its extended public key, by BIP32-Ed25519 as CIP-3 uses it, and
// the addresses of CIP-1852.
package hdkey

import (
	"crypto/hmac"
	"crypto/sha512"
	"encoding/binary"
	"errors"
	"fmt"

	"filippo.io/edwards25519"

	"birthmark/chains/cardano/address"
)

// Size is the length of an extended public key in bytes: key and chain code.
const Size = 64

const keySize = 32

// Public is an extended public key.
type Public [Size]byte

// FirstHardened is the first index that needs the private key.
const FirstHardened = 1 << 31

// Child derives the public key with an index below [FirstHardened]. The error is that the bytes are not a key.
func (p *Public) Child(index uint32) (child Public, err error) {
	if index >= FirstHardened {
		return child, fmt.Errorf("index %d: expected one below %d, which needs no private key", index, uint32(FirstHardened))
	}
	parent, err := new(edwards25519.Point).SetBytes(p[:keySize])
	if err != nil {
		return child, errors.New("the bytes are not a public key")
	}
	// The left 28 bytes of the hash, times 8, are added to the private key, so their multiple of the base is added here.
	var left [keySize]byte
	z := p.hash(2, index)
	var carry byte
	for i, b := range z[:28] {
		left[i], carry = b<<3|carry, b>>5
	}
	left[28] = carry
	scalar, err := new(edwards25519.Scalar).SetCanonicalBytes(left[:]) // below 2^227
	if err != nil {
		return child, err
	}
	sum := new(edwards25519.Point).Add(parent, new(edwards25519.Point).ScalarBaseMult(scalar))
	copy(child[:], sum.Bytes())
	copy(child[keySize:], p.hash(3, index)[sha512.Size/2:])
	return child, nil
}

func (p *Public) hash(purpose byte, index uint32) []byte {
	h := hmac.New(sha512.New, p[keySize:])
	h.Write([]byte{purpose})
	h.Write(p[:keySize])
	h.Write(binary.LittleEndian.AppendUint32(nil, index))
	return h.Sum(nil)
}

// at derives the key of a role and an index.
func (p *Public) at(role, index uint32) (key Public, err error) {
	if key, err = p.Child(role); err != nil {
		return key, err
	}
	return key.Child(index)
}

// stakeRole is the role of the keys of accounts (CIP-1852, CIP-11).
const stakeRole = 2

// Address returns the address of a role and an index of the account with the key p: a stake address for the role of
// stake keys, else an address with the account's first stake key.
func (p *Public) Address(n address.Network, role, index uint32) (string, error) {
	key, err := p.at(role, index)
	if err != nil {
		return "", err
	}
	hash := address.Hash224(key[:keySize])
	if role == stakeRole {
		return address.FormatStakeCredential(n, append([]byte{0}, hash...)), nil
	}
	stake, err := p.at(stakeRole, 0)
	if err != nil {
		return "", err
	}
	network := byte(1)
	if n.Testnet {
		network = 0
	}
	return address.Format(n, append(append([]byte{network}, hash...), address.Hash224(stake[:keySize])...)), nil
}
