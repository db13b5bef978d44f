package nodehttp

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"birthmark/model"
)

// Kind has the common properties of the nodes of a chain. Its texts are parts of errors.
type Kind struct {
	Node   string // a node, with its article: an Ergo node
	URL    string // the expected URL: expected http://…
	Secret string // the secret part of a URL, with its article: an API key
	NoUser bool   // URLs have no user name
	Chain  string // chain and network of the node: ergo testnet
	// CertOf is the node software that creates its own certificate, and CertFile the file; empty: none does.
	CertOf, CertFile string
	Packed           bool // responses may be compressed
}

// endpoint is the parsed URL of a node.
type endpoint struct {
	url  *url.URL // scheme, host and path only
	host string   // with port: the name of the node in errors and logs
	user *url.Userinfo
	cert *x509.CertPool // root certificates of a https endpoint; nil: the system's
}

func badURL(format string, args ...any) error {
	return model.Errorf(model.Usage, "bad_source", format, args...)
}

// parse returns errors without the URL, because a mistyped URL can have a secret in any part. It does not wrap errors
// of [url.Parse], which contain the URL.
func (k *Kind) parse(text, defaultPort string) (endpoint, error) {
	u, err := url.Parse(text)
	if err != nil {
		return endpoint{}, badURL("invalid URL of the node: %s", k.URL)
	}
	port := u.Port()
	if port == "" {
		port = defaultPort
	}
	number, err := strconv.ParseUint(port, 10, 16)
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Opaque != "", u.Hostname() == "":
		return endpoint{}, badURL("the node's URL has no host to connect to over HTTP: %s", k.URL)
	case u.Fragment != "" || strings.Contains(u.Path, "@"):
		return endpoint{}, badURL("the node's URL has %s with a character that must be percent-encoded: %s", k.Secret, k.URL)
	case k.NoUser && u.User.Username() != "":
		return endpoint{}, badURL("the node's URL has a user name, which %s does not support: %s", k.Node, k.URL)
	case err != nil || number == 0:
		return endpoint{}, badURL("invalid port in the node's URL: expected 1 to 65535")
	}
	e := endpoint{
		url:  &url.URL{Scheme: u.Scheme, Path: u.Path, RawPath: u.RawPath},
		host: net.JoinHostPort(u.Hostname(), port),
		user: u.User,
	}
	e.url.Host = e.host
	query, err := url.ParseQuery(u.RawQuery)
	switch {
	case err != nil, len(query) > 1, len(query) == 1 && len(query["cert"]) != 1:
		return endpoint{}, badURL("the node's URL has an unsupported query: expected none, or ?cert=FILE")
	case len(query) == 0:
		return e, nil
	case u.Scheme != "https":
		return endpoint{}, badURL("the node's URL has ?cert= without TLS: expected https://")
	}
	e.cert, err = k.certificates(query.Get("cert"))
	return e, err
}

// certificates returns the system's certificates and those in a PEM file.
func (k *Kind) certificates(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, badURL("?cert=: %w", errors.Unwrap(err))
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		like := ""
		if k.CertOf != "" {
			like = fmt.Sprintf(", as in %s's %s", k.CertOf, k.CertFile)
		}
		return nil, badURL("?cert=: no certificate in %s: expected PEM%s", file, like)
	}
	return pool, nil
}
