package bitcoin

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"birthmark/chains/adapter"
	"birthmark/chains/bitcoin/block"
	"birthmark/model"
)

// nodeBlock has the fields of a node's getblock from which the block can be serialized.
type nodeBlock struct {
	Hash       string            `json:"hash"`
	Height     *uint32           `json:"height"`
	Version    *int32            `json:"version"`
	MerkleRoot string            `json:"merkleroot"`
	Previous   string            `json:"previousblockhash"` // absent in the genesis block
	Time       uint32            `json:"time"`
	Bits       string            `json:"bits"`
	Nonce      uint32            `json:"nonce"`
	Tx         []json.RawMessage `json:"tx"`
	RawTx      []json.RawMessage `json:"rawtx"`  // btcd's form
	Result     json.RawMessage   `json:"result"` // of a JSON-RPC reply
}

// eachJSON calls handle with the blocks of every JSON document in r.
func eachJSON(r io.Reader, handle func([]byte, *claimedMeta) error) error {
	in := json.NewDecoder(r)
	for number := 1; ; number++ {
		var doc json.RawMessage
		err := in.Decode(&doc)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return model.Errorf(model.BadSource, "bad_block", "JSON document %d: %w", number, err)
		}
		if err := jsonBlocks(doc, handle); err != nil {
			return err
		}
	}
}

// jsonBlocks calls handle with the blocks of one JSON value: a hex string, an object, or a list of either.
func jsonBlocks(doc json.RawMessage, handle func([]byte, *claimedMeta) error) error {
	switch doc[0] {
	case '[':
		var list []json.RawMessage
		if err := json.Unmarshal(doc, &list); err != nil {
			return notABlock(err)
		}
		for _, one := range list {
			if err := jsonBlocks(one, handle); err != nil {
				return err
			}
		}
		return nil
	case '"':
		raw, err := jsonHex(doc)
		if err != nil {
			return notABlock(err)
		}
		return handle(raw, nil)
	case '{':
		var b nodeBlock
		if err := json.Unmarshal(doc, &b); err != nil {
			return notABlock(err)
		}
		if len(b.Result) > 0 && string(b.Result) != "null" && b.Version == nil {
			return jsonBlocks(b.Result, handle)
		}
		raw, err := b.serialize()
		if err != nil {
			return notABlock(err)
		}
		return handle(raw, &claimedMeta{height: b.Height, hash: b.Hash})
	}
	return notABlock(errors.New("a number or a literal"))
}

func notABlock(err error) error {
	return model.Errorf(model.BadSource, "bad_block", "not the result of a node's getblock: %w", err)
}

func jsonHex(doc json.RawMessage) ([]byte, error) {
	var text string
	if err := json.Unmarshal(doc, &text); err != nil {
		return nil, err
	}
	return hex.DecodeString(text)
}

// serialize returns the serialized block. Errors in it are found by its merkle root and hash.
func (b *nodeBlock) serialize() ([]byte, error) {
	if b.Version == nil || b.Bits == "" {
		return nil, errors.New("no version or bits")
	}
	raw := make([]byte, 0, block.HeaderSize)
	raw = binary.LittleEndian.AppendUint32(raw, uint32(*b.Version))
	for _, link := range []struct{ name, text string }{{"previousblockhash", b.Previous}, {"merkleroot", b.MerkleRoot}} {
		h, ok := block.ParseHash(link.text)
		if !ok && (link.text != "" || link.name == "merkleroot") {
			return nil, fmt.Errorf("invalid %s %s: expected 64 hex digits", link.name, adapter.Quote(link.text))
		}
		raw = append(raw, h[:]...)
	}
	bits, err := hex.DecodeString(b.Bits)
	if err != nil || len(bits) != 4 {
		return nil, fmt.Errorf("invalid bits %s: expected 8 hex digits", adapter.Quote(b.Bits))
	}
	raw = binary.LittleEndian.AppendUint32(raw, b.Time)
	raw = binary.LittleEndian.AppendUint32(raw, binary.BigEndian.Uint32(bits))
	raw = binary.LittleEndian.AppendUint32(raw, b.Nonce)

	txs := b.Tx
	if len(b.RawTx) > 0 {
		txs = b.RawTx
	}
	raw = block.AppendCompactSize(raw, uint64(len(txs)))
	for i, doc := range txs {
		var tx struct {
			Hex string `json:"hex"`
		}
		if err := json.Unmarshal(doc, &tx); err != nil || tx.Hex == "" {
			return nil, fmt.Errorf("transaction %d has no hex: expected getblock with verbosity 0, 2 or 3", i)
		}
		bytes, err := hex.DecodeString(tx.Hex)
		if err != nil {
			return nil, fmt.Errorf("hex of transaction %d: %w", i, err)
		}
		raw = append(raw, bytes...)
	}
	return raw, nil
}
