package storage

import "fmt"

// Compression says how hard a store on disk tries to take little room. It may differ each time a store is opened; rows are
// as they were written until they are written again.
type Compression string

const (
	CompressionDefault Compression = ""      // as far as it costs little time
	CompressionMax     Compression = "small" // as far as it goes
)

// ParseCompression reads usual or small.
func ParseCompression(text string) (Compression, error) {
	switch text {
	case "usual":
		return CompressionDefault, nil
	case string(CompressionMax):
		return CompressionMax, nil
	}
	return CompressionDefault, fmt.Errorf("%q is neither usual nor small", text)
}

// String is the text that [ParseCompression] reads.
func (c Compression) String() string {
	if c == CompressionDefault {
		return "usual"
	}
	return string(c)
}
