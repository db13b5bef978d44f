package bitcoin

import (
	"encoding/hex"
	"strings"

	"birthmark/chains/bitcoin/envelope"
	"birthmark/model"
)

// protocolDigits are the hex digits of [envelope.Protocol].
var protocolDigits = hex.EncodeToString(envelope.Protocol)

// Inscriptions implements [model.InscriptionReader]. On coins with witnesses these have the inscriptions, as ord reads
// them. On the others output scripts have them, as in 1sat ordinals.
func (c *chain) Inscriptions(inputs []*model.InputDetails, outputs []*model.OutputDetails) []model.Inscription {
	var found []inscriptionFields
	read := func(digits string, position int, whole bool) {
		if strings.Contains(digits, protocolDigits) {
			if script, err := hex.DecodeString(digits); err == nil {
				found = appendInscriptions(found, script, position, whole)
			}
		}
	}
	witnesses := c.net.Coin.Format.Witness
	if witnesses {
		for i, in := range inputs {
			if in != nil {
				read(leafOf(in.Witness), i, true)
			}
		}
	} else {
		for i, out := range outputs {
			if out != nil && out.Script != nil {
				read(*out.Script, i, false)
			}
		}
	}
	var all []model.Inscription
	for i := range found {
		in := &found[i]
		all = append(all, model.Inscription{
			Output: !witnesses, Position: in.Input, Number: i, Type: in.ContentType, Encoding: in.ContentEncoding, Protocol: in.Metaprotocol,
			Parents: in.Parents, Delegate: in.Delegate, Content: in.Body,
		})
	}
	return all
}

// leafOf is [block.LeafScript] of a witness in hex; empty: none.
func leafOf(items []string) string {
	n := len(items)
	if n >= 2 && strings.HasPrefix(items[n-1], "50") { // annex
		n--
	}
	if n < 2 {
		return ""
	}
	return items[n-2]
}
