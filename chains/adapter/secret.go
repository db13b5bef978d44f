package adapter

import (
	"errors"
	"sync"
)

// ErrRefused is the error of a request whose credentials the node refused.
var ErrRefused = errors.New("the node refused the credentials")

// Secret is the credentials of a node: a password, or a user with a password. The zero T means no credentials.
type Secret[T comparable] struct {
	read func() (T, error) // nil: they do not change

	mu      sync.Mutex
	known   bool
	current T
}

// NewSecret returns credentials that read returns. It is called at the first use, and again after a refusal. If it is
// nil, the credentials are fixed.
func NewSecret[T comparable](fixed T, read func() (T, error)) *Secret[T] {
	return &Secret[T]{current: fixed, read: read, known: read == nil}
}

// Current returns the credentials that were read last.
func (s *Secret[T]) Current() T {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// Get returns the credentials. It reads them if they were not read before or were refused.
func (s *Secret[T]) Get() (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known {
		return s.current, nil
	}
	return s.reread()
}

// renew returns the credentials to use after the node refused some. They are the same if nothing changed.
func (s *Secret[T]) renew(refused T) (T, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.read == nil || s.current != refused {
		return s.current, nil
	}
	return s.reread()
}

func (s *Secret[T]) reread() (T, error) {
	now, err := s.read()
	if err == nil {
		s.known, s.current = true, now
	}
	return s.current, err
}

// Use calls send with the credentials, and once more with newer ones if it returns [ErrRefused]. used are the
// credentials of the last call. unreadable makes the error of credentials that cannot be read.
func (s *Secret[T]) Use(send func(T) error, unreadable func(error) error) (used T, err error) {
	if used, err = s.Get(); err != nil {
		return used, unreadable(err)
	}
	if err = send(used); err != ErrRefused {
		return used, err
	}
	newer, err := s.renew(used)
	if err != nil {
		return used, unreadable(err)
	}
	if newer == used {
		return used, ErrRefused
	}
	return newer, send(newer)
}
