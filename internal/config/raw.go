package config

import (
	"fmt"
	"strings"
)

// Raw selects the source of raw transactions.
type Raw string

const (
	RawOff   Raw = "off"
	RawKeep  Raw = "keep"  // the database stores them
	RawFiles Raw = "files" // the database stores their places in the block files of a node
	RawNode  Raw = "node"  // each is requested from the node
)

// ParseRaw reads a value of raw. on and off, with their synonyms, are keep and off.
func ParseRaw(text string) (Raw, error) {
	switch r := Raw(strings.ToLower(text)); r {
	case RawKeep, RawFiles, RawNode:
		return r, nil
	}
	on, err := ParseSwitch(text)
	if err != nil {
		return RawOff, fmt.Errorf("%q is not keep, files, node or off", text)
	}
	if on {
		return RawKeep, nil
	}
	return RawOff, nil
}
