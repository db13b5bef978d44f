package adapter

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"birthmark/model"
)

// Scheme is a kind of source: URIs of one or more schemes.
type Scheme struct {
	Names []string // ["http", "https"]; "file" is also a plain path
	Usage string   // example and meaning, for errors: "http://host:9053 (a node)"
	// Open opens the source. rest is the URI without the scheme; for a file it is the path.
	Open func(ctx context.Context, o model.SourceOptions, rest string) (model.Source, error)
}

// Open opens the source that o.URI names. An error about the URI is of kind [model.Usage], code bad_source.
func (b *Base) Open(ctx context.Context, o model.SourceOptions, schemes ...Scheme) (model.Source, error) {
	bad := func(format string, args ...any) error {
		var usage []string
		for _, s := range schemes {
			usage = append(usage, s.Usage)
		}
		last := len(usage) - 1
		return model.Errorf(model.Usage, "bad_source", format+": expected %s", append(args, strings.Join(usage[:last], ", ")+" or "+usage[last])...)
	}
	if o.URI == "" {
		return nil, bad("no source for %s", b.name)
	}
	scheme, rest, found := strings.Cut(o.URI, "://")
	switch {
	case !found:
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
	return nil, bad("unsupported source %s:// for %s", Truncate(scheme), b.name)
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
