package storage

import "fmt"

// Compression says how hard a store on disk tries to take little room. It may differ each time a store is opened; rows are
// as they were written until they are written again.
type Compression string

const (
	Usual Compression = ""      // as far as it costs little time
	Small Compression = "small" // as far as it goes
)

// ParseCompression reads usual or small.
func ParseCompression(text string) (Compression, error) {
	switch text {
	case "usual":
		return Usual, nil
	case string(Small):
		return Small, nil
	}
	return Usual, fmt.Errorf("%q is neither usual nor small", text)
}

// String is the text that [ParseCompression] reads.
func (c Compression) String() string {
	if c == Usual {
		return "usual"
	}
	return string(c)
}
