package config

import (
	"fmt"
	"strings"

	"birthmark/internal/textfile"
)

// Mask replaces secrets in output.
const Mask = "********"

// MaskURI returns the URI with its password masked.
func MaskURI(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok || scheme == "file" || scheme == "unix" {
		return uri
	}
	// Everything from the first colon to the last @: a password with unescaped characters is masked completely.
	at := strings.LastIndexByte(rest, '@')
	colon := strings.IndexByte(rest, ':')
	if at < 0 || colon < 0 || colon > at {
		return uri
	}
	return scheme + "://" + rest[:colon+1] + Mask + rest[at:]
}

// ReadPassword returns the password of the source: from the environment, else from the password file, as
// [textfile.Read] reads it; empty if neither is set.
func (c *Chain) ReadPassword() (string, error) {
	if c.Password != "" || c.PasswordFile == "" {
		return c.Password, nil
	}
	text, err := textfile.Read(c.PasswordFile)
	if err != nil {
		return "", at(c.Origin("password_file"), fmt.Errorf("password_file: %w", err))
	}
	if len(text) == 0 {
		return "", at(c.Origin("password_file"), fmt.Errorf("password_file %s is empty", c.PasswordFile))
	}
	return string(text), nil
}
