package rest

import (
	"crypto/x509"
	"errors"
	"net"
	"net/url"
	"os"
	"strconv"
	"strings"

	"birthmark/model"
)

// endpoint is where a node is, as its URL says.
type endpoint struct {
	url  *url.URL // scheme, host and path alone
	host string   // with port: how errors and logs name the node
	key  string   // the API key in the URL; empty: none
	cert *x509.CertPool
}

const expectedURL = "expected http://HOST:PORT, http://:API_KEY@HOST:PORT or https://…, special characters of a key written as %XX"

func badURL(format string, args ...any) error {
	return model.Errorf(model.Usage, "bad_source", format, args...)
}

// parseURL never quotes the URL in its errors, nor those of [url.Parse], which do: what a misplaced character makes of
// a key may stand in any part of it.
func parseURL(text, defaultPort string) (endpoint, error) {
	u, err := url.Parse(text)
	if err != nil {
		return endpoint{}, badURL("the node's URL cannot be read: %s", expectedURL)
	}
	port := u.Port()
	if port == "" {
		port = defaultPort
	}
	number, err := strconv.ParseUint(port, 10, 16)
	switch {
	case u.Scheme != "http" && u.Scheme != "https", u.Opaque != "", u.Hostname() == "":
		return endpoint{}, badURL("the node's URL names no host to ask over HTTP: %s", expectedURL)
	case u.Fragment != "" || strings.Contains(u.Path, "@"):
		return endpoint{}, badURL("the node's URL has an API key with a character that is not written as %%XX: %s", expectedURL)
	case u.User.Username() != "":
		return endpoint{}, badURL("the node's URL names a user, and an Ergo node knows none: %s", expectedURL)
	case err != nil || number == 0:
		return endpoint{}, badURL("the port in the node's URL is none: expected 1 to 65535")
	}
	e := endpoint{
		url:  &url.URL{Scheme: u.Scheme, Path: u.Path, RawPath: u.RawPath},
		host: net.JoinHostPort(u.Hostname(), port),
	}
	e.url.Host = e.host
	e.key, _ = u.User.Password()
	query, err := url.ParseQuery(u.RawQuery)
	switch {
	case err != nil, len(query) > 1, len(query) == 1 && len(query["cert"]) != 1:
		return endpoint{}, badURL("the node's URL has a query that means nothing: expected none, or ?cert=FILE")
	case len(query) == 0:
		return e, nil
	case u.Scheme != "https":
		return endpoint{}, badURL("the node's URL has a ?cert= and no TLS: expected https://")
	}
	e.cert, err = certificates(query.Get("cert"))
	return e, err
}

// certificates is what the system trusts and the certificates in a PEM file.
func certificates(file string) (*x509.CertPool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, badURL("?cert=: %w", errors.Unwrap(err))
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, badURL("?cert=: there is no certificate in %s: expected PEM", file)
	}
	return pool, nil
}
