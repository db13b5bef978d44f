// Package coingen makes chains of coins of Bitcoin's kind, on their regtest networks: blocks with valid headers, merkle
// roots and proof of work, merged mining and extensions where the coin has them, and transactions that spend each
// other's outputs. Scripts would not run. The same seed makes the same blocks.
//
// The shape is not that of a real chain: package bitcoingen makes that. A [Chain] can be forked.
package coingen

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"slices"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/params"
	"birthmark/chains/bitcoincash"
	"birthmark/chains/bitcoinsv"
	"birthmark/chains/dash"
	"birthmark/chains/digibyte"
	"birthmark/chains/dogecoin"
	"birthmark/chains/litecoin"
	"birthmark/chains/tapyrus"
	"birthmark/chains/zcash"
)

// Coin is a coin and the properties of its blocks that the generator needs.
type Coin struct {
	Spec    *params.Spec
	Network string // the generated network
	Genesis []byte // block 0

	// header makes the header; nil: that of Bitcoin, with its nonce.
	header func(c *Chain, txs [][]byte) []byte
	// tail makes what follows a header, and changes the header to announce it; nil: nothing.
	tail func(c *Chain, header []byte) []byte
	// last makes the last transaction of a block, and what follows it.
	last func(c *Chain) (tx, after []byte)
	// order sorts the transactions of a block; nil: in the order in which they spend each other's outputs.
	order func(c *Chain, txs [][]byte)
	// frame makes a transaction of its inputs and outputs; nil: that of Bitcoin.
	frame func(c *Chain, coinbase bool, body []byte) []byte
	// pool: transactions move value to and from a pool, and need neither inputs nor outputs.
	pool bool
	// heightInCoinbase: the outpoint of a coinbase has the height as index.
	heightInCoinbase bool
	assets           *assets // nil: none
}

// Coins are the coins that can be generated.
var Coins = []*Coin{
	{
		Spec: litecoin.Spec, Network: "regtest", last: hogEx,
		Genesis: Genesis("NY Times 05/Oct/2011 Steve Jobs, Apple’s Visionary, Dies at 56", nintondo, 50*satoshis, 1296688602, 0),
	},
	{
		Spec: bitcoincash.Spec, Network: "regtest", order: byID, assets: &assets{issue: issueToken, wrap: wrapToken},
		Genesis: Genesis("The Times 03/Jan/2009 Chancellor on brink of second bailout for banks", satoshi, 50*satoshis, 1296688602, 2),
	},
	{
		Spec: bitcoinsv.Spec, Network: "regtest",
		Genesis: Genesis("The Times 03/Jan/2009 Chancellor on brink of second bailout for banks", satoshi, 50*satoshis, 1296688602, 2),
	},
	{
		Spec: dogecoin.Spec, Network: "regtest", tail: mergedMining,
		Genesis: Genesis("Nintondo", nintondo, 88*satoshis, 1296688602, 2),
	},
	{
		Spec: digibyte.Spec, Network: "regtest", Genesis: Genesis(DigiByteText, "", 8000, 1519460922, 4),
	},
	{
		Spec: dash.Spec, Network: "regtest", Genesis: DashGenesis(1417713337, regtestBits, 1096447),
		frame: special, last: quorumCommitment,
	},
	{
		Spec: zcash.Spec, Network: "regtest", Genesis: unhex(zcashGenesis), header: equihashHeader, frame: shielded, pool: true,
	},
	{
		Spec: tapyrus.Spec, Network: "dev", Genesis: unhex(tapyrusGenesis), header: signedHeader, heightInCoinbase: true,
		assets: &assets{issue: issueColor, wrap: wrapColor, apart: true},
	},
}

// Find returns the coin with this name.
func Find(name string) (*Coin, bool) {
	i := slices.IndexFunc(Coins, func(c *Coin) bool { return c.Spec.Name == name })
	if i < 0 {
		return nil, false
	}
	return Coins[i], true
}

// network returns the generated network.
func (c *Coin) network() *params.Network {
	i := slices.IndexFunc(c.Spec.Networks, func(n *params.Network) bool { return n.Name == c.Network })
	return c.Spec.Networks[i]
}

// nintondo is the key that the first outputs of Litecoin, Dogecoin and Dash pay to.
const nintondo = "040184710fa689ad5023690c80f3a49c8f13f8d45b8c857fbcbc8bc4a8e4d3eb4b10f4d4604fa08dce601aaf0f470216fe1b51850b4acf21b179c45070ac7b03a9"

// satoshi is the key that the first output of Bitcoin and Bitcoin Cash pays to.
const satoshi = "04678afdb0fe5548271967f1a67130b7105cd6a828e03909a67962e0ea1f61deb649f6bc3f4cef38c4f35504e51ec112de5c384df7ba0b8d578a4c702b6bf11d5f"

