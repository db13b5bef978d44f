package cli

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"birthmark/internal/testnode/s3test"
)

// A transfer on a terminal shows a bar. Ctrl-C ends it with a text that names the result and the command that resumes. The
// resumed command does not repeat the transfer.
func TestTransfersOfSnapshotsOnATerminal(t *testing.T) {
	slow(t)
	t.Parallel()
	dir := t.TempDir()
	db, to := filepath.Join(dir, "db"), filepath.Join(dir, "to")
	syncTo(t, db, "file://"+realBlocks(t), "--to-height", "2000")
	endpoint, err := url.Parse(s3test.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	// The storage stops in the middle of a transfer, after some files.
	var passed, limit atomic.Int64
	ended := make(chan struct{})
	storage := httputil.NewSingleHostReverseProxy(endpoint)
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/files/") && passed.Add(1) > limit.Load() {
			_, _ = io.Copy(io.Discard, r.Body) // only then the server notices that the client is gone
			select {
			case <-r.Context().Done():
			case <-ended:
			}
			return
		}
		storage.ServeHTTP(w, r)
	}))
	t.Cleanup(func() {
		close(ended)
		proxy.Close()
	})
	repository := "s3://" + s3test.Bucket + "/x?region=us-east-1&endpoint=" + proxy.URL
	const files, most = 10, 1 << 30
	stopped := func(what, left string, args ...string) {
		t.Helper()
		passed.Store(0)
		limit.Store(files)
		cmd, _, _ := process(t, -1, args...)
		p := startOnTerminal(t, cmd)
		until(t, "a bar of "+what, func() bool {
			return passed.Load() > files && strings.Contains(p.written(), what) && bar.MatchString(p.written())
		})
		p.press(t, ctrlC)
		if status := p.end(t); status != exitFailed {
			t.Errorf("exit status %d", status)
		}
		p.clean(t)
		lines := strings.Join(screen(p.written()), "\n")
		if !strings.Contains(lines, "interrupted: "+left) || !strings.Contains(lines, "run the same command") {
			t.Errorf("expected %q in\n%s", left, lines)
		}
	}
	whole := func(what string, args ...string) (transferred int64) {
		t.Helper()
		passed.Store(0)
		limit.Store(most)
		cmd, _, _ := process(t, -1, args...)
		p := startOnTerminal(t, cmd)
		if status := p.end(t); status != exitDone {
			t.Errorf("%s: exit status %d; the screen:\n%s", what, status, strings.Join(screen(p.written()), "\n"))
		}
		p.clean(t)
		return passed.Load()
	}
	create := []string{"snapshot", "create", "--db", db, "--to", repository, "--jobs", "2"}
	stopped("snapshot create", "no snapshot was created, and the latest one is unchanged", create...)
	wantFailure(t, exitFailed, "no_snapshot", "has no snapshot", "snapshot", "list", repository)
	resumed := whole("create", create...)
	var listed struct {
		Snapshots []struct{ Files int64 }
	}
	ask(t, &listed, "snapshot", "list", repository)
	total := listed.Snapshots[0].Files
	if resumed > total-files+2 { // the checkpoint has a new MANIFEST and an empty log
		t.Errorf("the resumed command stored %d of %d files, %d were there", resumed, total, files)
	}
	restore := []string{"snapshot", "restore", repository, "--db", to, "--jobs", "2"}
	stopped("snapshot restore", "no database was created", restore...)
	wantFailure(t, exitRefused, "no_database", "no database", "status", "--db", to)
	if resumed = whole("restore", restore...); resumed > total-files+2 {
		t.Errorf("the resumed command downloaded %d of %d files, %d were there", resumed, total, files)
	}
	same(t, to, digestOf(t, db))
	stopped("snapshot verify", "not all files were read", "snapshot", "verify", repository, "--jobs", "2")
	whole("verify", "snapshot", "verify", repository)
}
