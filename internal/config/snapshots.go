package config

import (
	"fmt"
	"net/url"
	"time"

	"birthmark/internal/textfile"
)

// Snapshots are the settings of the snapshots of a chain's database.
type Snapshots struct {
	To               string        // URL of the storage; empty: a server creates none
	Every            time.Duration // between two snapshots
	Keep             int           // the number of snapshots that are kept
	Sign             string        // file of the signing key; empty: snapshots are not signed
	SignPasswordFile string        // file with the password of the signing key; empty: it is not encrypted
	CredentialsFile  string        // of S3; empty: the environment, or the default file
}

func defaultSnapshots() Snapshots { return Snapshots{Every: 24 * time.Hour, Keep: 7} }

const (
	leastEvery    = time.Second
	mostSnapshots = 10_000
)

var snapshotKeys = []key[Chain]{
	{name: "snapshots.to", set: func(c *Chain, v, _ string) error { return setStorage(&c.Snapshots.To, v) }},
	{name: "snapshots.every", set: func(c *Chain, v, _ string) error { return setEvery(&c.Snapshots.Every, v) }},
	{name: "snapshots.keep", set: func(c *Chain, v, _ string) error { return setCount(&c.Snapshots.Keep, v, 1, mostSnapshots) }},
	{name: "snapshots.sign", set: func(c *Chain, v, _ string) error { return setText(&c.Snapshots.Sign, v) }},
	{name: "snapshots.sign_password_file", set: func(c *Chain, v, _ string) error { return setText(&c.Snapshots.SignPasswordFile, v) }},
	{name: "snapshots.credentials_file", set: func(c *Chain, v, _ string) error { return setText(&c.Snapshots.CredentialsFile, v) }},
	{name: "bootstrap", set: func(c *Chain, v, _ string) error { return setStorage(&c.Bootstrap, v) }},
	{name: "trust", set: func(c *Chain, v, _ string) error { return setText(&c.Trust, v) }},
}

// setStorage reads the URL of a storage of snapshots, or a folder.
func setStorage(to *string, value string) error {
	if u, err := url.Parse(value); err == nil && u.User != nil {
		return fmt.Errorf("the URL contains credentials: use AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or credentials_file")
	}
	return setText(to, value)
}

func setEvery(to *time.Duration, value string) error {
	d, err := time.ParseDuration(value)
	if err != nil || d < leastEvery {
		return fmt.Errorf("%q is not a duration of at least %v, such as 24h", value, leastEvery)
	}
	*to = d
	return nil
}

// SigningPassword returns the password of the signing key; empty if no file is set.
func (s *Snapshots) SigningPassword() (string, error) {
	if s.SignPasswordFile == "" {
		return "", nil
	}
	text, err := textfile.Read(s.SignPasswordFile)
	if err != nil {
		return "", at("snapshots.sign_password_file", err)
	}
	return string(text), nil
}

// SnapshotsView is the part of a [ChainView] with the settings of snapshots.
type SnapshotsView struct {
	To               string `yaml:"to,omitempty" json:"to,omitempty"`
	Every            string `yaml:"every" json:"every"`
	Keep             int    `yaml:"keep" json:"keep"`
	Sign             string `yaml:"sign,omitempty" json:"sign,omitempty"`
	SignPasswordFile string `yaml:"sign_password_file,omitempty" json:"sign_password_file,omitempty"`
	CredentialsFile  string `yaml:"credentials_file,omitempty" json:"credentials_file,omitempty"`
}

// view returns the settings for [ChainView]; nil if they are the defaults.
func (s *Snapshots) view() *SnapshotsView {
	if *s == defaultSnapshots() {
		return nil
	}
	return &SnapshotsView{s.To, s.Every.String(), s.Keep, s.Sign, s.SignPasswordFile, s.CredentialsFile}
}
