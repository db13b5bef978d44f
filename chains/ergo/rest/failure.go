package rest

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"birthmark/chains/blocksource"
	"birthmark/chains/nodehttp"
	"birthmark/model"
)

// badAnswer is the error of a response that does not fit the request.
func (c *Client) badAnswer(asked, format string, args ...any) error {
	return model.Errorf(model.BadSource, "bad_answer", "%s: %s returned %s", c.Host(), asked, fmt.Sprintf(format, args...))
}

// refusal is the error of a response with an unexpected status or invalid JSON; text is its beginning.
func (c *Client) refusal(a *http.Response, asked string, text []byte) error {
	status, said := a.StatusCode, c.http.Said(text, 80)
	switch {
	case status >= 300 && status < 400:
		to := "another place"
		if u, err := url.Parse(a.Header.Get("Location")); err == nil && u.Host != "" {
			to = c.http.Excerpt(u.Scheme+"://"+u.Host, 80)
		}
		return model.Errorf(model.BadSource, "redirected", "%s redirects to %s (%d): expected the URL of the node itself", c.Host(), to, status)
	case nodehttp.IsBusy(status), status == http.StatusInternalServerError:
		return blocksource.Temporary(model.Errorf(model.BadSource, "busy", "%s is busy and did not answer %s (%d): %s", c.Host(), asked, status, said))
	case strings.HasPrefix(said, "<"):
		return c.http.NotANode("%s returned a web page (%s)", asked, a.Status)
	case status == http.StatusOK && c.http.Connected.Load():
		return c.badAnswer(asked, "%s", said)
	}
	return c.http.NotANode("%s returned %s: %s", asked, a.Status, said)
}

// keyError is the error of a key that cannot be read.
func (c *Client) keyError(err error) error {
	return blocksource.TemporaryIf(c.http.Connected.Load(), fmt.Errorf("the API key for %s: %w", c.Host(), err))
}

// unauthorized is the error of a refused or missing key.
func (c *Client) unauthorized(key string) error {
	text := "%s refuses the API key: it is not the node's"
	if key == "" {
		text = "%s asks for an API key: expected http://:API_KEY@HOST:PORT, or the key as the source's password"
	}
	return blocksource.TemporaryIf(c.http.Connected.Load(), model.Errorf(model.BadSource, "unauthorized", text, c.Host()))
}
