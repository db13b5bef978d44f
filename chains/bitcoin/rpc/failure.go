package rpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"unicode"

	"birthmark/chains/follow"
	"birthmark/model"
)

// networkError says what became of a request that came to no answer, or of an answer that broke. cause is why the
// request was ended, where it was.
func (c *Client) networkError(ctx context.Context, cause, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if errors.Is(cause, errSlow) {
		return c.unreachable("nothing has come from it for too long")
	}
	if e, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return c.badCertificate(e.Err)
	}
	_, noTLS := errors.AsType[tls.RecordHeaderError](err)
	switch {
	case errors.Is(err, http.ErrSchemeMismatch), noTLS:
		return c.notANode("it does not speak TLS (expected http://)")
	case strings.Contains(err.Error(), "malformed "):
		return c.notANode("it does not speak HTTP (expected https://, or another port: that for peers does not answer)")
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return c.unreachable("it closed the connection")
	}
	if e, ok := errors.AsType[*net.DNSError](err); ok && e.IsNotFound && !c.connected.Load() {
		return model.Errorf(model.BadSource, "unreachable", "%s is unreachable: no such host", c.Host())
	}
	return c.unreachable("%s", c.excerpt(err.Error(), 200))
}

func (c *Client) badCertificate(err error) error {
	hint := ""
	if _, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		hint = " (trust the node's own by ?cert=FILE in the URL; btcd's is its rpc.cert)"
	}
	return model.Errorf(model.BadSource, "bad_certificate", "the certificate of %s is refused: %w%s", c.Host(), err, hint)
}

func (c *Client) notANode(got string) error {
	return model.Errorf(model.BadSource, "not_a_node", "%s does not answer as a Bitcoin node: %s", c.Host(), got)
}

// refusal is the error of an answer with another status than 200, and of one that is no JSON; text is how it begins.
func (c *Client) refusal(a *answer, text []byte) error {
	status := a.response.StatusCode
	said := c.excerpt(string(text), 60)
	switch {
	case len(text) == 0:
		said = "nothing"
	case said == "":
		said = "nothing that is text"
	}
	switch {
	case status == http.StatusForbidden:
		return model.Errorf(model.BadSource, "forbidden",
			"%s refuses this machine or what it asks for (403): expected the node's rpcallowip and rpcwhitelist to allow it", c.Host())
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests,
		status == http.StatusBadGateway, status == http.StatusGatewayTimeout,
		status == http.StatusInternalServerError && strings.HasPrefix(said, "Work queue depth exceeded"):
		return follow.Temporary(model.Errorf(model.BadSource, "busy", "%s is too busy (%d): %s", c.Host(), status, said))
	case status == http.StatusOK && len(text) == 0:
		// A btcd that is shutting down answers like this.
		return c.unreachable("it answered nothing")
	}
	return c.notANode("it said " + a.response.Status + ": " + said)
}

// excerpt is the beginning of what somebody else said, on one line, without what does not print and the password.
func (c *Client) excerpt(text string, most int) string {
	text = strings.ToValidUTF8(c.keys.redact(text), " ")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return unicode.IsSpace(r) || !unicode.IsPrint(r)
	}), " ")
	if runes := []rune(text); len(runes) > most {
		text = string(runes[:most]) + "…"
	}
	return text
}

// passwordError is the error of a password that is not to be had. A node's cookie is away while the node is.
func (c *Client) passwordError(err error) error {
	err = fmt.Errorf("the password for %s: %w", c.Host(), err)
	if c.authorized.Load() {
		return follow.Temporary(err)
	}
	return err
}

// unauthorized is the error of credentials that were refused.
func (c *Client) unauthorized(refused *credentials) error {
	var err error
	switch {
	case refused == nil:
		return model.Errorf(model.BadSource, "unauthorized",
			"%s asks for a user and a password: expected http://USER:PASSWORD@HOST, or the node's cookie as password file", c.Host())
	case refused.password == "":
		err = model.Errorf(model.BadSource, "unauthorized", "user %q is refused by %s: there is no password for it", refused.user, c.Host())
	default:
		err = model.Errorf(model.BadSource, "unauthorized",
			"user %q is refused by %s: wrong password (a node's cookie changes when it restarts)", refused.user, c.Host())
	}
	if c.authorized.Load() {
		return follow.Temporary(err)
	}
	return err
}
