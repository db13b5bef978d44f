package config

import (
	"fmt"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Site is the appearance of a server's pages, and their path behind a proxy.
type Site struct {
	BasePath string // prefix of all paths, such as /explorer; empty: none
	Title    string // name of the site; empty: Birthmark
	Logo     string // image file; empty: the logo of Birthmark
	Notice   string // text at the top of all pages; empty: none
	Labels   string // file with names of addresses; empty: none
	Pictures string // URL of a gateway of IPFS, for pictures of assets; empty: no pictures
}

const (
	maxTitle  = 60
	maxNotice = 500
)

// setLine reads a line of text of at most the given number of characters.
func setLine(to *string, value string, most int) error {
	if n := utf8.RuneCountInString(value); n > most || strings.ContainsFunc(value, unicode.IsControl) || !utf8.ValidString(value) {
		return fmt.Errorf("%.80q has %d characters: expected one line of at most %d", value, n, most)
	}
	return setText(to, value)
}

// setBasePath reads a path of segments that need no escapes.
func setBasePath(to *string, value string) error {
	path := strings.TrimSuffix(value, "/")
	rest, ok := strings.CutPrefix(path, "/")
	for segment := range strings.SplitSeq(rest, "/") {
		const plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.~"
		ok = ok && segment != "" && segment != "." && segment != ".." && strings.Trim(segment, plain) == ""
	}
	if !ok {
		return fmt.Errorf("%q is not a path such as /explorer", value)
	}
	*to = path
	return nil
}

// setGateway reads the URL of a gateway of IPFS, to which identifiers of contents are appended.
func setGateway(to *string, value string) error {
	u, err := url.Parse(value)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		strings.ContainsAny(value, " ;,'\"") {
		return fmt.Errorf("%q is not the URL of a gateway such as https://ipfs.io/ipfs/", value)
	}
	*to = strings.TrimSuffix(value, "/") + "/"
	return nil
}
