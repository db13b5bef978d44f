package descriptor

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/btcsuite/btcd/address/v2"
	"github.com/btcsuite/btcd/btcec/v2/schnorr"
	"github.com/btcsuite/btcd/txscript/v2"
)

// script makes the script of a place.
type script func(place) ([]byte, error)

func fixed(output []byte) []script {
	return []script{func(place) ([]byte, error) { return output, nil }}
}

// ofKey returns a script of a public key.
func ofKey(k *key, build func(public []byte) ([]byte, error)) script {
	return func(p place) ([]byte, error) {
		public, err := k.at(p)
		if err != nil {
			return nil, err
		}
		return build(public)
	}
}

func payToKey(public []byte) ([]byte, error) {
	return txscript.NewScriptBuilder().AddData(public).AddOp(txscript.OP_CHECKSIG).Script()
}

func payToKeyHash(public []byte) ([]byte, error) {
	return txscript.NewScriptBuilder().AddOp(txscript.OP_DUP).AddOp(txscript.OP_HASH160).AddData(address.Hash160(public)).
		AddOp(txscript.OP_EQUALVERIFY).AddOp(txscript.OP_CHECKSIG).Script()
}

func payToWitnessKeyHash(public []byte) ([]byte, error) {
	return txscript.NewScriptBuilder().AddOp(txscript.OP_0).AddData(address.Hash160(public)).Script()
}

func payToScriptHash(redeem []byte) ([]byte, error) {
	return txscript.NewScriptBuilder().AddOp(txscript.OP_HASH160).AddData(address.Hash160(redeem)).AddOp(txscript.OP_EQUAL).Script()
}

func payToWitnessScriptHash(witness []byte) ([]byte, error) {
	sum := sha256.Sum256(witness)
	return txscript.NewScriptBuilder().AddOp(txscript.OP_0).AddData(sum[:]).Script()
}

// then builds a script from another one.
func (s script) then(build func([]byte) ([]byte, error)) script {
	return func(p place) ([]byte, error) {
		inner, err := s(p)
		if err != nil {
			return nil, err
		}
		return build(inner)
	}
}

func (p *parser) pk(args []string, in context) ([]script, error) {
	k, err := p.readKey(args[0], in == atTop || in == inSH, in == inTree)
	if err != nil {
		return nil, err
	}
	if in == inTree {
		return []script{func(p place) ([]byte, error) {
			public, err := k.xOnly(p)
			if err != nil {
				return nil, err
			}
			return payToKey(public)
		}}, nil
	}
	return []script{ofKey(k, payToKey)}, nil
}

func (p *parser) pkh(args []string, in context) ([]script, error) {
	k, err := p.readKey(args[0], in != inWSH, false)
	return []script{ofKey(k, payToKeyHash)}, err
}

func (p *parser) wpkh(args []string, _ context) ([]script, error) {
	k, err := p.readKey(args[0], false, false)
	return []script{ofKey(k, payToWitnessKeyHash)}, err
}

// combo has the scripts of BIP 384.
func (p *parser) combo(args []string, _ context) ([]script, error) {
	k, err := p.readKey(args[0], true, false)
	if err != nil {
		return nil, err
	}
	outputs := []script{ofKey(k, payToKey), ofKey(k, payToKeyHash)}
	if k.fixed == nil || k.fixed[0] != 4 {
		witness := ofKey(k, payToWitnessKeyHash)
		outputs = append(outputs, witness, witness.then(payToScriptHash))
	}
	return outputs, nil
}

func (p *parser) sh(args []string, _ context) ([]script, error) {
	inner, err := p.expression(args[0], inSH)
	if err != nil {
		return nil, err
	}
	redeem, err := inner[0](place{})
	if err == nil && len(redeem) > txscript.MaxScriptElementSize {
		err = bad("the script in sh has %d bytes, the limit is %d: use fewer keys, or wsh", len(redeem), txscript.MaxScriptElementSize)
	}
	return []script{inner[0].then(payToScriptHash)}, err
}

func (p *parser) wsh(args []string, _ context) ([]script, error) {
	inner, err := p.expression(args[0], inWSH)
	if err != nil {
		return nil, err
	}
	return []script{inner[0].then(payToWitnessScriptHash)}, nil
}

// The maximum number of keys of OP_CHECKMULTISIG, of standard scripts without hash (BIP 383), and of multi_a (BIP 387).
const (
	maxKeys     = 20
	maxBareKeys = 3
	maxTreeKeys = 999
)

