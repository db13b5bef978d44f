package rest

import (
	"strings"
	"sync"
)

// keyring has the API key. A key in the URL does not change; a key from a function is read at its first use, and again
// after it was refused.
type keyring struct {
	ask func() (string, error) // nil: the URL has the key, or there is none

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

// key returns the current key.
func (k *keyring) key() (string, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.ask == nil || k.asked {
		return k.current, nil
	}
	return k.answer()
}

// renew returns the key to try after refused was refused: the same if it has not changed.
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

// redact removes the key from text of a node.
func (k *keyring) redact(text string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.current == "" {
		return text
	}
	return strings.ReplaceAll(text, k.current, "…")
}
