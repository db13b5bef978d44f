package p2p

import (
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"

	"birthmark/model"
)

// Options say whose chain it is and how long peers are waited for. A time of 0 is the default.
type Options struct {
	Params *chaincfg.Params // the network
	// Peers are HOST or HOST:PORT, the network's default port where there is none. Only they are asked; where there are
	// none, peers are found through the network's DNS seeds.
	Peers []string

	// Header is the raw header that the database has at a height, nil if it has none; nil: there is no database. A chain
	// with less work than the database's is not followed.
	Header func(model.HeightPk) ([]byte, error)

	Handshake time.Duration // the longest a connection and the exchange of versions take; 10 s
	// Stall is how long a peer that was asked may go without sending a block, or headers; 10 s. It grows while peers
	// stall, since the line may be slow, and shrinks again.
	Stall   time.Duration
	First   time.Duration // the wait before a peer is tried again, doubled each time, give or take a half; 0.5 s
	Most    time.Duration // the longest such wait; 30 s
	Penalty time.Duration // the wait for a peer that stalled while there are others, doubled each time; 2 min

	Keep int          // connections where no peers are named; 8
	Log  *slog.Logger // the default one
}

// secondsPerHeader bounds how many headers a chain may have: since the network's first block one in this time. No
// network comes near, and memory has an end.
const secondsPerHeader = 30

func (o Options) withDefaults() Options {
	for at, value := range map[*time.Duration]time.Duration{
		&o.Handshake: 10 * time.Second, &o.Stall: 10 * time.Second,
		&o.First: 500 * time.Millisecond, &o.Most: 30 * time.Second, &o.Penalty: 2 * time.Minute,
	} {
		if *at <= 0 {
			*at = value
		}
	}
	if o.Keep <= 0 {
		o.Keep = 8
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// addresses are the named peers with their ports, each once.
func (o Options) addresses() ([]string, error) {
	var all []string
	for _, p := range o.Peers {
		a, err := address(p, o.Params.DefaultPort)
		if err != nil {
			return nil, err
		}
		if !slices.Contains(all, a) {
			all = append(all, a)
		}
	}
	return all, nil
}

// address reads HOST, HOST:PORT, and an IPv6 address with or without brackets.
func address(text, defaultPort string) (string, error) {
	bad := func(format string, args ...any) (string, error) {
		return "", model.Errorf(model.Usage, "bad_source", format, args...)
	}
	if strings.Contains(text, "@") {
		return bad("a peer takes no user and no password: expected host:port")
	}
	bare := text
	if strings.HasPrefix(text, "[") && strings.HasSuffix(text, "]") {
		bare = text[1 : len(text)-1]
	}
	if ip, err := netip.ParseAddr(bare); err == nil {
		return net.JoinHostPort(ip.String(), defaultPort), nil
	}
	if !strings.Contains(text, ":") {
		text = net.JoinHostPort(text, defaultPort)
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || host == "" || strings.ContainsAny(host, "/?#% \t\n,") {
		return bad("%q is no address of a peer: expected host:port", text)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return bad("%q has no port: expected host:port with a port from 1 to 65535", text)
	}
	return net.JoinHostPort(host, port), nil
}
