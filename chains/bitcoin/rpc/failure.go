package rpc

import (
	"fmt"
	"net/http"
	"strings"

	"birthmark/chains/blocksource"
	"birthmark/chains/nodehttp"
	"birthmark/model"
)

// refusal is the error of a response with another status than 200, or with invalid JSON; text is its beginning.
func (c *Client) refusal(a *answer, text []byte) error {
	status := a.response.StatusCode
	said := c.http.Said(text, 60)
	switch {
	case status == http.StatusForbidden:
		return model.Errorf(model.BadSource, "forbidden",
			"%s rejects this machine or the method (403): allow both with the node's rpcallowip and rpcwhitelist", c.Host())
	case nodehttp.IsBusy(status), status == http.StatusInternalServerError && strings.HasPrefix(said, "Work queue depth exceeded"):
		return blocksource.Temporary(model.Errorf(model.BadSource, "busy", "%s is too busy (%d): %s", c.Host(), status, said))
	case status == http.StatusOK && len(text) == 0:
		// A btcd that is shutting down answers like this.
		return c.http.Unreachable("it answered nothing")
	}
	return c.http.NotANode("it said %s: %s", a.response.Status, said)
}

// passwordError is the error of a password that cannot be read. The cookie file is missing while the node is down.
func (c *Client) passwordError(err error) error {
	return blocksource.TemporaryIf(c.authorized.Load(), fmt.Errorf("the password for %s: %w", c.Host(), err))
}

func (c *Client) unauthorized(refused credentials) error {
	var err error
	switch {
	case refused == credentials{}:
		return model.Errorf(model.BadSource, "unauthorized",
			"%s requires a user and a password: expected http://USER:PASSWORD@HOST, or the node's cookie as password file", c.Host())
	case refused.password == "":
		err = model.Errorf(model.BadSource, "unauthorized", "no password for user %q of %s", refused.user, c.Host())
	default:
		err = model.Errorf(model.BadSource, "unauthorized",
			"wrong password for user %q of %s (a node's cookie changes when it restarts)", refused.user, c.Host())
	}
	return blocksource.TemporaryIf(c.authorized.Load(), err)
}
