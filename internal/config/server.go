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

// Server says what a server asks of its clients and allows them, besides where it listens.
type Server struct {
	Cert, Key    string // files of TLS; both or none
	KeysFile     string // of API keys; empty: nobody is asked for one
	KeysOptional bool   // who shows no key is answered too

	Rate        float64        // requests a second of a client, if it is set; 0: as many as it likes
	Burst       int            // at once; 0: twice the rate
	Timeout     time.Duration  // of an answer
	Connections int            // at once
	CORS        []string       // origins whose pages may ask
	Proxies     []netip.Prefix // whose X-Forwarded-For is believed
	Hosts       []string       // names, in lower case, that a server on this machine alone answers for beside localhost

	ReadyWithin int    // blocks from the tip
	Profiles    string // address of pprof; empty: none
}

func defaultServer() Server {
	return Server{Timeout: 10 * time.Second, Connections: 4096, ReadyWithin: 2}
}

// Log says what log lines look like, and from which level on they are written.
type Log struct {
	Format string // text or json
	Level  slog.Level
}

var serverKeys = []key[Settings]{
	{name: "tls.cert", set: func(s *Settings, v, _ string) error { return setText(&s.Server.Cert, v) }},
	{name: "tls.key", set: func(s *Settings, v, _ string) error { return setText(&s.Server.Key, v) }},
	{name: "api_keys_file", set: func(s *Settings, v, _ string) error { return setText(&s.Server.KeysFile, v) }},
	{name: "api_keys_optional", set: func(s *Settings, v, _ string) (err error) { s.Server.KeysOptional, err = ParseSwitch(v); return err }},
	{name: "rate", set: setRate},
	{name: "burst", set: func(s *Settings, v, _ string) error { return setCount(&s.Server.Burst, v, 0, 1<<30) }},
	{name: "timeout", set: setTimeout},
	{name: "connections", set: func(s *Settings, v, _ string) error { return setCount(&s.Server.Connections, v, 16, 1<<20) }},
	{name: "cors", set: setOrigins, list: true},
	{name: "proxies", set: setProxies, list: true},
	{name: "hosts", set: setHosts, list: true},
	{name: "ready_within", set: func(s *Settings, v, _ string) error { return setCount(&s.Server.ReadyWithin, v, 0, model.MaxHeight) }},
	{name: "pprof", set: func(s *Settings, v, _ string) error { return setText(&s.Server.Profiles, v) }},
	{name: "log", set: setLog},
	{name: "log_level", set: setLogLevel},
}

// Check is an error where settings do not go together.
func (s *Settings) Check() error {
	for _, pair := range [][4]string{{"tls.cert", s.Server.Cert, "tls.key", s.Server.Key}, {"tls.key", s.Server.Key, "tls.cert", s.Server.Cert}} {
		if pair[1] != "" && pair[3] == "" {
			return invalid(s.origins[pair[0]], fmt.Errorf("%s without %s: TLS needs both files", pair[0], pair[2]))
		}
	}
	if s.Server.KeysOptional && s.Server.KeysFile == "" {
		return invalid(s.origins["api_keys_optional"], errors.New("api_keys_optional without api_keys_file"))
	}
	return nil
}

// DefaultRate is how many requests a second each client may make of a server that other machines can reach.
const DefaultRate = 100

// RateAt is the rate of a client of a server that listens at an address: the one that is set, else [DefaultRate] if
// other machines can reach the address, else 0, which is no limit.
func (s *Settings) RateAt(address string) float64 {
	if _, set := s.origins["rate"]; set || Loopback(address) {
		return s.Server.Rate
	}
	return DefaultRate
}

// Loopback reports whether only this machine can reach an address to listen at.
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

func setHosts(s *Settings, value, _ string) error {
	list := split(strings.ToLower(value))
	for _, v := range list {
		if strings.ContainsAny(v, ":/ *@[]") {
			return fmt.Errorf("%q is not the name of a host such as explorer.example.org", v)
		}
	}
	s.Server.Hosts = list
	return nil
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
		return fmt.Errorf("%q is not a number of requests a second, such as 50; 0 is no limit", value)
	}
	s.Server.Rate = r
	return nil
}

// leastTimeout is what an answer needs where a disk is slow.
const leastTimeout = 100 * time.Millisecond

func setTimeout(s *Settings, value, _ string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d < leastTimeout {
		return fmt.Errorf("%q is not a time such as 10s, at least %v", value, leastTimeout)
	}
	s.Server.Timeout = d
	return nil
}

// split are the values of a list, none where it is empty.
func split(value string) (list []string) {
	for v := range strings.SplitSeq(value, ",") {
		if v = strings.TrimSpace(v); v != "" {
			list = append(list, v)
		}
	}
	return list
}

func setOrigins(s *Settings, value, _ string) error {
	list := split(value)
	for _, v := range list {
		u, err := url.Parse(v)
		if v != "*" && (err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || v != u.Scheme+"://"+u.Host) {
			return fmt.Errorf("%q is not an origin such as https://example.org, https://*.example.org or *", v)
		}
	}
	s.Server.CORS = list
	return nil
}

func setProxies(s *Settings, value, _ string) error {
	var list []netip.Prefix
	for _, v := range split(value) {
		p, err := netip.ParsePrefix(v)
		if err != nil {
			a, err := netip.ParseAddr(v)
			if err != nil {
				return fmt.Errorf("%q is not an address such as 127.0.0.1, or a range such as 10.0.0.0/8", v)
			}
			p = netip.PrefixFrom(a, a.BitLen())
		}
		list = append(list, p.Masked())
	}
	s.Server.Proxies = list
	return nil
}

func setLog(s *Settings, value, _ string) error {
	if value != "text" && value != "json" {
		return fmt.Errorf("%q is neither text nor json", value)
	}
	s.Log.Format = value
	return nil
}

func setLogLevel(s *Settings, value, _ string) error {
	for _, l := range []slog.Level{slog.LevelDebug, slog.LevelInfo, slog.LevelWarn, slog.LevelError} {
		if strings.EqualFold(l.String(), value) {
			s.Log.Level = l
			return nil
		}
	}
	return fmt.Errorf("%q is not one of debug, info, warn, error", value)
}
