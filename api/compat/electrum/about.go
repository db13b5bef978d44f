package electrum

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"birthmark/api/compat/script"
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
	unsupported := badRequest("unsupported protocol version: %s; this server supports %v to %v", strings.Join(asked, " to "), oldest, newest)
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
func serverVersion(a *args) answer {
	asked, one := []string{oldest.String()}, ""
	switch {
	case !a.has(1):
	case a.read(1, &one):
		asked = []string{one}
	default:
		if asked = nil; !a.read(1, &asked) {
			a.refuse("protocol_version should be a string, or an array of the lowest and the highest version")
		}
	}
	return func(m *moment) (any, error) {
		if m.greeted {
			return nil, badRequest("server.version already sent")
		}
		v, err := negotiate(asked)
		if err != nil {
			m.refused = true
			return nil, err
		}
		m.version, m.greeted = v, true
		return []text{text(m.software), text(v.String())}, nil
	}
}

func banner(m *moment) (any, error) { return text(m.Banner), nil }

func donation(m *moment) (any, error) { return text(m.Donation), nil }

// features describes the server. Clients compare genesis_hash.
func features(m *moment) (any, error) {
	first, err := m.view.Block(0)
	if err != nil {
		return nil, err
	}
	return &featuresValue{
		Genesis: script.Hash(first.Hash), HashFunction: "sha256", ServerVersion: text(m.software), Oldest: text(oldest.String()),
		Newest: text(newest.String()), Services: []string{},
	}, nil
}

const maxPong = 1 << 20 // hex digits

// ping returns null; version 1.7 asks for a number of digits to hide the size of the traffic.
func ping(a *args) answer {
	n := a.number(0, 0)
	if n > maxPong {
		a.refuse("pong_len %d is more than %d", n, maxPong)
	}
	if a.values[0] == nil {
		return always(nil)
	}
	return func(*moment) (any, error) { return &pongValue{strings.Repeat("0", int(n))}, nil }
}
