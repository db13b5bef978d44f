package bitcoingen

import "birthmark/bench/generate/distribution"

// kind is the kind of an output script, which determines how it is spent.
type kind uint8

const (
	payKey           kind = iota // P2PK, uncompressed key
	payFullKeyHash               // P2PKH, uncompressed key
	payKeyHash                   // P2PKH
	payMultisig                  // bare multisig, one of three
	payScript                    // P2SH, multisig two of three
	payNested                    // P2SH of a P2WPKH
	payWitnessKey                // P2WPKH
	payWitnessScript             // P2WSH, multisig two of three
	payTaproot                   // P2TR
	kinds
)

// era is a part of the chain with the same shares of output kinds, in percent. A tenth of the outputs pays the hot
// address, a P2PKH in all eras; the P2PKH shares are lower by that.
type era struct {
	from  float64 // share of the chain's transactions before the era
	pay   [kinds]float64
	data  float64 // OP_RETURN
	runes float64 // share of the OP_RETURNs that are runes
}

// eras are mainnet's by their share of all transactions, from 130 of its blocks; the first two are longer than on
// mainnet, so that short chains have them too.
var eras = []era{
	{from: 0, pay: [kinds]float64{payKey: 70, payFullKeyHash: 20.5}},
	{from: 0.002, pay: [kinds]float64{payKey: 4, payFullKeyHash: 86.2, payMultisig: 0.3}},
	// From height 210,000 on.
	{from: 0.010, pay: [kinds]float64{payFullKeyHash: 30, payKeyHash: 58.9, payScript: 1.2, payMultisig: 0.35}},
	// 362,501
	{from: 0.058, data: 0.26, pay: [kinds]float64{payFullKeyHash: 4, payKeyHash: 72.2, payScript: 14.1}},
	// 481,824: SegWit.
	{from: 0.20, data: 6.4, pay: [kinds]float64{payKeyHash: 61.7, payScript: 12.1, payNested: 8, payWitnessKey: 2.1, payWitnessScript: 0.2}},
	// 550,000
	{from: 0.285, data: 7.1, pay: [kinds]float64{payKeyHash: 35.1, payScript: 10.6, payNested: 25, payWitnessKey: 11.7, payWitnessScript: 0.8}},
	// 709,632: Taproot.
	{from: 0.55, data: 14.6, runes: 94, pay: [kinds]float64{
		payKeyHash: 5.3, payScript: 4.3, payNested: 10, payWitnessKey: 39.1, payWitnessScript: 2.2, payTaproot: 15, payMultisig: 0.05}},
}

// draw returns the kind for a number from 0 to 1.
func (e *era) draw(u float64) kind {
	sum := 0.0
	for _, share := range e.pay {
		sum += share
	}
	u *= sum
	last := kind(0)
	for k, share := range e.pay {
		if share == 0 {
			continue
		}
		if last = kind(k); u < share {
			break
		}
		u -= share
	}
	return last
}

// segwit reports whether the era has witnesses.
func (e *era) segwit() bool { return e.pay[payWitnessKey] > 0 }

// script is an output script: of an address and its kind, or an OP_RETURN.
type script struct {
	address uint64
	kind    kind
	data    bool
}

// advance moves on to the era of the current block.
func (c *Chain) advance() {
	done := 0.0
	if whole := c.options.Txs - opening; whole > 0 {
		done = float64(c.Made().Txs-opening) / float64(whole)
	}
	for last := len(c.births) - 1; last+1 < len(eras) && done >= eras[last+1].from; last++ {
		c.births = append(c.births, c.recipients.Births())
	}
	c.era = &eras[len(c.births)-1]
}

// kindOf returns the kind of an address: that of the era of its first use. The most used addresses have a new script in
// each era.
func (c *Chain) kindOf(address uint64) kind {
	e := c.era
	switch {
	case address == HotAddress:
		return payKeyHash
	case address > headSize:
		last := len(c.births) - 1
		for c.births[last] > address {
			last--
		}
		e = &eras[last]
	}
	return e.draw(float64(distribution.Mix(c.names^address)>>11) / (1 << 53))
}
