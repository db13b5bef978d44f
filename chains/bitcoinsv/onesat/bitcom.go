package onesat

import (
	"bytes"
	"strings"

	"birthmark/chains/bitcoin/block"
)

// Protocols of data after OP_RETURN, by the addresses that name them.
const (
	mapProtocol  = "1PuQa7K62MiKCtssSLKy1kh56WWU7MtUR5"
	fileProtocol = "19HxigV4QyBv3tHpQVcUEQyq1pzZVdoAut" // B
	setCommand   = "SET"
	separator    = '|'
	opReturn     = block.OpReturn
	minMap       = 6 // bytes of the script of MAP
)

// Data is what follows OP_RETURN in an output script: files of the protocol B, and properties of the protocol MAP.
type Data struct {
	Files      []File
	Properties []map[string]string // of the commands SET
	Commands   []Command           // of MAP
	Protocols  []Protocol
	Prefix     []byte // the script before OP_RETURN and the opcode before it
}

// Command is a command of MAP.
type Command struct {
	Name       string            // SET, DEL, ADD or SELECT
	Properties map[string]string // of SET
}

// Protocol is a part of the data.
type Protocol struct {
	Name   string // its first push
	Script []byte // the rest
	At     int    // the offset of the name in the output script
}

// File is a file of the protocol B.
type File struct {
	Type, Encoding, Name string
	Content              []byte
}

// ReadData reads the protocols after the first OP_RETURN of a script, which are separated by the push "|".
func ReadData(script []byte) (d Data) {
	rest, ok := afterReturn(script)
	if start := len(script) - len(rest) - 1; ok && start > 0 {
		d.Prefix = script[:start-1]
	}
	for ok && len(rest) > 0 {
		_, name, body, valid := block.NextOp(rest)
		if !valid {
			return d
		}
		part, next := untilSeparator(body)
		d.Protocols = append(d.Protocols, Protocol{string(name), part, len(script) - len(rest)})
		switch string(name) {
		case mapProtocol:
			c, ok := readCommand(part)
			if !ok {
				break
			}
			if d.Commands = append(d.Commands, c); c.Name == setCommand {
				d.Properties = append(d.Properties, c.Properties)
			}
		case fileProtocol:
			if f, ok := readFile(part); ok {
				d.Files = append(d.Files, f)
			}
		}
		rest = next
	}
	return d
}

// afterReturn returns the script after its first OP_RETURN.
func afterReturn(script []byte) (rest []byte, ok bool) {
	for len(script) > 0 {
		op, _, next, valid := block.NextOp(script)
		switch {
		case !valid:
			return nil, false
		case op == opReturn:
			return next, true
		}
		script = next
	}
	return nil, false
}

// untilSeparator splits a script at the first separator; next is empty if it has none.
func untilSeparator(script []byte) (part, next []byte) {
	for at := script; len(at) > 0; {
		_, data, rest, ok := block.NextOp(at)
		if !ok {
			break
		}
		if len(data) == 1 && data[0] == separator && at[0] == 1 {
			return script[:len(script)-len(at)], rest
		}
		at = rest
	}
	return script, nil
}

// readCommand reads a command of MAP.
func readCommand(script []byte) (c Command, ok bool) {
	_, name, rest, ok := block.NextOp(script)
	if len(script) < minMap || !ok {
		return c, false
	}
	c = Command{string(name), map[string]string{}}
	for c.Name == setCommand {
		_, name, after, ok := block.NextOp(rest)
		if !ok {
			break
		}
		_, value, next, ok := block.NextOp(after)
		if !ok {
			break
		}
		c.Properties[property(name)], rest = property(value), next
	}
	return c, true
}

// property returns a text without the character 0, also if it is written as an escape.
func property(b []byte) string {
	return strings.ReplaceAll(string(bytes.ReplaceAll(b, []byte{0}, []byte{' '})), `\u0000`, " ")
}

func readFile(script []byte) (f File, ok bool) {
	var parts [3][]byte
	for i := range parts {
		if _, parts[i], script, ok = block.NextOp(script); !ok {
			return f, false
		}
	}
	f = File{Content: parts[0], Type: string(parts[1]), Encoding: string(parts[2])}
	if _, name, _, named := block.NextOp(script); named {
		f.Name = string(name)
	}
	return f, true
}
