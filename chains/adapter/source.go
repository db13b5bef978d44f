package adapter

import (
	"context"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"birthmark/internal/suggest"
	"birthmark/model"
)

// Scheme is a kind of source: URIs of one or more schemes.
type Scheme struct {
	Names []string // ["http", "https"]; "file" is also a plain path
	Usage string   // example and meaning, for errors: "http://host:9053 (a node)"
	Port  string   // default port of the network; "": the scheme has no hosts
	// Open opens the source. rest is the URI without the scheme; for a file it is the path.
	Open func(ctx context.Context, o model.SourceOptions, rest string) (model.Source, error)
}

// Open opens the source that o.URI names. An error about the URI is of kind [model.Usage], code bad_source.
func (b *Base) Open(ctx context.Context, o model.SourceOptions, schemes ...Scheme) (model.Source, error) {
	var usage, names []string
	for _, s := range schemes {
		usage, names = append(usage, s.Usage), append(names, s.Names...)
	}
	last := len(usage) - 1
	expected := strings.Join(usage[:last], ", ") + " or " + usage[last]
	bad := func(format string, args ...any) error {
		return model.Errorf(model.Usage, "bad_source", format+": expected %s", append(args, expected)...)
	}
	if o.URI == "" {
		return nil, bad("no source for %s", b.name)
	}
	scheme, rest, found := strings.Cut(o.URI, "://")
	if lower := strings.ToLower(scheme); found && lower != scheme {
		scheme, o.URI = lower, lower+"://"+rest
	}
	switch {
	case !found:
		if _, err := os.Stat(o.URI); err != nil {
			if meant := withScheme(o.URI, schemes); meant != "" {
				return nil, model.Errorf(model.Usage, "bad_source", "%q has no scheme: did you mean %s?", hidden(o.URI), meant)
			}
			if !strings.Contains(o.URI, "/") {
				return nil, model.Errorf(model.BadSource, "source_missing", "%s does not exist: expected %s", o.URI, expected)
			}
		}
		scheme, rest = "file", o.URI
	case scheme == "file":
		if rest = FilePath(rest); rest == "" {
			return nil, bad("no path in file://")
		}
	}
	for _, s := range schemes {
		if slices.Contains(s.Names, scheme) {
			return s.Open(ctx, o, rest)
		}
	}
	ofOthers := slices.Contains([]string{"http", "https", "p2p", "tcp", "unix"}, scheme) // for other chains
	if meant, ok := suggest.Word(scheme, names); ok && !ofOthers {
		return nil, bad("unsupported source %s:// for %s (did you mean %s://?)", Truncate(scheme), b.name, meant)
	}
	return nil, bad("unsupported source %s:// for %s", Truncate(scheme), b.name)
}

// hostLike matches the parts of a URI without a scheme: user information, host, port and path.
var hostLike = regexp.MustCompile(`^([^/]*@)?(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9._-]+)(:[0-9]+)?(/.*)?$`)

// schemeLike matches a scheme with incomplete separators.
var schemeLike = regexp.MustCompile(`^([A-Za-z0-9]+):?/{1,2}(.+)$`)

// withScheme returns the URIs that a text without a scheme can mean, without user information: those of hosts, the one
// with the text's port first. It returns "" if the text is rather a path.
func withScheme(text string, schemes []Scheme) string {
	if m := schemeLike.FindStringSubmatch(text); m != nil {
		for _, s := range schemes {
			if s.Port != "" && slices.Contains(s.Names, strings.ToLower(m[1])) {
				return strings.ToLower(m[1]) + "://" + hidden(m[2])
			}
		}
	}
	m := hostLike.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	user, host, port, path := m[1], m[2], m[3], m[4]
	if user == "" && port == "" && host != "localhost" && net.ParseIP(strings.Trim(host, "[]")) == nil {
		return ""
	}
	var meant []string
	for _, s := range schemes {
		if s.Port == "" || user != "" && s.Names[0] != "http" {
			continue
		}
		p := port
		if p == "" {
			p = ":" + s.Port
		}
		uri := s.Names[0] + "://" + hidden(user) + host + p + path
		if port == ":"+s.Port {
			meant = slices.Insert(meant, 0, uri)
		} else {
			meant = append(meant, uri)
		}
	}
	return strings.Join(meant, " or ")
}

// hidden returns a text without the user information at its beginning.
func hidden(text string) string {
	if at := strings.LastIndexByte(text, '@'); at >= 0 {
		return "…" + text[at:]
	}
	return text
}

// NodeDown returns a suffix for the error of a node at host, with its port, that does not accept connections: it names
// the default port of the network if the node was expected at another one.
func NodeDown(host, network, port string) string {
	if _, used, err := net.SplitHostPort(host); port == "" || err == nil && used == port {
		return " (is the node running?)"
	}
	return " (is the node running? the default port of " + network + " is " + port + ")"
}

// Absolute returns the URI of a source for a process in another folder: a relative path becomes absolute. A text
// without a scheme that is not a path is returned unchanged: [Base.Open] reports it.
func Absolute(uri string) (string, error) {
	scheme, rest, found := strings.Cut(uri, "://")
	path, of := uri, func(absolute string) string { return absolute }
	switch scheme = strings.ToLower(scheme); {
	case !found:
		if _, err := os.Stat(uri); err != nil {
			return uri, nil
		}
	case scheme == "file":
		path = FilePath(rest)
		of = func(absolute string) string { return "file://" + (&url.URL{Path: absolute}).EscapedPath() }
	case scheme == "unix":
		path, of = rest, func(absolute string) string { return "unix://" + absolute }
	default:
		return uri, nil
	}
	if path == "" || filepath.IsAbs(path) {
		return uri, nil
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return of(absolute), nil
}

// FilePath returns the path that follows file:// in a URI. The host may be localhost; special characters may be escaped
// as %XX. It returns "" if there is no path.
func FilePath(rest string) string {
	if path, ok := strings.CutPrefix(rest, "localhost/"); ok {
		rest = "/" + path
	}
	if path, err := url.PathUnescape(rest); err == nil {
		return path
	}
	return rest
}
