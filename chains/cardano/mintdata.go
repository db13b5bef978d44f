package cardano

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"birthmark/chains/cardano/address"
	"birthmark/model"
)

// labelMints is the metadata label of CIP-25.
const labelMints = "721"

// DescribeMint implements [model.MintDescriber] by CIP-68 for reference tokens, else by CIP-25: label 721 has the policies,
// each the names of its assets, each a map of fields. Version 1 writes names as text, version 2 as bytes.
func (c *chain) DescribeMint(id []byte, tx *model.TxDetails, o *model.OutputDetails) (a model.AssetMetadata) {
	if len(id) < address.PolicySize || tx == nil {
		return a
	}
	if labelOf(id[address.PolicySize:]) == labelReference {
		return referenceMetadata(datumOf(tx, o))
	}
	policy, name := hex.EncodeToString(id[:address.PolicySize]), id[address.PolicySize:]
	fields := entry(entry(entry(tx.Metadata, labelMints), policy), string(name))
	if fields == nil {
		fields = entry(entry(entry(tx.Metadata, labelMints), policy), hex.EncodeToString(name))
	}
	if fields == nil {
		return a
	}
	return metadataOf("CIP-25", fields)
}

// metadataOf returns the fields of a description, ordered by name.
func metadataOf(standard string, fields map[string]any) model.AssetMetadata {
	a := model.AssetMetadata{Standard: standard}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		text := metadataText(fields[key])
		switch key {
		case "image":
			a.Image = text
		case "logo": // of a token with divisible amounts (CIP-68, label 333)
			a.Image = cmp.Or(a.Image, text)
		case "mediaType":
			a.Type = text
		}
		a.Fields = append(a.Fields, model.MetadataField{Name: key, Value: text})
	}
	return a
}

// entry returns a map in a map of metadata, whose keys of bytes can begin with 0x; nil if there is none.
func entry(m map[string]any, key string) map[string]any {
	for _, key := range []string{key, "0x" + key} {
		if inner, ok := m[key].(map[string]any); ok {
			return inner
		}
	}
	return nil
}

// metadataText returns a value of metadata as text. A text of more than 64 bytes is a list of its parts.
func metadataText(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var b strings.Builder
		for _, part := range v {
			text, ok := part.(string)
			if !ok {
				return compactJSON(v)
			}
			b.WriteString(text)
		}
		return b.String()
	}
	return compactJSON(v)
}

func compactJSON(v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}
