package electrum

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// version is a version of the protocol: its numbers, without trailing zeros. Versions have at most 3 numbers.
type version [3]int

var (
	oldest = version{1, 4}
	newest = version{1, 6}
)

func parseVersion(text string) (v version, ok bool) {
	parts := strings.Split(text, ".")
	if len(parts) > len(v) {
		return v, false
	}
	for i, part := range parts {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return v, false
		}
		v[i] = n
	}
	return v, true
}

func (v version) before(o version) bool { return slices.Compare(v[:], o[:]) < 0 }

// String implements fmt.Stringer.
func (v version) String() string {
	if v[2] == 0 {
		return fmt.Sprintf("%d.%d", v[0], v[1])
	}
	return fmt.Sprintf("%d.%d.%d", v[0], v[1], v[2])
}

// negotiate returns the highest version that both sides support. asked is a version, or a lowest and a highest one.
func negotiate(asked []string) (version, error) {
	unsupported := &rpcError{codeBad, fmt.Sprintf("unsupported protocol version: %s; this server supports %v to %v",
		strings.Join(asked, " to "), oldest, newest)}
	if len(asked) != 1 && len(asked) != 2 {
		return version{}, unsupported
	}
	lowest, ok := parseVersion(asked[0])
	highest, ok2 := parseVersion(asked[len(asked)-1])
	if !ok || !ok2 || highest.before(lowest) {
		return version{}, unsupported
	}
	if newest.before(highest) {
		highest = newest
	}
	if highest.before(lowest) || highest.before(oldest) {
		return version{}, unsupported
	}
	return highest, nil
}

// serverVersion negotiates the version. It ends the connection if there is no common one.
func (m *moment) serverVersion(a *args) error {
	if m.greeted {
		return badRequest("server.version already sent")
	}
	asked := []string{oldest.String()}
	if v := a.values[1]; v != nil && v[0] != 'n' {
		var one string
		var several []string
		switch {
		case json.Unmarshal(v, &one) == nil:
			asked = []string{one}
		case json.Unmarshal(v, &several) == nil:
			asked = several
		default:
			return badRequest("protocol_version should be a string, or an array of the lowest and the highest version")
		}
	}
	v, err := negotiate(asked)
	if err != nil {
		m.refused = true
		return err
	}
	m.version, m.greeted = v, true
	m.out = append(m.out, '[')
	m.out = appendString(m.out, m.software)
	m.out = append(m.out, ',')
	m.out = appendString(m.out, v.String())
	m.out = append(m.out, ']')
	return nil
}

var errVersion = errors.New("no common protocol version")

func (m *moment) banner(*args) error {
	m.out = appendString(m.out, m.Banner)
	return nil
}

func (m *moment) donation(*args) error {
	m.out = appendString(m.out, m.Donation)
	return nil
}

// features describes the server. Clients compare genesis_hash.
func (m *moment) features(*args) error {
	first, err := m.view.Block(0)
	if err != nil {
		return err
	}
	m.out = append(m.out, `{"hosts":{},"genesis_hash":"`...)
	m.out = appendID(m.out, first.Hash)
	m.out = append(m.out, `","hash_function":"sha256","server_version":`...)
	m.out = appendString(m.out, m.software)
	m.out = fmt.Appendf(m.out, `,"protocol_min":"%v","protocol_max":"%v","pruning":null,"services":[]}`, oldest, newest)
	return nil
}

// ping answers null; version 1.7 asks for a number of digits to hide the size of the traffic.
func (m *moment) ping(a *args) error {
	n, err := a.number(0, 0)
	if err != nil || a.values[0] == nil {
		m.out = append(m.out, "null"...)
		return err
	}
	if n > maxPong {
		return badRequest("pong_len %d is more than %d", n, maxPong)
	}
	m.out = append(m.out, `{"data":"`...)
	for range n {
		m.out = append(m.out, '0')
	}
	m.out = append(m.out, `"}`...)
	return nil
}

const maxPong = 1 << 20 // hex digits

// addPeer answers that the server does not list peers.
func (m *moment) addPeer(*args) error {
	m.out = append(m.out, "false"...)
	return nil
}

func (m *moment) peers(*args) error {
	m.out = append(m.out, "[]"...)
	return nil
}
