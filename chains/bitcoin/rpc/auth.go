package rpc

import (
	"encoding/base64"
	"net/http"
	"net/url"
	"strings"
	"sync"

	"birthmark/model"
)

// credentials are one user and password. They are compared by pointer: asked for again, they are others.
type credentials struct{ user, password string }

// header shows c to a node; c may be nil.
func (c *credentials) header() http.Header {
	if c == nil {
		return nil
	}
	return http.Header{"Authorization": {"Basic " + c.basic()}}
}

func (c *credentials) basic() string {
	return base64.StdEncoding.EncodeToString([]byte(c.user + ":" + c.password))
}

// keyring knows which credentials a node is asked with. Those in the URL stay; a password that is a question is asked
// when it is first needed, and again when it was refused.
type keyring struct {
	user string                 // that the URL names
	ask  func() (string, error) // nil: the URL says all there is

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

// credentials are those to ask with now; nil where there are none.
func (k *keyring) credentials() (*credentials, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ask == nil || k.asked {
		return k.current, nil
	}
	err := k.answer()
	return k.current, err
}

// renew is what to try after refused was refused: the same where nothing has changed.
func (k *keyring) renew(refused *credentials) (*credentials, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ask == nil || k.current != refused {
		return k.current, nil
	}
	err := k.answer()
	return k.current, err
}

// answer asks for the password; current stays as it is where nothing has changed.
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

// redact removes the password from what a node says.
func (k *keyring) redact(text string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == nil || k.current.password == "" {
		return text
	}
	return strings.NewReplacer(k.current.basic(), "…", k.current.password, "…").Replace(text)
}
