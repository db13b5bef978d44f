package cardano

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// Labels of asset names (CIP-67) in CIP-68. A user token is described by the reference token with the same policy and
// name.
const (
	labelReference = 100
	labelNFT       = 222
	labelFungible  = 333
	labelRich      = 444 // rich fungible token
)

// referencePrefix is the label of reference tokens with its checksum.
var referencePrefix = []byte{0x00, 0x06, 0x43, 0xb0}

// labelOf returns the label of an asset name; 0 if it has none. Wrong checksums are accepted, because early tokens have
// them.
func labelOf(name []byte) int {
	if len(name) < cip67Size || name[0]>>4 != 0 || name[cip67Size-1]&15 != 0 {
		return 0
	}
	return int(name[0])<<12 | int(name[1])<<4 | int(name[2])>>4
}

// ReferenceAsset implements [model.AssetReferrer].
func (c *chain) ReferenceAsset(id []byte) []byte {
	if len(id) < address.PolicySize {
		return nil
	}
	switch name := id[address.PolicySize:]; labelOf(name) {
	case labelReference:
		return id
	case labelNFT, labelFungible, labelRich:
		return slices.Concat(id[:address.PolicySize], referencePrefix, name[cip67Size:])
	}
	return nil
}

// datumOf returns the datum of an output, inline or in the transaction that creates it; nil without a datum.
func datumOf(tx *model.TxDetails, o *model.OutputDetails) []byte {
	if o == nil {
		return nil
	}
	digits := ""
	if o.Datum != nil {
		digits = o.Datum.Raw
	}
	for _, d := range tx.Datums {
		if digits == "" && d.Hash == o.DatumHash {
			digits = d.Raw
		}
	}
	raw, err := hex.DecodeString(digits)
	if err != nil {
		return nil
	}
	return raw
}

// referenceMetadata returns the metadata in the datum of a reference token: the first field of a constructor is a map,
// whose keys and texts are byte strings.
func referenceMetadata(datum []byte) (a model.AssetMetadata) {
	constructor, ok := meaning(datum).(map[string]any)
	if !ok {
		return a
	}
	parts, ok := constructor[meaningFields].([]any)
	if !ok || len(parts) == 0 {
		return a
	}
	if fields, ok := readable(parts[0]).(map[string]any); ok {
		return metadataOf("CIP-68", fields)
	}
	return a
}

// readable returns a value with byte strings as text if they are printable, else in hex. The keys of maps are already in
// hex.
func readable(v any) any {
	switch v := v.(type) {
	case []byte:
		return readableBytes(v)
	case []any:
		for i := range v {
			v[i] = readable(v[i])
		}
	case map[string]any:
		m := make(map[string]any, len(v))
		for key, value := range v {
			if b, err := hex.DecodeString(key); err == nil {
				key = readableBytes(b)
			}
			m[key] = readable(value)
		}
		return m
	}
	return v
}

func readableBytes(b []byte) string {
	hidden := func(r rune) bool { return !unicode.IsPrint(r) && !strings.ContainsRune("\n\t", r) }
	if utf8.Valid(b) && !bytes.ContainsFunc(b, hidden) {
		return string(b)
	}
	return hex.EncodeToString(b)
}
