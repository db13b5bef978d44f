package rpc

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"birthmark/model"
)

// credentials are a user and password. They are compared by pointer: credentials that were read again are different.
type credentials struct{ user, password string }

// header returns the Authorization header of c, which may be nil.
func (c *credentials) header() http.Header {
	if c == nil {
		return nil
	}
	return http.Header{"Authorization": {"Basic " + c.basic()}}
}

func (c *credentials) basic() string {
	return base64.StdEncoding.EncodeToString([]byte(c.user + ":" + c.password))
}

// keyring has the node's credentials. Those in the URL do not change; a password from a function is read at its first
// use, and again after it was refused.
type keyring struct {
	user string                 // from the URL
	ask  func() (string, error) // nil: the URL has the password, or there is none

	mu      sync.Mutex
	asked   bool
	current *credentials // nil: none
}

func newKeyring(u *url.Userinfo, ask func() (string, error)) *keyring {
	k := &keyring{user: u.Username(), ask: ask}
	if password, ok := u.Password(); ok {
		k.ask = nil
		k.current = &credentials{k.user, password}
	} else if ask == nil && k.user != "" {
		k.current = &credentials{k.user, ""}
	}
	return k
}

// credentials returns the current ones, nil if there are none.
func (k *keyring) credentials() (*credentials, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ask == nil || k.asked {
		return k.current, nil
	}
	err := k.answer()
	return k.current, err
}

// renew returns the credentials to try after refused was refused: the same if nothing has changed.
func (k *keyring) renew(refused *credentials) (*credentials, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ask == nil || k.current != refused {
		return k.current, nil
	}
	err := k.answer()
	return k.current, err
}

// answer reads the password; current does not change if the password is the same.
func (k *keyring) answer() error {
	text, err := k.ask()
	if err != nil {
		return err
	}
	now := credentials{k.user, strings.TrimRight(text, "\r\n")}
	if user, password, ok := strings.Cut(now.password, ":"); ok {
		now = credentials{user, password}
	}
	k.asked = true
	switch {
	case now == credentials{}:
		k.current = nil
	case now.user == "":
		return model.Errorf(model.Usage, "bad_source", "there is a password for the node and no user: expected http://USER@HOST, or user:password as in a node's cookie file")
	case k.current == nil || *k.current != now:
		k.current = &now
	}
	return nil
}

// redact removes the password from text of a node.
func (k *keyring) redact(text string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil || k.current.password == "" {
		return text
	}
	return strings.NewReplacer(k.current.basic(), "…", k.current.password, "…").Replace(text)
}
