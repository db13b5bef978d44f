package problem

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"birthmark/core"
	"birthmark/model"
)

// ContentType is the media type of a [Problem].
const ContentType = "application/problem+json"

// Problem is a problem document (RFC 9457). It is an error.
type Problem struct {
	Type   string `json:"type"`   // about:blank: the kind is in Code
	Title  string `json:"title"`  // of the status
	Status int    `json:"status"` // of HTTP
	Detail string `json:"detail"` // one line: what failed, and what was expected
	Code   string `json:"code"`   // snake case, for programs

	// NodeCode is the error code of the node, for a transaction that it refused.
	NodeCode int `json:"node_code,omitempty"`
}

func (p *Problem) Error() string { return p.Detail }

// New returns a problem with a message formatted as by [fmt.Sprintf].
func New(status int, code, format string, args ...any) *Problem {
	return &Problem{Type: "about:blank", Title: title(status), Status: status, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Of returns the problem of err: err itself if it is one, else a problem with the kind and code of its [model.Error].
// Details of internal errors, which may name files, are for the log only.
func Of(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return New(http.StatusRequestEntityTooLarge, "too_large", "the body has more than %d bytes, the limit", big.Limit)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return New(http.StatusServiceUnavailable, "timeout", "the answer took too long: request less at once")
	}
	if errors.Is(err, context.Canceled) {
		return New(http.StatusServiceUnavailable, "shutting_down", "the server is shutting down: retry")
	}
	if kind, code := model.KindOf(err); kind != model.Internal {
		p := New(Status(kind), code, "%s", err.Error())
		if n, ok := errors.AsType[*model.NodeError](err); ok {
			p.NodeCode = n.Code
		}
		return p
	}
	kind, code := core.Classify(err)
	return New(Status(kind), code, "internal error: see the log of the server")
}

// Status returns the HTTP status for an error of this kind.
func Status(kind model.ErrorKind) int {
	switch kind {
	case model.NotFound:
		return http.StatusNotFound
	case model.Usage:
		return http.StatusBadRequest
	case model.Refused:
		return http.StatusServiceUnavailable
	case model.BadSource:
		return http.StatusBadGateway
	}
	return http.StatusInternalServerError
}

// Write answers with p. Headers set before are sent too, except headers of another body.
func Write(w http.ResponseWriter, p *Problem) {
	Headers(w.Header(), ContentType)
	w.WriteHeader(p.Status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	_ = e.Encode(p) // fails only if the client is gone
}

// Headers sets the headers of an error, in place of those of the answer that failed.
func Headers(h http.Header, contentType string) {
	h.Set("Content-Type", contentType)
	h.Set("Cache-Control", "no-store")
	for _, of := range []string{"Etag", "Content-Length", "Content-Encoding", "Last-Modified"} {
		h.Del(of)
	}
}

func title(status int) string {
	if t := http.StatusText(status); t != "" {
		return t
	}
	return fmt.Sprintf("Status %d", status)
}
