package ergo

import (
	"bytes"
	"encoding/hex"
	"sync"

	"birthmark/model"
)

// feeTree is the ErgoTree of the miners' fee contract, the same on every network: the outputs that have it can only be
// spent by the miner of the block (ErgoTreePredef.feeProposition with a reward delay of 720 blocks).
var feeTree, _ = hex.DecodeString("1005040004000e36100204a00b08cd" +
	"0279be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798" +
	"ea02d192a39a8cc7a701730073011001020402d19683030193a38cc7b2a57300000193c2b2a57301007473027303830108cdeeac93b1a57304")

// feeOf returns the sum of a transaction's outputs to the fee contract. Inputs minus outputs is 0 on Ergo, so the
// database stores this sum as a stated fee. A transaction without inputs is a genesis box and has no fee. The sum fits
// 64 bits: the value of all boxes does, and what exceeds it does not balance.
func feeOf(t *transaction) (fee model.Fee) {
	fee.Stated = len(t.Inputs) > 0
	for i := range t.Outputs {
		if bytes.Equal(t.Outputs[i].Tree, feeTree) {
			fee.Amount += t.Outputs[i].Value
		}
	}
	return fee
}

// feeAddress returns the address of the fee contract.
func (n *network) feeAddress() string { return feeAddresses()[n.prefix] }

var feeAddresses = sync.OnceValue(func() map[byte]string {
	all := map[byte]string{}
	for _, n := range networks {
		all[n.prefix] = formatAddress(n, StoredAddress(feeTree))
	}
	return all
})
