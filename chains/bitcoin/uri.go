package bitcoin

import (
	"context"
	"net/url"
	"strings"

	"birthmark/model"
)

// Open opens the source of a URI: file:///folder/of/blocks, file:///one/file.dat, or either as a plain path.
func (c *chain) Open(ctx context.Context, o model.SourceOptions) (model.Source, error) {
	path, err := filePath(o.URI)
	if err != nil {
		return nil, err
	}
	return openFiles(ctx, c.net, path, o)
}

// filePath is the path a URI names.
func filePath(uri string) (string, error) {
	const understood = "expected file:///path/to/blocks (a folder with blk*.dat, or one such file)"
	scheme, rest, found := strings.Cut(uri, "://")
	switch {
	case uri == "":
		return "", model.Errorf(model.Usage, "bad_source", "no source for bitcoin: %s", understood)
	case !found:
		return uri, nil
	case scheme != "file":
		return "", model.Errorf(model.Usage, "bad_source", "bitcoin cannot be read from %s://: %s", shown(scheme), understood)
	}
	if path, ok := strings.CutPrefix(rest, "localhost/"); ok {
		rest = "/" + path
	}
	if path, err := url.PathUnescape(rest); err == nil {
		rest = path
	}
	if rest == "" {
		return "", model.Errorf(model.Usage, "bad_source", "%q names no path: %s", uri, understood)
	}
	return rest, nil
}
