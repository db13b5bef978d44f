package bitcoingen

import (
	"github.com/btcsuite/btcd/txscript/v2"

	"birthmark/bench/generate/distribution"
)

const (
	hash160Size  = 20
	programSize  = 32 // of P2WSH and P2TR
	keySize      = 33
	fullKeySize  = 65
	schnorrSize  = 64
	redeemSize   = 3*(1+keySize) + 3 // of multisig with three keys
	mostDataSize = 80
)

// appendScript appends an output script, which depends only on the address and its kind.
func (c *Chain) appendScript(b []byte, s script) []byte {
	if s.data {
		return c.appendData(b)
	}
	n := c.names + s.address
	switch s.kind {
	case payKey:
		return append(filled(append(b, fullKeySize, 4), fullKeySize-1, n), txscript.OP_CHECKSIG)
	case payMultisig:
		b = append(b, txscript.OP_1)
		for i := range uint64(3) {
			b = append(b, keySize, 2+byte(i&1))
			b = filled(b, keySize-1, n+i<<48)
		}
		return append(b, txscript.OP_3, txscript.OP_CHECKMULTISIG)
	case payScript, payNested:
		return append(filled(append(b, txscript.OP_HASH160, hash160Size), hash160Size, n), txscript.OP_EQUAL)
	case payWitnessKey:
		return filled(append(b, txscript.OP_0, hash160Size), hash160Size, n)
	case payWitnessScript:
		return filled(append(b, txscript.OP_0, programSize), programSize, n)
	case payTaproot:
		return filled(append(b, txscript.OP_1, programSize), programSize, n)
	}
	return append(filled(append(b, txscript.OP_DUP, txscript.OP_HASH160, hash160Size), hash160Size, n), txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG)
}

// appendData appends a data script: one of a few for runes, else a new one.
func (c *Chain) appendData(b []byte) []byte {
	if c.rng.Chance(c.era.runes / 100) {
		number := distribution.Mix(c.names ^ uint64(mostRunes.Draw(c.rng)))
		n := 4 + int(number%12)
		return filled(append(b, txscript.OP_RETURN, txscript.OP_13, byte(n)), n, number)
	}
	n := 20 + c.rng.IntN(mostDataSize-20+1)
	b = append(b, txscript.OP_RETURN)
	if n >= txscript.OP_PUSHDATA1 {
		b = append(b, txscript.OP_PUSHDATA1)
	}
	return c.rng.Filler(append(b, byte(n)), n)
}

// mostRunes is the number of different rune scripts.
var mostRunes = distribution.Zipf{Size: 2000, Flat: 0.2}

// filled appends n bytes that depend on a number only.
func filled(b []byte, n int, number uint64) []byte {
	b = append(b, make([]byte, n)...)
	distribution.Fill(b[len(b)-n:], number)
	return b
}

// appendSpending appends the spending data of an input: length and signature script to b, the witness to c.witness.
func (c *Chain) appendSpending(b []byte, k kind) []byte {
	start := len(b)
	b = append(b, 0)
	switch k {
	case payKey:
		b = c.appendSignature(b)
	case payFullKeyHash:
		b = c.rng.Filler(append(c.appendSignature(b), fullKeySize, 4), fullKeySize-1)
	case payKeyHash:
		b = c.appendKey(c.appendSignature(b))
	case payMultisig:
		b = c.appendSignature(append(b, txscript.OP_0))
	case payScript:
		b = c.appendSignature(c.appendSignature(append(b, txscript.OP_0)))
		b = c.appendRedeem(append(b, txscript.OP_PUSHDATA1))
	case payNested:
		b = c.rng.Filler(append(b, hash160Size+2, txscript.OP_0, hash160Size), hash160Size)
	}
	// No script here has more than 252 bytes except multisig with two long signatures.
	if n := len(b) - start - 1; n < compact16 {
		b[start] = byte(n)
	} else {
		b = append(b, 0, 0)
		copy(b[start+3:], b[start+1:])
		b[start], b[start+1], b[start+2] = compact16, byte(n), byte(n>>8)
	}
	c.appendWitness(k)
	return b
}

// appendWitness appends the witness of an input to those of the transaction: the number of items, and the items.
func (c *Chain) appendWitness(k kind) {
	w := c.witness
	switch k {
	case payNested, payWitnessKey:
		w = c.appendKey(c.appendSignature(append(w, 2)))
	case payWitnessScript:
		w = c.appendSignature(c.appendSignature(append(w, 4, 0)))
		w = c.appendRedeem(w)
	case payTaproot:
		w = c.appendTaproot(w)
	default:
		c.witness = append(w, 0)
		return
	}
	c.witness, c.hasWitness = w, true
}

// appendTaproot appends the witness of a P2TR output: a signature, or sometimes a script with an inscription.
func (c *Chain) appendTaproot(w []byte) []byte {
	if c.options.AllParts && c.rng.Chance(0.5) {
		return c.appendInscribed(w)
	}
	if !c.rng.Chance(inscribed) {
		return c.rng.Filler(append(w, 1, schnorrSize), schnorrSize)
	}
	const control = 33
	w = c.rng.Filler(append(w, 3, schnorrSize), schnorrSize)
	text := inscriptions.Draw(c.rng)
	// A key and its check, then code that never runs: the text, in pushes of 75 bytes and a shorter one.
	size := 1 + 32 + 1 + 2 + text + (text+txscript.OP_PUSHDATA1-2)/(txscript.OP_PUSHDATA1-1) + 1
	w = c.rng.Filler(append(appendCompact(w, uint64(size)), 32), 32)
	w = append(w, txscript.OP_CHECKSIG, txscript.OP_0, txscript.OP_IF)
	for text > 0 {
		n := min(text, txscript.OP_PUSHDATA1-1)
		w = c.rng.Filler(append(w, byte(n)), n)
		text -= n
	}
	w = append(w, txscript.OP_ENDIF)
	return c.rng.Filler(append(w, control, 0xc0), control-1)
}

// Inscriptions: the share of P2TR spends with one, and its size in bytes.
const (
	inscribed       = 0.08
	mostInscription = 1000
)

var inscriptions = distribution.Spans{{0.8, 40, 120}, {0.2, 121, mostInscription}}

// appendSignature appends a push of a DER signature, 71 or 72 bytes with the hash type.
func (c *Chain) appendSignature(b []byte) []byte {
	const half = 32
	bits := c.rng.Uint64()
	long := byte(bits >> 63) // without a leading zero the first half would be negative
	b = append(b, 71+long, 0x30, 68+long, 2, half+long)
	if long == 1 {
		b = append(b, 0)
	}
	at := len(b)
	b = filled(b, half, bits)
	b[at] = b[at]&0x7f | long<<7 | 1
	b = append(b, 2, half)
	at = len(b)
	b = filled(b, half, bits+1)
	b[at] = b[at]&0x7f | 1
	return append(b, 1)
}

// appendKey appends a push of a compressed key.
func (c *Chain) appendKey(b []byte) []byte {
	n := c.rng.Uint64()
	return filled(append(b, keySize, 2+byte(n&1)), keySize-1, n)
}

// appendRedeem appends a 2-of-3 multisig script with its length.
func (c *Chain) appendRedeem(b []byte) []byte {
	b = append(b, redeemSize, txscript.OP_2)
	for range 3 {
		b = c.appendKey(b)
	}
	return append(b, txscript.OP_3, txscript.OP_CHECKMULTISIG)
}
