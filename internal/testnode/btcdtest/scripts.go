package btcdtest

import (
	"bytes"
	"crypto/sha256"
	"slices"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript/v2"
	"github.com/btcsuite/btcd/wire/v2"
)

// Kind is a kind of output script and how to spend its outputs.
type Kind struct {
	Name    string
	Script  []byte
	Anybody bool // anybody can spend it: no signature is needed
	// unlock fills in the spending data of input i of tx, which is complete except for signatures.
	unlock func(tx *wire.MsgTx, i int, out *wire.TxOut, hashes *txscript.TxSigHashes)
}

// keys sign everything. They are fixed test keys.
var keys = func() (all [3]*btcec.PrivateKey) {
	for i := range all {
		all[i], _ = btcec.PrivKeyFromBytes(bytes.Repeat([]byte{byte(i + 1)}, 32))
	}
	return all
}()

// Kinds are spendable output scripts of every kind: pay to public key and to its hash, bare and script-hash multisig,
// native and nested witnesses (BIP 141), taproot by key and by script (BIP 341, 342), anchors, undefined witness
// versions, and scripts that anybody can satisfy.
func Kinds() []Kind {
	compressed, uncompressed := keys[0].PubKey().SerializeCompressed(), keys[0].PubKey().SerializeUncompressed()
	keyHash := address.Hash160(compressed)
	oneOfTwo, twoOfThree := multisig(1, 2), multisig(2, 3)
	mixed := script(txscript.OP_1, compressed, keys[1].PubKey().SerializeUncompressed(), txscript.OP_2, txscript.OP_CHECKMULTISIG)
	p2wpkh := script(txscript.OP_0, keyHash)
	checkSig := script(compressed, txscript.OP_CHECKSIG)
	nested := script(txscript.OP_0, hash256(checkSig))
	leaf := txscript.NewBaseTapLeaf(script(schnorr.SerializePubKey(keys[1].PubKey()), txscript.OP_CHECKSIG))
	tree := txscript.AssembleTaprootScriptTree(leaf)
	root := tree.RootNode.TapHash()
	proof := tree.LeafMerkleProofs[0].ToControlBlock(keys[0].PubKey())
	control := must(proof.ToBytes())

	return []Kind{
		{"pubkey", checkSig, false, bySignature(push)},
		{"pubkey, uncompressed", script(uncompressed, txscript.OP_CHECKSIG), false, bySignature(push)},
		{"pubkeyhash", script(txscript.OP_DUP, txscript.OP_HASH160, keyHash, txscript.OP_EQUALVERIFY, txscript.OP_CHECKSIG), false, bySignature(func(sig []byte) []byte {
			return script(sig, compressed)
		})},
		{"pubkey, hybrid", script(hybrid(uncompressed), txscript.OP_CHECKSIG), false, bySignature(push)},
		{"multisig, 1 of 2", oneOfTwo, false, bySignatures(1, nil)},
		{"multisig, 2 of 3", twoOfThree, false, bySignatures(2, nil)},
		{"multisig, uncompressed", mixed, false, bySignatures(1, nil)},
		{"scripthash of multisig", payToScriptHash(twoOfThree), false, bySignatures(2, twoOfThree)},
		{"scripthash of witness_v0_keyhash", payToScriptHash(p2wpkh), false, byWitness(p2wpkh, push(p2wpkh), compressed)},
		{"scripthash of witness_v0_scripthash", payToScriptHash(nested), false, byWitness(checkSig, push(nested), checkSig)},
		{"witness_v0_keyhash", p2wpkh, false, byWitness(p2wpkh, nil, compressed)},
		{"witness_v0_scripthash", nested, false, byWitness(checkSig, nil, checkSig)},
		{"witness_v0_scripthash of multisig", script(txscript.OP_0, hash256(twoOfThree)), false,
			func(tx *wire.MsgTx, i int, out *wire.TxOut, hashes *txscript.TxSigHashes) {
				tx.TxIn[i].Witness = wire.TxWitness{nil} // CHECKMULTISIG consumes one item too many
				for _, k := range keys[:2] {
					sig := must(txscript.RawTxInWitnessSignature(tx, hashes, i, out.Value, twoOfThree, txscript.SigHashAll, k))
					tx.TxIn[i].Witness = append(tx.TxIn[i].Witness, sig)
				}
				tx.TxIn[i].Witness = append(tx.TxIn[i].Witness, twoOfThree)
			}},
		{"witness_v1_taproot, by key", must(txscript.PayToTaprootScript(txscript.ComputeTaprootKeyNoScript(keys[0].PubKey()))), false,
			func(tx *wire.MsgTx, i int, out *wire.TxOut, hashes *txscript.TxSigHashes) {
				tx.TxIn[i].Witness = must(txscript.TaprootWitnessSignature(tx, hashes, i, out.Value, out.PkScript, txscript.SigHashDefault, keys[0]))
			}},
		{"witness_v1_taproot, by script", must(txscript.PayToTaprootScript(txscript.ComputeTaprootOutputKey(keys[0].PubKey(), root[:]))), false,
			func(tx *wire.MsgTx, i int, out *wire.TxOut, hashes *txscript.TxSigHashes) {
				sig := must(txscript.RawTxInTapscriptSignature(tx, hashes, i, out.Value, out.PkScript, leaf, txscript.SigHashDefault, keys[1]))
				tx.TxIn[i].Witness = wire.TxWitness{sig, leaf.Script, control}
			}},
		{"anchor", script(txscript.OP_1, []byte{0x4e, 0x73}), true, byNothing},
		{"witness_unknown", script(txscript.OP_16, bytes.Repeat([]byte{7}, 32)), true, byNothing},
		{"witness_unknown, shortest", script(txscript.OP_2, []byte{1, 2}), true, byNothing},
		{"witness_unknown, longest", script(txscript.OP_1, bytes.Repeat([]byte{8}, 40)), true, byNothing},
		{"true", script(txscript.OP_TRUE), true, byNothing},
		{"nonstandard", script(txscript.OP_1, txscript.OP_1, txscript.OP_EQUAL), true, byNothing},
		{"nonstandard, by preimage", script(txscript.OP_SHA256, hash256([]byte("preimage")), txscript.OP_EQUAL), true,
			func(tx *wire.MsgTx, i int, _ *wire.TxOut, _ *txscript.TxSigHashes) {
				tx.TxIn[i].SignatureScript = push([]byte("preimage"))
			}},
		{"empty", nil, true, func(tx *wire.MsgTx, i int, _ *wire.TxOut, _ *txscript.TxSigHashes) {
			tx.TxIn[i].SignatureScript = script(txscript.OP_TRUE)
		}},
	}
}

