package config

import (
	"fmt"
	"os"
	"strings"
)

// Mask stands where a secret would.
const Mask = "********"

// MaskURI is the URI without its password.
func MaskURI(uri string) string {
	scheme, rest, ok := strings.Cut(uri, "://")
	if !ok || scheme == "file" || scheme == "unix" {
		return uri
	}
	// Everything from the first colon to the last @: a password that should have been escaped is masked whole.
	at := strings.LastIndexByte(rest, '@')
	colon := strings.IndexByte(rest, ':')
	if at < 0 || colon < 0 || colon > at {
		return uri
	}
	return scheme + "://" + rest[:colon+1] + Mask + rest[at:]
}

// ReadPassword is the password for the source: from the environment, else from the file that is set, without the line
// break at its end. Empty where neither is set.
func (c *Chain) ReadPassword() (string, error) {
	if c.Password != "" || c.PasswordFile == "" {
		return c.Password, nil
	}
	text, err := os.ReadFile(c.PasswordFile)
	if err != nil {
		return "", invalid(c.Origin("password_file"), fmt.Errorf("password_file: %w", err))
	}
	password := strings.TrimRight(string(text), "\r\n")
	if password == "" {
		return "", invalid(c.Origin("password_file"), fmt.Errorf("password_file %s is empty", c.PasswordFile))
	}
	return password, nil
}
