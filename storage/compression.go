package storage

import "fmt"

// Compression selects how much CPU time a store on disk spends on compression. It may differ each time a store is
// opened: rows keep the compression they were written with until they are rewritten.
type Compression string

const (
	CompressionDefault Compression = ""    // fast
	CompressionMax     Compression = "max" // smallest files
)

// compressionAliases maps old names of compressions to the current ones.
var compressionAliases = map[string]string{"usual": "default", "small": "max"}

// CompressionAlias returns the current name of a compression if text is an old one.
func CompressionAlias(text string) (name string, ok bool) {
	name, ok = compressionAliases[text]
	return name, ok
}

// ParseCompression parses default or max, or one of their old names: see [CompressionAlias].
func ParseCompression(text string) (Compression, error) {
	if name, ok := CompressionAlias(text); ok {
		text = name
	}
	switch text {
	case "default":
		return CompressionDefault, nil
	case string(CompressionMax):
		return CompressionMax, nil
	}
	return CompressionDefault, fmt.Errorf("invalid compression %q: expected default or max", text)
}

// String returns the text that [ParseCompression] parses.
func (c Compression) String() string {
	if c == CompressionDefault {
		return "default"
	}
	return string(c)
}