// multisig returns the reader of a multisig. sorted: the keys are in byte order at every position (BIP 67, BIP 383).
func multisig(sorted bool) func(p *parser, args []string, in context) ([]script, error) {
	return func(p *parser, args []string, in context) ([]script, error) {
		most := maxKeys
		switch in {
		case atTop:
			most = maxBareKeys
		case inTree:
			most = maxTreeKeys
		}
		n := len(args) - 1
		if n < 1 || n > most {
			return nil, bad("multisig with %d keys, expected 1 to %d", n, most)
		}
		required, err := threshold(args[0], n)
		if err != nil {
			return nil, err
		}
		keys := make([]*key, n)
		for i, text := range args[1:] {
			if keys[i], err = p.readKey(text, in == atTop || in == inSH, in == inTree); err != nil {
				return nil, err
			}
		}
		build := buildMultisig
		if in == inTree {
			build = buildTreeMultisig
		}
		return []script{func(p place) ([]byte, error) {
			publics := make([][]byte, n)
			for i, k := range keys {
				public, err := k.at(p)
				if in == inTree && err == nil {
					public = public[1:]
				}
				if err != nil {
					return nil, err
				}
				publics[i] = public
			}
			if sorted {
				slices.SortFunc(publics, bytes.Compare)
			}
			return build(required, publics)
		}}, nil
	}
}

func buildMultisig(required int, keys [][]byte) ([]byte, error) {
	b := txscript.NewScriptBuilder().AddInt64(int64(required))
	for _, k := range keys {
		b.AddData(k)
	}
	return b.AddInt64(int64(len(keys))).AddOp(txscript.OP_CHECKMULTISIG).Script()
}

func buildTreeMultisig(required int, keys [][]byte) ([]byte, error) {
	b := txscript.NewScriptBuilder()
	for i, k := range keys {
		b.AddData(k)
		if i == 0 {
			b.AddOp(txscript.OP_CHECKSIG)
		} else {
			b.AddOp(txscript.OP_CHECKSIGADD)
		}
	}
	return b.AddInt64(int64(required)).AddOp(txscript.OP_NUMEQUAL).Script()
}

// rawtr has the output key as it is (Bitcoin Core).
func (p *parser) rawtr(args []string, _ context) ([]script, error) {
	k, err := p.readKey(args[0], false, true)
	return []script{func(p place) ([]byte, error) {
		public, err := k.xOnly(p)
		if err != nil {
			return nil, err
		}
		return payToTaproot(public)
	}}, err
}

func payToTaproot(xOnly []byte) ([]byte, error) {
	return txscript.NewScriptBuilder().AddOp(txscript.OP_1).AddData(xOnly).Script()
}

// tr has an internal key and perhaps a tree of scripts (BIP 386).
func (p *parser) tr(args []string, _ context) ([]script, error) {
	if len(args) > 2 {
		return nil, bad("tr has %d arguments, expected a key, or a key and a tree of scripts", len(args))
	}
	k, err := p.readKey(args[0], false, true)
	if err != nil {
		return nil, err
	}
	var tree node
	if len(args) == 2 {
		if tree, err = p.tree(args[1], 0); err != nil {
			return nil, err
		}
	}
	return []script{func(p place) ([]byte, error) {
		xOnly, err := k.xOnly(p)
		if err != nil {
			return nil, err
		}
		internal, err := schnorr.ParsePubKey(xOnly)
		if err != nil {
			return nil, err
		}
		var root []byte
		if tree != nil {
			node, err := tree(p)
			if err != nil {
				return nil, err
			}
			hash := node.TapHash()
			root = hash[:]
		}
		return payToTaproot(schnorr.SerializePubKey(txscript.ComputeTaprootOutputKey(internal, root)))
	}}, nil
}

// node makes a part of a tree of scripts.
type node func(place) (txscript.TapNode, error)

// maxDepth is the maximum depth of a tree of scripts (BIP 341).
const maxDepth = 128

// tree reads a script, or {TREE,TREE}.
func (p *parser) tree(text string, depth int) (node, error) {
	if depth > maxDepth {
		return nil, bad("the tree of tr is deeper than %d", maxDepth)
	}
	inner, ok := strings.CutPrefix(text, "{")
	if !ok {
		leaf, err := p.expression(text, inTree)
		if err != nil {
			return nil, err
		}
		return func(p place) (txscript.TapNode, error) {
			s, err := leaf[0](p)
			return txscript.NewBaseTapLeaf(s), err
		}, nil
	}
	if inner, ok = strings.CutSuffix(inner, "}"); !ok {
		return nil, bad("unbalanced brackets")
	}
	args, err := split(inner)
	if err != nil {
		return nil, err
	}
	if len(args) != 2 {
		return nil, bad("a branch of the tree of tr has %d parts, expected {TREE,TREE}", len(args))
	}
	left, err := p.tree(args[0], depth+1)
	if err != nil {
		return nil, err
	}
	right, err := p.tree(args[1], depth+1)
	if err != nil {
		return nil, err
	}
	return func(p place) (txscript.TapNode, error) {
		l, err := left(p)
		if err != nil {
			return nil, err
		}
		r, err := right(p)
		return txscript.NewTapBranch(l, r), err
	}, nil
}
