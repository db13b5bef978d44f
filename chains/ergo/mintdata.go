package ergo

import (
	"encoding/hex"

	"birthmark/model"
)

// tokenTypes are the types of EIP-4 by the bytes of register R7.
var tokenTypes = map[string]string{
	"\x01\x01": "picture", "\x01\x02": "audio", "\x01\x03": "video", "\x01\x04": "collection", "\x01\x0f": "file attachments",
	"\x02\x01": "membership",
}

// DescribeMint implements [model.MintDescriber] by EIP-4: of the box that mints a token R7 is the type, R8 the SHA-256 of
// its content and R9 the URI of the content.
func (c *chain) DescribeMint(_ []byte, _ *model.TxDetails, o *model.OutputDetails) (a model.AssetMetadata) {
	if o == nil {
		return a
	}
	register := func(name string) []byte {
		raw, err := hex.DecodeString(o.Registers[name].Raw)
		if err != nil {
			return nil
		}
		return bytesOf(raw)
	}
	kind := register("R7")
	if a.Type = tokenTypes[string(kind)]; a.Type == "" {
		return a
	}
	a.Standard = "EIP-4"
	if hash := register("R8"); len(hash) > 0 {
		a.Fields = append(a.Fields, model.MetadataField{Name: "content hash", Value: hex.EncodeToString(hash)})
	}
	if link, err := hex.DecodeString(o.Registers["R9"].Raw); err == nil && textOf(link) != "" {
		a.Fields = append(a.Fields, model.MetadataField{Name: "content", Value: textOf(link)})
		if a.Type == "picture" {
			a.Image = textOf(link)
		}
	}
	return a
}
