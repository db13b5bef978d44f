package config

import (
	"fmt"
	"os"
	"strings"
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

// ReadPassword returns the password of the source: from the environment, else from the password file, without the line
// break at its end; empty if neither is set.
func (c *Chain) ReadPassword() (string, error) {
	if c.Password != "" || c.PasswordFile == "" {
		return c.Password, nil
	}
	text, err := os.ReadFile(c.PasswordFile)
	if err != nil {
		return "", at(c.Origin("password_file"), fmt.Errorf("password_file: %w", err))
	}
	password := strings.TrimRight(string(text), "\r\n")
	if password == "" {
		return "", at(c.Origin("password_file"), fmt.Errorf("password_file %s is empty", c.PasswordFile))
	}
	return password, nil
}
