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

// Problem is why a request has no answer (RFC 9457). It is an error, so that it may be returned as one.
type Problem struct {
	Type   string `json:"type"`   // about:blank: Code says what kind of problem it is
	Title  string `json:"title"`  // of the status
	Status int    `json:"status"` // of HTTP
	Detail string `json:"detail"` // one line that names the thing and what was expected
	Code   string `json:"code"`   // snake case, for programs
}

func (p *Problem) Error() string { return p.Detail }

// New makes a problem; format and args are those of [fmt.Sprintf].
func New(status int, code, format string, args ...any) *Problem {
	return &Problem{Type: "about:blank", Title: title(status), Status: status, Code: code, Detail: fmt.Sprintf(format, args...)}
}

// Of is the problem that err is: itself where it is one, else by the kind and code of a [model.Error]. What is no fault of
// the request is told without details, which belong into the log.
func Of(err error) *Problem {
	if p, ok := errors.AsType[*Problem](err); ok {
		return p
	}
	if big, ok := errors.AsType[*http.MaxBytesError](err); ok {
		return New(http.StatusRequestEntityTooLarge, "too_large", "the body has more than %d bytes, the most that is read", big.Limit)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return New(http.StatusServiceUnavailable, "too_slow", "the answer took longer than a request may: ask for less at once")
	}
	if errors.Is(err, context.Canceled) {
		return New(http.StatusServiceUnavailable, "stopped", "the server stops: ask again")
	}
	if kind, code := model.KindOf(err); kind != model.Internal {
		return New(Status(kind), code, "%s", err.Error())
	}
	kind, code := core.Classify(err) // what fails the machine has a code, and a text that may name files
	return New(Status(kind), code, "the server failed: its log says why")
}

// Status is the status of an answer to a request that failed with an error of this kind.
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

// Write answers with p. Other headers of the answer are set before; a problem is not to be kept by caches.
func Write(w http.ResponseWriter, p *Problem) {
	h := w.Header()
	h.Set("Content-Type", ContentType)
	h.Set("Cache-Control", "no-store")
	for _, of := range []string{"Etag", "Content-Length", "Content-Encoding", "Last-Modified"} {
		h.Del(of) // of the answer that was meant
	}
	w.WriteHeader(p.Status)
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	e.Encode(p) // that the client is gone is nobody's fault
}

func title(status int) string {
	if t := http.StatusText(status); t != "" {
		return t
	}
	return fmt.Sprintf("Status %d", status)
}
