package rest

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode"

	"birthmark/chains/follow"
	"birthmark/model"
)

// unreachable is the error of a node that is not there just now.
func (c *Client) unreachable(format string, args ...any) error {
	return follow.Temporary(model.Errorf(model.BadSource, "unreachable", "%s is unreachable: %s", c.Host(), fmt.Sprintf(format, args...)))
}

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
		hint = " (trust the node's own by ?cert=FILE in the URL)"
	}
	return model.Errorf(model.BadSource, "bad_certificate", "the certificate of %s is refused: %w%s", c.Host(), err, hint)
}

func (c *Client) notANode(got string) error {
	return model.Errorf(model.BadSource, "not_a_node", "%s does not answer as an Ergo node: %s", c.Host(), got)
}

// badAnswer is the error of an answer that is none to what was asked.
func (c *Client) badAnswer(asked, format string, args ...any) error {
	return model.Errorf(model.BadSource, "bad_answer", "%s: %s gave %s", c.Host(), asked, fmt.Sprintf(format, args...))
}

// refusal is the error of an answer with another status than was hoped for, or that is not the JSON it should be; text
// is how it begins.
func (c *Client) refusal(a *answer, asked string, text []byte) error {
	status := a.response.StatusCode
	said := c.excerpt(string(text), 80)
	switch {
	case len(text) == 0:
		said = "nothing"
	case said == "":
		said = "nothing that is text"
	}
	switch {
	case status >= 300 && status < 400:
		to := "another place"
		if u, err := url.Parse(a.response.Header.Get("Location")); err == nil && u.Host != "" {
			to = c.excerpt(u.Scheme+"://"+u.Host, 80)
		}
		return model.Errorf(model.BadSource, "redirected", "%s redirects to %s (%d): expected the URL of the node itself", c.Host(), to, status)
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests,
		status == http.StatusBadGateway, status == http.StatusGatewayTimeout, status == http.StatusInternalServerError:
		return follow.Temporary(model.Errorf(model.BadSource, "busy", "%s cannot answer %s just now (%d): %s", c.Host(), asked, status, said))
	case strings.HasPrefix(said, "<"):
		return c.notANode(fmt.Sprintf("%s gave a web page (%s)", asked, a.response.Status))
	case status == http.StatusOK && c.connected.Load():
		return c.badAnswer(asked, "%s", said)
	}
	return c.notANode(fmt.Sprintf("%s gave %s: %s", asked, a.response.Status, said))
}

// excerpt is the beginning of what somebody else said, on one line, without what does not print and the key.
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

// keyError is the error of a key that is not to be had.
func (c *Client) keyError(err error) error {
	err = fmt.Errorf("the API key for %s: %w", c.Host(), err)
	if c.connected.Load() {
		return follow.Temporary(err)
	}
	return err
}

// unauthorized is the error of a key that was refused, or of none where there has to be one.
func (c *Client) unauthorized(key string) error {
	text := "%s refuses the API key: it is another one"
	if key == "" {
		text = "%s asks for an API key: expected http://:API_KEY@HOST:PORT, or the key as the source's password"
	}
	err := model.Errorf(model.BadSource, "unauthorized", text, c.Host())
	if c.connected.Load() {
		return follow.Temporary(err)
	}
	return err
}
