package target

import (
	"context"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// headerTimeout limits the time until a server begins its response.
const headerTimeout = time.Minute

// web is storage that a web server publishes.
type web struct {
	base   *url.URL
	client *http.Client
}

func newWeb(u *url.URL, o Options) Target {
	base := *u
	base.Path = strings.TrimSuffix(base.Path, "/")
	return &web{&base, &http.Client{Transport: transport(o)}}
}

// transport returns the transport of remote storage.
func transport(o Options) http.RoundTripper {
	if o.Transport != nil {
		return o.Transport
	}
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.ResponseHeaderTimeout, t.MaxIdleConnsPerHost = headerTimeout, 64
	t.DisableCompression = true // ranges are of the stored bytes
	return t
}

func (w *web) String() string { return w.base.Redacted() }

// Open implements [Target]. It also works with servers that ignore ranges.
func (w *web) Open(ctx context.Context, name string, from int64) (io.ReadCloser, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	u := *w.base
	u.Path += "/" + name
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	if from > 0 {
		request.Header.Set("Range", fmt.Sprintf("bytes=%d-", from))
	}
	response, err := w.client.Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, failed("read "+name, err)
	}
	switch response.StatusCode {
	case http.StatusOK:
		if _, err := io.CopyN(io.Discard, response.Body, from); err != nil {
			response.Body.Close()
			return nil, failed("read "+name, err)
		}
		return newBody("read "+name, response.Body), nil
	case http.StatusPartialContent:
		return newBody("read "+name, response.Body), nil
	case http.StatusNotFound, http.StatusGone:
		response.Body.Close()
		return nil, fmt.Errorf("%s has no %s: %w", w, name, fs.ErrNotExist)
	}
	response.Body.Close()
	return nil, failed("read "+name, fmt.Errorf("%s answered %s", w.base.Host, response.Status))
}

// Put implements [Target].
func (w *web) Put(context.Context, string, Content) error { return badURL("%w", ErrReadOnly) }

// Create implements [Target].
func (w *web) Create(context.Context, string, Content) error { return badURL("%w", ErrReadOnly) }

// List implements [Target].
func (w *web) List(context.Context, string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) { yield(Entry{}, ErrNoList) }
}

// Remove implements [Target].
func (w *web) Remove(context.Context, string) error { return badURL("%w", ErrReadOnly) }

// Folders implements [Target].
func (w *web) Folders(context.Context) ([]string, error) { return nil, ErrNoList }
