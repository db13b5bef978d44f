package bitcoingen

import (
	"bytes"
	"encoding/binary"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/txscript/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

const (
	recordHead  = 8 // the network's magic and the block's length, before each block in a block file
	headerSize  = 80
	blockTime   = 100 // seconds, so that a chain of four million blocks does not end in the future
	versionBits = 0x20000000

	mostWeight  = 4_000_000
	maturity    = 100 // confirmations that a coinbase needs before it is spent
	firstReward = 50_0000_0000
	lastHalving = 64 // from here on the subsidy is zero by rule
)

var regtest = &chaincfg.RegressionNetParams

// genesis is the record of block 0.
func genesis() Block {
	var raw bytes.Buffer
	if err := regtest.GenesisBlock.Serialize(&raw); err != nil {
		panic(err) // writing to memory does not fail
	}
	b := Block{Record: append(make([]byte, recordHead), raw.Bytes()...), Hash: model.Hash(*regtest.GenesisHash)}
	b.sign()
	b.Counts = Counts{Blocks: 1, Txs: 1, Outputs: 1, Bytes: raw.Len()}
	return b
}

// sign writes the head of the record.
func (b *Block) sign() {
	binary.LittleEndian.PutUint32(b.Record, uint32(regtest.Net))
	binary.LittleEndian.PutUint32(b.Record[4:], uint32(len(b.Record)-recordHead))
}

// assemble makes the block of its coinbase and the appended transactions.
func (c *Chain) assemble(height model.HeightPk) Block {
	coinbase := c.coinbase(height)
	record := make([]byte, recordHead, recordHead+headerSize+3+len(coinbase)+len(c.body))

	record = binary.LittleEndian.AppendUint32(record, versionBits)
	tip := c.Tip().Hash
	record = append(record, tip[:]...)
	c.counts.Txs = len(c.ids)
	root, _ := block.MerkleRoot(c.ids)
	record = append(record, root[:]...)
	record = binary.LittleEndian.AppendUint32(record, uint32(regtest.GenesisBlock.Header.Timestamp.Unix()+blockTime*int64(height)))
	record = binary.LittleEndian.AppendUint32(record, regtest.PowLimitBits)
	record = binary.LittleEndian.AppendUint32(record, 0)
	hash := work(record[recordHead:])

	record = appendCompact(record, uint64(c.counts.Txs))
	record = append(append(record, coinbase...), c.body...)
	b := Block{Record: record, Height: height, Hash: hash}
	b.sign()
	return b
}

// work finds a nonce for which the header's hash is below regtest's target: every second nonce.
func work(header []byte) model.Hash {
	const target = 0x7fffff // the highest 24 bits; a hash with all of them set is skipped
	for nonce := uint32(0); ; nonce++ {
		binary.LittleEndian.PutUint32(header[headerSize-4:], nonce)
		hash := hashOf(header)
		if uint32(hash[31])<<16|uint32(hash[30])<<8|uint32(hash[29]) < target {
			return hash
		}
	}
}

// coinbase is the block's first transaction. It claims the subsidy and all fees.
func (c *Chain) coinbase(height model.HeightPk) []byte {
	c.pay(c.coinbaseOutputs(height), subsidy(height)+c.fees, 0)

	b := binary.LittleEndian.AppendUint32(c.base[:0], 1)
	b = append(b, 1)
	b = append(b, make([]byte, 32)...)
	b = binary.LittleEndian.AppendUint32(b, 1<<32-1)
	at := len(b)
	b = appendHeight(append(b, 0), height)
	b = c.rng.Filler(append(b, 8), 8) // pools vary these bytes when they run out of nonces
	b[at] = byte(len(b) - at - 1)
	b = binary.LittleEndian.AppendUint32(b, finalInput)

	n := len(c.payments)
	if c.witnesses {
		n++
	}
	b = appendCompact(b, uint64(n))
	for _, p := range c.payments {
		b = c.appendOutput(b, p)
	}
	var reserved [32]byte // BIP 141: witness of the coinbase, and its slot among the hashes
	if c.witnesses {
		root, _ := block.MerkleRoot(c.witnessIDs)
		commitment := hashOf(append(root[:], reserved[:]...))
		b = append(b, make([]byte, 8)...)
		b = append(b, 38, txscript.OP_RETURN, 36, 0xaa, 0x21, 0xa9, 0xed)
		b = append(b, commitment[:]...)
	}
	b = binary.LittleEndian.AppendUint32(b, 0)
	c.base = b

	id := hashOf(b)
	c.ids[0] = id
	c.counts.Outputs += n
	made := c.immature[height%maturity][:0]
	for i, p := range c.payments {
		made = append(made, coin{id, p.value, uint32(i), p.script.kind})
	}
	c.immature[height%maturity] = made
	if c.witnesses {
		return appendWithWitness(nil, b, append([]byte{1, 32}, reserved[:]...))
	}
	return b
}

// coinbaseOutputs is the number of outputs of a coinbase, without the witness commitment.
func (c *Chain) coinbaseOutputs(height model.HeightPk) int {
	if height <= maturity {
		return max(1, c.endowment()/maturity)
	}
	return 1
}

// coinbaseRoom is an upper bound for the weight of a block without its other transactions.
func (c *Chain) coinbaseRoom(height model.HeightPk) int {
	return (headerSize+3+200)*weightScale + c.coinbaseOutputs(height)*mostOutputWeight
}

// appendHeight appends the push of a height as BIP 34 requires.
func appendHeight(b []byte, height model.HeightPk) []byte {
	if height <= 16 {
		return append(b, txscript.OP_1-1+byte(height))
	}
	at := len(b)
	b = append(b, 0)
	for n := uint64(height); n > 0; n >>= 8 {
		b = append(b, byte(n))
	}
	if b[len(b)-1]&0x80 != 0 {
		b = append(b, 0) // otherwise the number is negative
	}
	b[at] = byte(len(b) - at - 1)
	return b
}

// subsidy is regtest's subsidy, which halves every 150 blocks.
func subsidy(height model.HeightPk) uint64 {
	if halvings := int32(height) / regtest.SubsidyReductionInterval; halvings < lastHalving {
		return firstReward >> halvings
	}
	return 0
}
