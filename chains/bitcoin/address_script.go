package bitcoin

import (
	"errors"
	"slices"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// AddressScript implements [model.Scripter].
func (c *chain) AddressScript(address string) ([]byte, error) {
	value, err := parseAddress(c.net, address)
	if _, foreign := errors.AsType[errNetwork](err); foreign {
		err = model.Errorf(model.Usage, "bad_network", "%w", err)
	}
	if err != nil {
		return nil, err
	}
	return c.ValueScript(value), nil
}

// ValueScript implements [model.Scripter]. A key hash pays to P2PKH.
func (c *chain) ValueScript(value []byte) []byte {
	if checkStored(value) != nil {
		return nil
	}
	switch kind, payload := value[0], value[1:]; kind {
	case toKeyHash:
		return slices.Concat(keyHashHead, payload, keyHashTail)
	case toScriptHash:
		return slices.Concat(scriptHashHead, payload, scriptHashTail)
	case ToScriptHash32:
		return slices.Concat([]byte{block.OpHash256, byte(len(payload))}, payload, scriptHashTail)
	case 0:
		return append([]byte{block.Op0, byte(len(payload))}, payload...)
	default:
		return append([]byte{block.Op1 - 1 + kind, byte(len(payload))}, payload...)
	}
}

// The bytes around the hash in the scripts of P2PKH and P2SH.
var (
	keyHashHead    = []byte{block.OpDup, block.OpHash160, block.Hash160Size}
	keyHashTail    = []byte{block.OpEqualVerify, block.OpCheckSig}
	scriptHashHead = []byte{block.OpHash160, block.Hash160Size}
	scriptHashTail = []byte{block.OpEqual}
)

// ScriptAddress implements [model.Scripter].
func (c *chain) ScriptAddress(script []byte) string {
	kind, payload := c.net.Coin.Format.Classify(script)
	if kind == block.PubKey {
		return ""
	}
	value := new(emitter).appendAddress(make([]byte, 0, maxAddressSize), kind, script, payload)
	if len(value) == 0 {
		return ""
	}
	return formatAddress(c.net, value)
}
