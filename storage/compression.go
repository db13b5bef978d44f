package storage

import "fmt"

// Compression says what a store on disk gives more for: time or room. It may differ each time a store is opened; rows
// are as they were written until they are written again.
type Compression string

const (
	Usual Compression = ""      // room where rows rest, time on their way there
	Fast  Compression = "fast"  // time
	Small Compression = "small" // room
)

// ParseCompression reads fast, usual or small.
func ParseCompression(text string) (Compression, error) {
	switch text {
	case "usual":
		return Usual, nil
	case string(Fast), string(Small):
		return Compression(text), nil
	}
	return Usual, fmt.Errorf("%q is none of fast, usual and small", text)
}

// String is the text that [ParseCompression] reads.
func (c Compression) String() string {
	if c == Usual {
		return "usual"
	}
	return string(c)
}
