package rpc

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"

	"birthmark/chains/adapter"
	"birthmark/model"
)

// credentials are a user and a password. The zero value means no credentials.
type credentials struct{ user, password string }

func (c credentials) header() http.Header {
	if c == (credentials{}) {
		return nil
	}
	return http.Header{"Authorization": {"Basic " + c.basic()}}
}

func (c credentials) basic() string {
	return base64.StdEncoding.EncodeToString([]byte(c.user + ":" + c.password))
}

// newSecret returns the credentials in a URL, or the result of password if the URL has none.
func newSecret(u *url.Userinfo, password func() (string, error)) *adapter.Secret[credentials] {
	inURL, ok := u.Password()
	fixed := credentials{u.Username(), inURL}
	if ok || password == nil {
		return adapter.NewSecret(fixed, nil)
	}
	return adapter.NewSecret(fixed, func() (credentials, error) {
		text, err := password()
		if err != nil {
			return credentials{}, err
		}
		text = strings.TrimRight(text, "\r\n")
		if user, password, ok := strings.Cut(text, ":"); ok {
			return credentials{user, password}, nil
		}
		if fixed.user == "" && text != "" {
			return credentials{}, model.Errorf(model.Usage, "bad_source", "the node's password has no user: expected http://USER@HOST, or user:password as in a node's cookie file")
		}
		return credentials{fixed.user, text}, nil
	})
}

// redact removes the password from a node's answer.
func (c *Client) redact(text string) string {
	now := c.secret.Current()
	if now.password == "" {
		return text
	}
	return strings.NewReplacer(now.basic(), "…", now.password, "…").Replace(text)
}
