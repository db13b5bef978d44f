package command

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	"birthmark/internal/config"
	"birthmark/model"
)

// A URI can contain a password, and errors quote the URI.
func TestErrorsMaskPasswords(t *testing.T) {
	t.Parallel()
	var stderr strings.Builder
	e := NewEnv(nil, new(strings.Builder), &stderr)
	e.mask(&config.Chain{Source: "http://user:hunter2@host"})
	if status := e.Fail(UsageError("x", "cannot reach http://user:hunter2@host")); status != 2 {
		t.Errorf("status %d", status)
	}
	if got := stderr.String(); got != "birthmark: cannot reach http://user:********@host\n" {
		t.Errorf("printed %q", got)
	}
}

// Errors of the system get a remedy. Errors that have a remedy are not changed.
func TestErrorsOfTheSystemHaveARemedy(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{&fs.PathError{Op: "write", Path: "db/1.sst", Err: syscall.ENOSPC}, "write db/1.sst: no space left on device: free space and run the same command again"},
		{errors.New("write in database db: appending to file db/4.log: No space left on device"), "free space and run the same command again"},
		{&fs.PathError{Op: "mkdir", Path: "db", Err: syscall.EROFS}, "mount it for writing, or use another folder"},
		{&fs.PathError{Op: "mkdir", Path: "db", Err: syscall.EACCES}, "access to it (chown, chmod), or use another folder (--db)"},
		{&fs.PathError{Op: "open", Path: "db", Err: syscall.EMFILE}, "raise the limit of open files (ulimit -n, LimitNOFILE) and run the same command again"},
		{&fs.PathError{Op: "mkdir", Path: "/proc/x", Err: syscall.ENOENT}, "mkdir /proc/x: no such file or directory: folders cannot be created there, use another folder"},
		{&fs.PathError{Op: "mkdir", Path: "file", Err: syscall.ENOTDIR}, "part of the path is a file, expected a folder"},
		{&fs.PathError{Op: "read", Path: "folder", Err: syscall.EISDIR}, "expected a file"},
	} {
		e := NewEnv(nil, nil, io.Discard)
		if got := e.text(fmt.Errorf("database: %w", c.err)); !strings.HasSuffix(got, c.want) {
			t.Errorf("%v: %q, expected %q at its end", c.err, got, c.want)
		}
	}
	e := NewEnv(nil, nil, io.Discard)
	coded := model.Errorf(model.Machine, "not_permitted", "listen: no permission to listen on :1: choose a port above 1023")
	if got := e.text(coded); got != coded.Error() {
		t.Errorf("%q", got)
	}
}

func TestDurationsInJSONLogsAreSeconds(t *testing.T) {
	var b strings.Builder
	log := slog.New(slog.NewJSONHandler(&b, &slog.HandlerOptions{ReplaceAttr: inSeconds}))
	log.Info("compacted", "took", 4030*time.Millisecond, "left", time.Minute)
	if got := b.String(); !strings.Contains(got, `"took":4.03,"left":60}`) {
		t.Error(got)
	}
}
