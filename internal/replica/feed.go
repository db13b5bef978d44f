package replica

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"birthmark/api/problem"
	"birthmark/api/segments"
	"birthmark/core/schema"
	"birthmark/internal/snapshot/target"
	"birthmark/model"
)

// Feed is where a replica gets segments.
type Feed interface {
	// Follow calls on for every frame after the position, until ctx ends or, unless follow is set, the newest segment. An
	// error of on ends it. Errors of kind Refused do not go away by themselves: diverged, segment_gap, not_offered,
	// unauthorized.
	Follow(ctx context.Context, at schema.Position, follow bool, on func(segments.Frame) error) error
}

// Open returns the feed at a URL: http://HOST/v1/CHAIN of a primary, or the folder or bucket to which it publishes. key
// is the API key of the primary, empty if it needs none; o has the credentials of a bucket.
func Open(from, key string, o target.Options) (Feed, error) {
	if scheme, _, ok := strings.Cut(from, "://"); !ok || scheme == "file" || scheme == "s3" {
		if !ok && strings.Contains(from, "/v1/") && !strings.HasPrefix(from, "/") {
			return nil, model.Errorf(model.Usage, "bad_value", "%q has no scheme: did you mean http://%s?", from, from)
		}
		files, err := target.Open(from, o)
		f := &Folder{Files: files}
		if scheme == "s3" {
			f.Every = pollBucket
		}
		return f, err
	}
	u, err := url.Parse(from)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || !strings.Contains(u.Path, "/v1/") {
		return nil, model.Errorf(model.Usage, "bad_value", "%q is not where segments come from: expected http://HOST:PORT/v1/CHAIN, "+
			"https://HOST/v1/CHAIN, a folder or s3://BUCKET/PREFIX", from)
	}
	return &HTTP{URL: strings.TrimSuffix(from, "/"), Key: key}, nil
}

// HTTP is the feed of a primary's server.
type HTTP struct {
	URL string // of the chain: http://HOST/v1/CHAIN
	Key string // API key; empty: none

	client http.Client
}

// silence is the time without a frame after which a connection is closed. A primary sends one twice per second.
const silence = 20 * time.Second

// Follow implements [Feed].
func (f *HTTP) Follow(ctx context.Context, at schema.Position, follow bool, on func(segments.Frame) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	q := url.Values{"follow": {strconv.FormatBool(follow)}}
	if at != (schema.Position{}) {
		q.Set("lineage", fmt.Sprintf("%x", at.Lineage[:]))
		q.Set("seq", strconv.FormatUint(at.Seq, 10))
		q.Set("hash", fmt.Sprintf("%x", at.Hash[:]))
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, f.URL+"/segments?"+q.Encode(), nil)
	if err != nil {
		return err
	}
	request.Header.Set("Accept-Encoding", "identity")
	if f.Key != "" {
		request.Header.Set("Authorization", "Bearer "+f.Key)
	}
	watchdog := time.AfterFunc(silence, cancel)
	defer watchdog.Stop()
	response, err := f.client.Do(request)
	if err != nil {
		return f.unreachable(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return f.failure(response)
	}
	if is := response.Header.Get("Content-Type"); is != segments.ContentType {
		return model.Errorf(model.BadSource, "bad_segment", "%s/segments returned %.60q, expected %s", f.URL, is, segments.ContentType)
	}
	for {
		frame, err := segments.ReadFrame(&progressReader{response.Body, watchdog})
		switch {
		case errors.Is(err, io.EOF) && !follow:
			return nil
		case err != nil:
			return f.unreachable(err)
		}
		watchdog.Stop() // on may take long
		if err := on(frame); err != nil {
			return err
		}
		watchdog.Reset(silence)
	}
}

// progressReader restarts a watchdog whenever bytes arrive.
type progressReader struct {
	io.Reader
	watchdog *time.Timer
}

func (r *progressReader) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if n > 0 {
		r.watchdog.Reset(silence)
	}
	return n, err
}

func (f *HTTP) unreachable(err error) error {
	if kind, _ := model.KindOf(err); kind == model.BadSource {
		return err
	}
	if e, ok := errors.AsType[*url.Error](err); ok {
		err = e.Err // without the URL
	}
	if e, ok := errors.AsType[*net.OpError](err); ok && e.Op == "dial" {
		return model.Errorf(model.BadSource, "unreachable", "the primary %s: %w (is its server running?)", f.URL, err)
	}
	return model.Errorf(model.BadSource, "unreachable", "the primary %s: %w", f.URL, err)
}

// failure returns the error of a response without segments.
func (f *HTTP) failure(response *http.Response) error {
	var p problem.Problem
	text, _ := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if json.Unmarshal(text, &p) != nil || p.Detail == "" {
		p.Code, p.Detail = "unreachable", fmt.Sprintf("%s %.200s", response.Status, text)
	}
	switch response.StatusCode {
	case http.StatusUnauthorized:
		return model.Errorf(model.Refused, "unauthorized", "the primary %s: %s (--key-file FILE has the key)", f.URL, p.Detail)
	case http.StatusNotFound:
		return model.Errorf(model.Refused, "not_offered", "the primary %s: %s: expected a server that syncs this chain with the setting "+
			"segments.keep", f.URL, p.Detail)
	case http.StatusConflict, http.StatusGone:
		return model.Errorf(model.Refused, p.Code, "the primary %s: %s", f.URL, p.Detail)
	case http.StatusBadRequest:
		return model.Errorf(model.Refused, p.Code, "the primary %s rejects the request: %s", f.URL, p.Detail)
	}
	return model.Errorf(model.BadSource, "unreachable", "the primary %s: %s", f.URL, p.Detail)
}
