package rest

import (
	"strings"
	"sync"
)

// keyring knows the API key. One in the URL stays; one that is a question is asked when it is first needed, and again
// when it was refused.
type keyring struct {
	ask func() (string, error) // nil: the URL says all there is

	mu      sync.Mutex
	asked   bool
	current string // empty: none
}

func newKeyring(inURL string, ask func() (string, error)) *keyring {
	if inURL != "" {
		ask = nil
	}
	return &keyring{ask: ask, current: inURL}
}

// key is the one to ask with now.
func (k *keyring) key() (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ask == nil || k.asked {
		return k.current, nil
	}
	return k.answer()
}

// renew is the key to try after refused was refused: the same where nothing has changed.
func (k *keyring) renew(refused string) (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ask == nil || k.current != refused {
		return k.current, nil
	}
	return k.answer()
}

func (k *keyring) answer() (string, error) {
	text, err := k.ask()
	if err == nil {
		k.asked, k.current = true, strings.TrimRight(text, "\r\n")
	}
	return k.current, err
}

// redact removes the key from what a node says.
func (k *keyring) redact(text string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == "" {
		return text
	}
	return strings.ReplaceAll(text, k.current, "…")
}
