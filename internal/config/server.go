package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"birthmark/model"
)

// Server are the settings of a server except its address. Each is a line of the settings file, a flag and an
// environment variable of the same name. TLS is a mapping, because its two files belong together.
type Server struct {
	Cert, Key string // TLS files; both or none
	KeysFile  string // of API keys; empty: no keys are required
	Anonymous bool   // requests without a key are allowed too

	RateLimit      float64        // requests per second of a client, if it is set; 0: unlimited
	RateBurst      int            // requests at once; 0: twice the rate
	SubmitLimit    float64        // transactions per minute of a client, if it is set; 0: unlimited
	RequestTimeout time.Duration  // for one answer
	MaxConnections int            // open at once
	CORSOrigins    []string       // origins whose pages may read answers of the APIs; "*": all; empty: none
	TrustedProxies []netip.Prefix // proxies whose X-Forwarded-For header is trusted
	Hosts          []string       // lower-case host names accepted on a loopback address in addition to localhost

	Site           Site
	ImmutableDepth int // confirmations after which answers that cannot change are cached for ever; 0: by chain

	MaxLagBlocks int    // /readyz: maximum number of blocks behind the source
	Profiles     string // address of pprof; empty: none

	Electrum Electrum
}

func defaultServer() Server {
	return Server{
		RequestTimeout: 10 * time.Second, MaxConnections: 4096, CORSOrigins: []string{"*"}, MaxLagBlocks: 2, Electrum: defaultElectrum(),
	}
}

// Log is the format and the lowest level of log lines.
type Log struct {
	Format string // text or json
	Level  slog.Level
}

var serverKeys = []key[Settings]{
	{name: "tls.cert", set: func(s *Settings, v, _ string) error { return setText(&s.Server.Cert, v) }},
	{name: "tls.key", set: func(s *Settings, v, _ string) error { return setText(&s.Server.Key, v) }},
	{name: "api_keys_file", set: func(s *Settings, v, _ string) error { return setText(&s.Server.KeysFile, v) }},
	{name: "allow_anonymous", set: func(s *Settings, v, _ string) (err error) { s.Server.Anonymous, err = ParseSwitch(v); return err }},
	{name: "rate_limit", set: setRate},
	{name: "rate_burst", set: func(s *Settings, v, _ string) error { return setCount(&s.Server.RateBurst, v, 0, 1<<30) }},
	{name: "submit_limit", set: setSubmitLimit},
	{name: "request_timeout", set: setTimeout},
	{name: "max_connections", set: func(s *Settings, v, _ string) error { return setCount(&s.Server.MaxConnections, v, 16, 1<<20) }},
	{name: "cors_origins", list: true, set: func(s *Settings, v, _ string) error { return setList(&s.Server.CORSOrigins, v, parseOrigin) }},
	{name: "trusted_proxies", list: true, set: func(s *Settings, v, _ string) error { return setList(&s.Server.TrustedProxies, v, parseProxy) }},
	{name: "hosts", list: true, set: func(s *Settings, v, _ string) error { return setList(&s.Server.Hosts, v, parseHost) }},
	{name: "base_path", set: func(s *Settings, v, _ string) error { return setBasePath(&s.Server.Site.BasePath, v) }},
	{name: "title", set: func(s *Settings, v, _ string) error { return setLine(&s.Server.Site.Title, v, maxTitle) }},
	{name: "logo", set: func(s *Settings, v, _ string) error { return setText(&s.Server.Site.Logo, v) }},
	{name: "notice", set: func(s *Settings, v, _ string) error { return setLine(&s.Server.Site.Notice, v, maxNotice) }},
	{name: "labels_file", set: func(s *Settings, v, _ string) error { return setText(&s.Server.Site.Labels, v) }},
	{name: "asset_pictures", set: func(s *Settings, v, _ string) error { return setGateway(&s.Server.Site.Pictures, v) }},
	{name: "immutable_depth", set: func(s *Settings, v, _ string) error {
		return setCount(&s.Server.ImmutableDepth, v, 0, model.MaxHeight)
	}},
	{name: "max_lag_blocks", set: func(s *Settings, v, _ string) error { return setCount(&s.Server.MaxLagBlocks, v, 0, model.MaxHeight) }},
	{name: "pprof", set: func(s *Settings, v, _ string) error { return setText(&s.Server.Profiles, v) }},
	{name: "log", set: setLog},
	{name: "log_level", set: setLogLevel},
}

