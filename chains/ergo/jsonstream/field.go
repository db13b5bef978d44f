package jsonstream

import (
	"bytes"
	"errors"
)

var errNoObject = errors.New("not a JSON object")

// Field returns the value of a member of a complete object, or nil. If the name is repeated, it returns the first.
// Names are compared without unescaping.
func Field(object []byte, name string) ([]byte, error) {
	rest := bytes.TrimLeft(object, spaces)
	if len(rest) == 0 || rest[0] != '{' {
		return nil, errNoObject
	}
	rest = bytes.TrimLeft(rest[1:], spaces)
	for len(rest) > 0 && rest[0] != '}' {
		key, after, err := value(rest)
		if err != nil {
			return nil, err
		}
		after = bytes.TrimLeft(after, spaces)
		if key[0] != '"' || len(after) == 0 || after[0] != ':' {
			return nil, errNoObject
		}
		v, after, err := value(bytes.TrimLeft(after[1:], spaces))
		if err != nil {
			return nil, err
		}
		if string(key[1:len(key)-1]) == name {
			return v, nil
		}
		rest = bytes.TrimLeft(after, spaces)
		if len(rest) > 0 && rest[0] == ',' {
			rest = bytes.TrimLeft(rest[1:], spaces)
		} else if len(rest) == 0 || rest[0] != '}' {
			return nil, errNoObject
		}
	}
	if len(rest) == 0 {
		return nil, errNoObject
	}
	return nil, nil
}

const spaces = " \t\r\n"

// value returns the value at the beginning of b, and the rest.
func value(b []byte) (v, rest []byte, err error) {
	var e extent
	n, whole, err := e.feed(b)
	if err == nil && !whole {
		err = errNoObject
	}
	if err != nil {
		return nil, nil, err
	}
	return b[:n], b[n:], nil
}