// DigiByteText is the text in block 0 of DigiByte.
const DigiByteText = "USA Today: 10/Jan/2014, Target: Data stolen from up to 110M customers"

const (
	satoshis    = 100_000_000
	regtestBits = 0x207fffff
)

// Genesis makes a block 0 in the form of Bitcoin's: its text, the key and the amount that it pays, its time and its nonce.
func Genesis(text, key string, amount uint64, time, nonce uint32) []byte {
	script := append([]byte{4, 0xff, 0xff, 0, 0x1d, 1, 4}, push([]byte(text))...)
	public := unhex(key)
	tx := binary.LittleEndian.AppendUint32(nil, 1)
	tx = append(append(tx, 1), make([]byte, 32)...)
	tx = binary.LittleEndian.AppendUint32(tx, 0xffffffff)
	tx = append(append(tx, byte(len(script))), script...)
	tx = binary.LittleEndian.AppendUint32(tx, 0xffffffff)
	tx = binary.LittleEndian.AppendUint64(append(tx, 1), amount)
	out := append(push(public), block.OpCheckSig)
	tx = append(append(tx, byte(len(out))), out...)
	tx = binary.LittleEndian.AppendUint32(tx, 0)

	root := block.DoubleHash(tx)
	raw := binary.LittleEndian.AppendUint32(nil, 1)
	raw = append(append(raw, make([]byte, 32)...), root[:]...)
	for _, n := range []uint32{time, regtestBits, nonce} {
		raw = binary.LittleEndian.AppendUint32(raw, n)
	}
	return append(append(raw, 1), tx...)
}

func unhex(text string) []byte {
	b, err := hex.DecodeString(text)
	if err != nil {
		panic(err) // invalid constant
	}
	return b
}

// push returns the script that pushes up to 255 bytes.
func push(b []byte) []byte {
	const pushData1 = 0x4c
	if len(b) < pushData1 {
		return append([]byte{byte(len(b))}, b...)
	}
	return append([]byte{pushData1, byte(len(b))}, b...)
}

// hogEx makes Litecoin's last transaction of a block: it spends the previous one and an output, and pays to the
// extension block (witness version 8). The block has an extension of arbitrary bytes.
func hogEx(c *Chain) (tx, after []byte) {
	const flag = 8
	if c.height() < 5 {
		return nil, nil
	}
	spent := c.take(1)
	if c.hog != nil {
		spent = append([]coin{*c.hog}, spent...)
	}
	value := uint64(0)
	for _, s := range spent {
		value += s.value
	}
	hash := block.DoubleHash(binary.LittleEndian.AppendUint64(nil, c.rng.Uint64()))
	out := output{value, append([]byte{0x58, 32}, hash[:]...), nil}
	tx = c.serialize(2, spent, []output{out}, []byte{0, flag}, []byte{0})
	c.hog = &coin{c.id(tx), 0, value, nil, out.script}
	return tx, append([]byte{1}, c.bytes(50+c.rng.IntN(200))...)
}

// mergedMining makes the proof of merged mining of every second block: a coinbase that commits to the block, and the
// header of the parent with scrypt work.
func mergedMining(c *Chain, header []byte) []byte {
	if c.height()%2 == 0 {
		return nil
	}
	binary.LittleEndian.PutUint32(header, binary.LittleEndian.Uint32(header)|block.MergeMined)
	id := block.DoubleHash(header)
	slices.Reverse(id[:])
	counts := c.counts // the parent's coinbase does not count
	defer func() { c.counts = counts }()
	script := slices.Concat([]byte{3, 1, 2, 3}, push(slices.Concat([]byte("\xfa\xbemm"), id[:], []byte{1, 0, 0, 0, 0, 0, 0, 0})))
	coinbase := c.serialize(1, []coin{{index: 0xffffffff, script: script}}, []output{{1, []byte{0x51}, nil}}, nil, nil)
	sibling := c.bytes(32)
	root := block.DoubleHash(slices.Concat(idOf(coinbase), sibling))

	tail := slices.Concat(coinbase, make([]byte, 32), []byte{1}, sibling, make([]byte, 4), []byte{0}, make([]byte, 4))
	parent := slices.Concat([]byte{2, 0, 0, 0}, c.bytes(32), root[:], make([]byte, 12))
	for nonce := uint32(0); ; nonce++ {
		binary.LittleEndian.PutUint32(parent[76:], nonce)
		if whole := append(slices.Clone(tail), parent...); block.CheckMergedMining(header, whole) == nil {
			return whole
		}
	}
}

func idOf(tx []byte) []byte {
	id := block.DoubleHash(tx)
	return bytes.Clone(id[:])
}