// unspendable are scripts that nobody can satisfy: data, and bytes that do not parse.
func unspendable(n int) [][]byte {
	return [][]byte{
		script(txscript.OP_RETURN),
		script(txscript.OP_RETURN, bytes.Repeat([]byte{byte(n)}, 1+n%75)),
		script(txscript.OP_RETURN, []byte("two"), []byte{byte(n)}),
		{txscript.OP_PUSHDATA1, 200, byte(n)},
		{txscript.OP_CHECKMULTISIG, 0xfe, byte(n)},
	}
}

func byNothing(*wire.MsgTx, int, *wire.TxOut, *txscript.TxSigHashes) {}

// bySignature unlocks with one signature; script makes the signature script from it.
func bySignature(unlock func(sig []byte) []byte) func(*wire.MsgTx, int, *wire.TxOut, *txscript.TxSigHashes) {
	return func(tx *wire.MsgTx, i int, out *wire.TxOut, _ *txscript.TxSigHashes) {
		tx.TxIn[i].SignatureScript = unlock(must(txscript.RawTxInSignature(tx, i, out.PkScript, txscript.SigHashAll, keys[0])))
	}
}

// bySignatures unlocks a multisig with n signatures, in a script hash if redeem is not nil.
func bySignatures(n int, redeem []byte) func(*wire.MsgTx, int, *wire.TxOut, *txscript.TxSigHashes) {
	return func(tx *wire.MsgTx, i int, out *wire.TxOut, _ *txscript.TxSigHashes) {
		signed, parts := out.PkScript, []any{txscript.OP_0} // CHECKMULTISIG consumes one item too many
		if redeem != nil {
			signed = redeem
		}
		for _, k := range keys[:n] {
			parts = append(parts, must(txscript.RawTxInSignature(tx, i, signed, txscript.SigHashAll, k)))
		}
		if redeem != nil {
			parts = append(parts, redeem)
		}
		tx.TxIn[i].SignatureScript = script(parts...)
	}
}

// byWitness unlocks a witness program of version 0: signed is the script that is signed, last the items after the
// signature, sigScript the signature script of a nested program.
func byWitness(signed, sigScript, last []byte) func(*wire.MsgTx, int, *wire.TxOut, *txscript.TxSigHashes) {
	return func(tx *wire.MsgTx, i int, out *wire.TxOut, hashes *txscript.TxSigHashes) {
		sig := must(txscript.RawTxInWitnessSignature(tx, hashes, i, out.Value, signed, txscript.SigHashAll, keys[0]))
		tx.TxIn[i].SignatureScript = sigScript
		tx.TxIn[i].Witness = wire.TxWitness{sig, last}
	}
}

// script joins opcodes (numbers) and pushed data (bytes).
func script(parts ...any) []byte {
	b := txscript.NewScriptBuilder()
	for _, p := range parts {
		switch p := p.(type) {
		case int:
			b.AddOp(byte(p))
		case []byte:
			b.AddData(p)
		}
	}
	return must(b.Script())
}

// hybrid is an uncompressed key whose first byte also has the parity, as a compressed key has.
func hybrid(uncompressed []byte) []byte {
	key := slices.Clone(uncompressed)
	key[0] = 6 + key[len(key)-1]&1
	return key
}

func push(b []byte) []byte { return script(b) }

func multisig(n, of int) []byte {
	parts := []any{txscript.OP_1 - 1 + n}
	for _, k := range keys[:of] {
		parts = append(parts, k.PubKey().SerializeCompressed())
	}
	return script(append(parts, txscript.OP_1-1+of, txscript.OP_CHECKMULTISIG)...)
}

func payToScriptHash(redeem []byte) []byte {
	return script(txscript.OP_HASH160, address.Hash160(redeem), txscript.OP_EQUAL)
}

func hash256(b []byte) []byte {
	h := sha256.Sum256(b)
	return slices.Clone(h[:])
}

// must panics on errors that cannot occur with the fixed keys and scripts of this file.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}
