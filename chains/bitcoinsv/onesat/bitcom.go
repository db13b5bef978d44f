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
}

// File is a file of the protocol B.
type File struct {
	Type, Encoding, Name string
	Content              []byte
}

// ReadData reads the protocols after the first OP_RETURN of a script, which are separated by the push "|".
func ReadData(script []byte) (d Data) {
	rest, ok := afterReturn(script)
	for ok && len(rest) > 0 {
		_, name, body, valid := block.NextOp(rest)
		if !valid {
			return d
		}
		part, next := untilSeparator(body)
		switch string(name) {
		case mapProtocol:
			if m := readMap(part); m != nil {
				d.Properties = append(d.Properties, m)
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

// readMap returns the properties of the command SET; nil: it is not SET.
func readMap(script []byte) map[string]string {
	_, command, rest, ok := block.NextOp(script)
	if len(script) < minMap || !ok || string(command) != setCommand {
		return nil
	}
	m := map[string]string{}
	for {
		_, name, after, ok := block.NextOp(rest)
		if !ok {
			return m
		}
		_, value, next, ok := block.NextOp(after)
		if !ok {
			return m
		}
		m[property(name)], rest = property(value), next
	}
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
