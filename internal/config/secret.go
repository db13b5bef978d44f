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
	switch {
	case ok && (scheme == "file" || scheme == "unix"):
		return uri
	case ok:
		scheme += "://"
	case strings.HasPrefix(uri, "/"), strings.HasPrefix(uri, "."):
		return uri
	default: // a URI without its scheme, or a path
		scheme, rest = "", uri
	}
	// Everything from the first colon to the last @: a password with unescaped characters is masked completely.
	at := strings.LastIndexByte(rest, '@')
	colon := strings.IndexByte(rest, ':')
	if at < 0 || colon < 0 || colon > at {
		return uri
	}
	return scheme + rest[:colon+1] + Mask + rest[at:]
}

// ReadPassword returns the password of the source: from the environment, else from the password file, as
// [textfile.Read] reads it; empty if neither is set.
func (c *Chain) ReadPassword() (string, error) {
	if c.Password != "" || c.PasswordFile == "" {
		return c.Password, nil
	}
	text, err := textfile.Read(c.PasswordFile)
	if err != nil {
		return "", named(c.Origin("password_file"), "password_file", err)
	}
	if len(text) == 0 {
		return "", named(c.Origin("password_file"), "password_file", fmt.Errorf("%s is empty", c.PasswordFile))
	}
	return string(text), nil
}
