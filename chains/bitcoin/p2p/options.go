package p2p

import (
	"context"
	"log/slog"
	"net"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/btcsuite/btcd/chaincfg/v2"
	"github.com/btcsuite/btcd/wire/v2"

	"birthmark/chains/bitcoin/block"
	"birthmark/chains/bitcoin/rules"
	"birthmark/model"
)

// Options configure a Network. A time of 0 is the default.
type Options struct {
	Params *chaincfg.Params // the network
	Rules  *rules.Rules     // nil: those of Bitcoin
	Format *block.Format    // nil: that of Bitcoin
	// Services are required of peers, beside the newest blocks; BlockType is how a block is requested. 0: witnesses.
	Services  wire.ServiceFlag
	BlockType wire.InvType
	Segwit    model.HeightPk // the first block that must have the witnesses that it commits to
	Extended  model.HeightPk // the first block that must have data after its transactions, if the format has such data
	// Peers are HOST or HOST:PORT; the default port is the network's. Only these are used; if there are none, peers are
	// found with the network's DNS seeds.
	Peers []string
	// LookupHost resolves the name of a DNS seed; nil: the system's resolver.
	LookupHost func(ctx context.Context, host string) (addresses []string, err error)
	// Preparing, if not nil, is called while peers are found and headers are loaded for the first time. It must not call
	// methods of the network.
	Preparing func(what string, done, total uint64)

	// Header returns the database's headers; nil: no database. A chain with less work than the database's is not
	// followed.
	Header Headers

	Handshake time.Duration // timeout of connecting and the version handshake; 10 s
	// Stall is the time a peer may take to send a requested block or headers; 10 s. It grows while peers stall, since
	// the line may be slow, and shrinks again.
	Stall   time.Duration
	First   time.Duration // wait before a peer is retried, doubled each time, ± 50%; 0.5 s
	Most    time.Duration // the longest such wait; 30 s
	Penalty time.Duration // wait for a stalled peer while there are others, doubled each time; 2 min

	Keep int          // number of connections to discovered peers; 8
	Log  *slog.Logger // nil: the default logger
}

// secondsPerHeader limits the number of headers of a chain: one per this time since the network's first block. Real
// networks have far fewer.
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
	if o.Rules == nil {
		o.Rules = rules.New(o.Params, nil)
	}
	if o.Format == nil {
		o.Format = &block.Bitcoin
	}
	if o.BlockType == 0 {
		o.Services, o.BlockType = wire.SFNodeWitness, wire.InvTypeWitnessBlock
	}
	if o.Keep <= 0 {
		o.Keep = 8
	}
	if o.LookupHost == nil {
		o.LookupHost = net.DefaultResolver.LookupHost
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	return o
}

// addresses returns the configured peers with their ports, each once.
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

// address parses HOST, HOST:PORT, and an IPv6 address with or without brackets.
func address(text, defaultPort string) (string, error) {
	bad := func(format string, args ...any) (string, error) {
		return "", model.Errorf(model.Usage, "bad_source", format, args...)
	}
	if strings.Contains(text, "@") {
		return bad("peers have no users and passwords: expected host:port")
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
		return bad("invalid address of a peer %q: expected host:port", text)
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return bad("invalid port in %q: expected host:port with a port from 1 to 65535", text)
	}
	return net.JoinHostPort(host, port), nil
}
