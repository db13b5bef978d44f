package problem_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"

	"birthmark/api/problem"
	"birthmark/model"
)

func TestProblemOfAnError(t *testing.T) {
	own := problem.New(http.StatusConflict, "own", "block %d", 7)
	for _, c := range []struct {
		err    error
		status int
		code   string
		detail string
	}{
		{model.Errorf(model.NotFound, "unknown_tx", "no transaction 00"), 404, "unknown_tx", "no transaction 00"},
		{fmt.Errorf("find: %w", model.Errorf(model.Usage, "bad_value", "limit x")), 400, "bad_value", "find: limit x"},
		{model.Errorf(model.Refused, "locked", "in use"), 503, "locked", "in use"},
		{model.Errorf(model.BadSource, "unreachable", "no node"), 502, "unreachable", "no node"},
		{errors.New("/var/lib/secret: disk is gone"), 500, "internal", "internal error: see the log of the server"},
		{fmt.Errorf("/var/lib/secret: %w", syscall.ENOSPC), 500, "no_space", "internal error: see the log of the server"},
		{fmt.Errorf("/var/lib/secret: %w", fs.ErrPermission), 500, "not_permitted", "internal error: see the log of the server"},
		{fmt.Errorf("scan: %w", context.DeadlineExceeded), 503, "timeout", "the answer took too long: request less at once"},
		{fmt.Errorf("scan: %w", context.Canceled), 503, "shutting_down", "the server is shutting down: retry"},
		{fmt.Errorf("body: %w", &http.MaxBytesError{Limit: 10}), 413, "too_large", "the body has more than 10 bytes, the limit"},
		{fmt.Errorf("wrapped: %w", own), 409, "own", "block 7"},
	} {
		p := problem.Of(c.err)
		if p.Status != c.status || p.Code != c.code || p.Detail != c.detail {
			t.Errorf("%v: %+v, expected %d %s %q", c.err, *p, c.status, c.code, c.detail)
		}
	}
}

func TestAProblemIsADocumentOfItsOwn(t *testing.T) {
	w := httptest.NewRecorder()
	w.Header().Set("ETag", `"of the answer that was meant"`)
	w.Header().Set("X-Tip", "00")
	problem.Write(w, problem.New(404, "unknown_tx", "no <tx> & nothing"))
	const body = `{"type":"about:blank","title":"Not Found","status":404,"detail":"no <tx> & nothing","code":"unknown_tx"}` + "\n"
	if w.Code != 404 || w.Body.String() != body {
		t.Errorf("%d %s, expected 404 %s", w.Code, w.Body, body)
	}
	h := w.Header()
	if h.Get("Content-Type") != problem.ContentType || h.Get("ETag") != "" || h.Get("Cache-Control") != "no-store" || h.Get("X-Tip") != "00" {
		t.Errorf("headers %v", h)
	}
}
