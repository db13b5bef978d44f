package adapter

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"golang.org/x/net/proxy"
)

// Dial connects to a host and port. If it fails because its context ends, the context has ended when it returns.
type Dial func(ctx context.Context, network, address string) (net.Conn, error)

// Dialer returns connections through a SOCKS5 proxy, socks5://[USER:PASSWORD@]HOST:PORT, which also resolves the names.
// Addresses of this machine and of private networks are connected to directly, as all are if via is empty. Then those of
// Tor are an error. timeout limits a direct connection and that to the proxy. The network unix is connected to directly.
func Dialer(via string, timeout time.Duration) (Dial, error) {
	direct := &net.Dialer{Timeout: timeout}
	var through proxy.ContextDialer
	if via != "" {
		u, err := url.Parse(via)
		if err != nil || u.Scheme != "socks5" && u.Scheme != "socks5h" || u.Hostname() == "" || u.Port() == "" {
			return nil, fmt.Errorf("invalid proxy: expected socks5://HOST:PORT, such as socks5://127.0.0.1:9050")
		}
		d, err := proxy.FromURL(u, direct)
		if err != nil {
			return nil, fmt.Errorf("invalid proxy: %w", err)
		}
		through = d.(proxy.ContextDialer)
	}
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		if network == "unix" {
			return connect(ctx, direct, network, address)
		}
		host, _, err := net.SplitHostPort(address)
		switch {
		case err != nil:
			return nil, err
		case through != nil && !isLocal(host):
			return connect(ctx, through, network, address)
		case strings.HasSuffix(host, ".onion"):
			return nil, &net.OpError{Op: "dial", Net: network,
				Err: fmt.Errorf("%s is an address of Tor: set proxy to a SOCKS5 proxy of Tor, such as socks5://127.0.0.1:9050", host)}
		}
		return connect(ctx, direct, network, address)
	}, nil
}

// connect waits for the end of a context whose deadline has passed: a socket has a timer of its own, which can be earlier
// than that of the context.
func connect(ctx context.Context, d proxy.ContextDialer, network, address string) (net.Conn, error) {
	c, err := d.DialContext(ctx, network, address)
	if at, ok := ctx.Deadline(); err != nil && ok && !time.Now().Before(at) {
		<-ctx.Done()
	}
	return c, err
}

func isLocal(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && (ip.IsLoopback() || ip.IsPrivate() || ip.IsLinkLocalUnicast())
}