// Check returns an error if settings contradict each other.
func (s *Settings) Check() error {
	if (s.Server.Cert == "") != (s.Server.Key == "") {
		set, missing := "tls.cert", "tls.key"
		if s.Server.Cert == "" {
			set, missing = missing, set
		}
		return at(s.origins[set], fmt.Errorf("%s without %s: TLS needs both files", set, missing))
	}
	if s.Server.Anonymous && s.Server.KeysFile == "" {
		return at(s.origins["allow_anonymous"], errors.New("allow_anonymous without api_keys_file"))
	}
	return nil
}

// DefaultRate is the rate limit, in requests per second of a client, of a server that other machines can reach.
const DefaultRate = 100

// RateAt returns the rate limit of a server that listens at an address: the configured one, else [DefaultRate] if other
// machines can reach the address, else 0, which means unlimited: a loopback address has one user, or a proxy.
func (s *Settings) RateAt(address string) float64 {
	if _, set := s.origins["rate_limit"]; set || Loopback(address) {
		return s.Server.RateLimit
	}
	return DefaultRate
}

// DefaultSubmitLimit is the limit of submitted transactions, per minute of a client, of a server that other machines
// can reach.
const DefaultSubmitLimit = 10

// SubmitLimitAt returns the limit of submitted transactions of a server that listens at an address: see
// [Settings.RateAt].
func (s *Settings) SubmitLimitAt(address string) float64 {
	if _, set := s.origins["submit_limit"]; set || Loopback(address) {
		return s.Server.SubmitLimit
	}
	return DefaultSubmitLimit
}

// Loopback reports whether only this machine can reach a listening address.
func Loopback(address string) bool {
	if strings.HasPrefix(address, "unix:") {
		return true
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.Unmap().IsLoopback()
}

func setCount(to *int, value string, least, most int) error {
	n, err := strconv.Atoi(value)
	if err != nil || n < least || n > most {
		return fmt.Errorf("%q is not a number from %d to %d", value, least, most)
	}
	*to = n
	return nil
}

func setRate(s *Settings, value, _ string) error {
	r, err := strconv.ParseFloat(value, 64)
	if err != nil || !(r >= 0 && r <= 1e9) {
		return fmt.Errorf("%q is not a number of requests per second such as 50; 0: no limit", value)
	}
	s.Server.RateLimit = r
	return nil
}

func setSubmitLimit(s *Settings, value, _ string) error {
	r, err := strconv.ParseFloat(value, 64)
	if err != nil || !(r >= 0 && r <= 1e9) {
		return fmt.Errorf("%q is not a number of transactions per minute such as 10; 0: no limit", value)
	}
	s.Server.SubmitLimit = r
	return nil
}

// leastTimeout leaves time for an answer from a slow disk.
const leastTimeout = 100 * time.Millisecond

func setTimeout(s *Settings, value, _ string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d < leastTimeout {
		return fmt.Errorf("%q is not a duration of at least %[2]v, such as 10s", value, leastTimeout)
	}
	s.Server.RequestTimeout = d
	return nil
}

// setList reads a comma-separated list.
func setList[T any](to *[]T, value string, parse func(string) (T, error)) error {
	var list []T
	for text := range strings.SplitSeq(value, ",") {
		if text = strings.TrimSpace(text); text == "" {
			continue
		}
		v, err := parse(text)
		if err != nil {
			return err
		}
		list = append(list, v)
	}
	*to = list
	return nil
}

func parseHost(text string) (string, error) {
	if strings.ContainsAny(text, ":/ *@[]") {
		return "", fmt.Errorf("%q is not a host name such as explorer.example.org", text)
	}
	return strings.ToLower(text), nil
}

func parseOrigin(text string) (string, error) {
	u, err := url.Parse(text)
	if text != "*" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || text != u.Scheme+"://"+u.Host) {
		return "", fmt.Errorf("%q is not an origin such as https://example.org, https://*.example.org or *", text)
	}
	return text, nil
}

func parseProxy(text string) (netip.Prefix, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return netip.PrefixFrom(a, a.BitLen()), nil
	}
	p, err := netip.ParsePrefix(text)
	if err != nil {
		return p, fmt.Errorf("%q is not an IP address such as 127.0.0.1 or a range such as 10.0.0.0/8", text)
	}
	return p.Masked(), nil
}

func setLog(s *Settings, value, _ string) error {
	if value != "text" && value != "json" {
		return fmt.Errorf("%q is not text or json", value)
	}
	s.Log.Format = value
	return nil
}

func setLogLevel(s *Settings, value, _ string) error {
	if s.Log.Level.UnmarshalText([]byte(value)) != nil {
		return fmt.Errorf("%q is not one of debug, info, warn, error", value)
	}
	return nil
}
