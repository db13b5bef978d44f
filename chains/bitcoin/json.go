package bitcoin

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"birthmark/model"
)

// nodeBlock is a block as the RPC getblock of a node shows it, as far as its bytes can be made again from it.
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
	RawTx      []json.RawMessage `json:"rawtx"`  // where btcd puts the transactions
	Result     json.RawMessage   `json:"result"` // of a reply that holds the block
}

// eachJSON hands over the blocks of every JSON document in r.
func eachJSON(r io.Reader, handle func([]byte, *statement) error) error {
	in := json.NewDecoder(skipMark(r))
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

// skipMark drops the byte order mark some editors put first.
func skipMark(r io.Reader) io.Reader {
	mark := make([]byte, 3)
	n, _ := io.ReadFull(r, mark)
	return io.MultiReader(bytes.NewReader(bytes.TrimPrefix(mark[:n], []byte("\ufeff"))), r)
}

// jsonBlocks hands over the blocks of one JSON value: a string of hex, an object, or a list of either.
func jsonBlocks(doc json.RawMessage, handle func([]byte, *statement) error) error {
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
		return handle(raw, &statement{height: b.Height, hash: b.Hash})
	}
	return notABlock(errors.New("it is a number or a literal"))
}

func notABlock(err error) error {
	return model.Errorf(model.BadSource, "bad_block", "not a block as a node's getblock shows it: %w", err)
}

func jsonHex(doc json.RawMessage) ([]byte, error) {
	var text string
	if err := json.Unmarshal(doc, &text); err != nil {
		return nil, err
	}
	return hex.DecodeString(text)
}

// serialize makes the bytes of the block again. Whether they are the right ones shows in the merkle root and the hash,
// which are computed from them.
func (b *nodeBlock) serialize() ([]byte, error) {
	if b.Version == nil || b.Bits == "" {
		return nil, errors.New("it has no version or bits")
	}
	raw := make([]byte, 0, headerSize)
	raw = binary.LittleEndian.AppendUint32(raw, uint32(*b.Version))
	for _, link := range []struct{ name, text string }{{"previousblockhash", b.Previous}, {"merkleroot", b.MerkleRoot}} {
		h, ok := parseHash(link.text)
		if !ok && (link.text != "" || link.name == "merkleroot") {
			return nil, fmt.Errorf("its %s %q is not a hash: expected 64 hex digits", link.name, shown(link.text))
		}
		raw = append(raw, h[:]...)
	}
	bits, err := hex.DecodeString(b.Bits)
	if err != nil || len(bits) != 4 {
		return nil, fmt.Errorf("its bits are %q, expected 8 hex digits", shown(b.Bits))
	}
	raw = binary.LittleEndian.AppendUint32(raw, b.Time)
	raw = binary.LittleEndian.AppendUint32(raw, binary.BigEndian.Uint32(bits))
	raw = binary.LittleEndian.AppendUint32(raw, b.Nonce)

	txs := b.Tx
	if len(b.RawTx) > 0 {
		txs = b.RawTx
	}
	raw = appendCompactSize(raw, uint64(len(txs)))
	for i, doc := range txs {
		var tx struct {
			Hex string `json:"hex"`
		}
		if err := json.Unmarshal(doc, &tx); err != nil || tx.Hex == "" {
			return nil, fmt.Errorf("its transaction %d has no hex: expected getblock with verbosity 2 or 3, or 0", i)
		}
		bytes, err := hex.DecodeString(tx.Hex)
		if err != nil {
			return nil, fmt.Errorf("the hex of its transaction %d: %w", i, err)
		}
		raw = append(raw, bytes...)
	}
	return raw, nil
}

func appendCompactSize(b []byte, n uint64) []byte {
	switch {
	case n < 0xfd:
		return append(b, byte(n))
	case n <= 0xffff:
		return binary.LittleEndian.AppendUint16(append(b, 0xfd), uint16(n))
	default:
		return binary.LittleEndian.AppendUint32(append(b, 0xfe), uint32(n))
	}
}
