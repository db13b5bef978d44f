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

// Options configures a [Network]. A duration of 0 means the default, which follows the semicolon.
type Options struct {
	Params *chaincfg.Params // the network
	Rules  *rules.Rules     // nil: the rules of Bitcoin
	Format *block.Format    // nil: the format of Bitcoin
	// Services are the services that peers must offer in addition to the newest blocks. BlockType is the inventory type
	// with which blocks are requested. If BlockType is 0, both default to blocks with witnesses.
	Services  wire.ServiceFlag
	BlockType wire.InvType
	Segwit    model.HeightPk // the first block that must have the witnesses that it commits to
	Extended  model.HeightPk // the first block that must have data after its transactions, if the format supports it
	// Peers are the addresses of peers, as HOST or HOST:PORT. The default is the port of the network. Other peers are
	// not used. If the list is empty, peers are discovered with the DNS seeds of the network.
	Peers []string
	Proxy string                  // as in [model.SourceOptions]
	Room  func(bytes int64) error // likewise
	// LookupHost resolves the host name of a DNS seed; nil: the resolver of the system.
	LookupHost func(ctx context.Context, host string) (addresses []string, err error)
	// Preparing, if not nil, is called while peers are connected and headers are downloaded for the first time. It must
	// not call methods of the network.
	Preparing func(what string, done, total uint64)

	// Header returns the headers of the database; nil: no database. A chain with less work than that of the database is
	// not followed.
	Header Headers

	Handshake time.Duration // timeout of a connection attempt, and of the version handshake; 10 s
	// Stall is the timeout of requested blocks and headers; 10 s. That of blocks is doubled if a peer stalls, since the
	// connection of this machine may be slow, and decreases again with each block.
	Stall   time.Duration
	First   time.Duration // pause before a peer is retried, doubled each time, ± 50%; 0.5 s
	Most    time.Duration // the maximum of this pause; 30 s
	Penalty time.Duration // pause after a stall if other peers are connected, doubled each time; 2 min

	Keep int          // number of connections to discovered peers; 8
	Log  *slog.Logger // nil: the default logger
}

// secondsPerHeader limits the number of headers of the tree: one per 30 seconds since the first block of the network.
// Real networks have far fewer.
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

// addresses returns the addresses of the configured peers with ports and without duplicates.
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

// address parses HOST, HOST:PORT or an IPv6 address with or without brackets. It returns HOST:PORT.
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
