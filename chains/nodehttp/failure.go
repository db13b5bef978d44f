package nodehttp

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"unicode"

	"birthmark/chains/adapter"
	"birthmark/chains/blocksource"
	"birthmark/model"
)

// Unreachable is the error of a node that is temporarily unreachable.
func (c *Client) Unreachable(format string, args ...any) error {
	return blocksource.Temporary(c.unreachable(format, args...))
}

func (c *Client) unreachable(format string, args ...any) error {
	return model.Errorf(model.BadSource, "unreachable", "%s is unreachable: %s", c.Host(), fmt.Sprintf(format, args...))
}

// NotANode is the error of a server at the URL that is not a node of the kind; got describes it.
func (c *Client) NotANode(format string, args ...any) error {
	return model.Errorf(model.BadSource, "not_a_node", "%s does not answer as %s: %s", c.Host(), c.kind.Node, fmt.Sprintf(format, args...))
}

// failure classifies the error of a request without response, or of a broken response. cause is the reason if the
// request was cancelled.
func (c *Client) failure(ctx context.Context, cause, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(cause, errSlow) {
		return c.Unreachable("it sent no data for too long")
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return c.badCertificate(e.Err)
	}
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case errors.Is(err, http.ErrSchemeMismatch), noTLS:
		return c.NotANode("it does not use TLS (expected http://)")
	case strings.Contains(err.Error(), "malformed "):
		return c.NotANode("it does not use HTTP (expected https://, or another port than that for peers)")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return c.Unreachable("it closed the connection")
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok && e.IsNotFound && !c.Connected.Load() {
		return model.Errorf(model.BadSource, "unreachable", "%s is unreachable: no such host", c.Host())
	}
	e, ok := errors.AsType[*net.OpError](err)
	if ok {
		err = e.Err // without the address
	}
	if e, ok := errors.AsType[*os.SyscallError](err); ok {
		err = e.Err // without the name of the call
	}
	hint := ""
	if ok && e.Op == "dial" {
		hint = adapter.NodeDown(c.Host(), c.kind.Chain, c.port)
	}
	unreachable := c.unreachable("%s%s", c.Excerpt(err.Error(), 200), hint)
	if ok && (e.Op == "dial" || strings.HasPrefix(e.Op, "socks")) {
		return blocksource.NoAnswer(unreachable)
	}
	return blocksource.Temporary(unreachable)
}

func (c *Client) badCertificate(err error) error {
	hint := ""
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		if c.kind.CertOf != "" {
			hint = fmt.Sprintf("; %s's is its %s", c.kind.CertOf, c.kind.CertFile)
		}
		hint = " (trust the node's own by ?cert=FILE in the URL" + hint + ")"
	}
	return model.Errorf(model.BadSource, "bad_certificate", "rejected the certificate of %s: %w%s", c.Host(), err, hint)
}

// IsBusy reports whether a status means that a node, or a proxy in front of it, is temporarily overloaded.
func IsBusy(status int) bool {
	switch status {
	case http.StatusServiceUnavailable, http.StatusTooManyRequests, http.StatusBadGateway, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// Said returns an excerpt of a response for an error, or a description if the excerpt is empty.
func (c *Client) Said(text []byte, most int) string {
	if len(text) == 0 {
		return "nothing"
	}
	if said := c.Excerpt(string(text), most); said != "" {
		return said
	}
	return "nothing that is text"
}

// Excerpt returns the beginning of a foreign text, at most n characters, on one line, without unprintable characters
// and secrets.
func (c *Client) Excerpt(text string, most int) string {
	if c.Redact != nil {
		text = c.Redact(text)
	}
	text = strings.ToValidUTF8(text, " ")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}
