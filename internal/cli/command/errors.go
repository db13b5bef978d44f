package command

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/user"
	"slices"
	"strings"
	"syscall"

	"birthmark/core"
	"birthmark/internal/config"
	"birthmark/internal/daemon"
	"birthmark/internal/progress"
	"birthmark/model"

	"github.com/urfave/cli/v2"
)

// ExitStatus has the exit statuses of the contract. 1 also means that problems were found.
var ExitStatus = map[model.ErrorKind]int{
	model.Internal:  1,
	model.NotFound:  1,
	model.Usage:     2,
	model.Refused:   3,
	model.BadSource: 4,
	model.Machine:   5,
}

// Fail prints an error and returns the exit status. It prints one line on stderr (a list of what chains lack is a line per
// item on a terminal) and, with --json, a document unless one was printed already.
func (e *Env) Fail(err error) int {
	if err == nil {
		return 0
	}
	kind, code := core.Classify(err)
	message := e.text(err)
	shown := message
	if lacks, ok := errors.AsType[daemon.LacksError](err); ok && progress.Terminal(e.Stderr) != nil {
		shown = e.masked(strings.Join(lacks.Lines(), "\n"))
	}
	fmt.Fprintln(e.Stderr, "birthmark:", shown)
	if e.JSON && !e.Printed {
		a := ErrorAnswer{}
		a.Error.Code, a.Error.Message = code, message
		_ = e.Document(a) // there is no other way to report an error here
	}
	return ExitStatus[kind]
}

// ErrorAnswer is the document of a command that failed.
type ErrorAnswer struct {
	Error struct {
		Code    string `json:"code"`
		Message string `json:"message"`
	} `json:"error"`
}

// text returns an error as one line, with what mends a failure of the machine, and without the secrets of sources.
func (e *Env) text(err error) string {
	text := oneLine(err.Error())
	if remedy := remedyOf(err); remedy != "" {
		text += ": " + remedy
	}
	return e.masked(text)
}

// remedyOf returns what a user does about an error of the system, or "".
func remedyOf(err error) string {
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return "part of the path is a file, expected a folder"
	case errors.Is(err, syscall.EISDIR) && !strings.Contains(err.Error(), "expected a"):
		return "expected a file"
	}
	if made, ok := errors.AsType[*fs.PathError](err); ok && made.Op == "mkdir" && errors.Is(err, fs.ErrNotExist) {
		return "folders cannot be created there, use another folder" // such as /proc: parents are created too
	}
	if coded, ok := errors.AsType[*model.Error](err); ok && coded.Code != "internal" {
		return "" // its text says it
	}
	const again = " and run the same command again"
	switch _, code := core.Classify(err); {
	case code == "no_space":
		return "free space" + again
	case code == "not_permitted" && strings.Contains(strings.ToLower(err.Error()), "read-only file system"):
		return "mount it for writing, or use another folder"
	case code == "not_permitted":
		who := fmt.Sprintf("user %d", os.Geteuid())
		if u, err := user.Current(); err == nil {
			who = "user " + u.Username
		}
		return fmt.Sprintf("give %s access to it (chown, chmod), or use another folder (--db)", who)
	case code == "too_many_files":
		return "raise the limit of open files (ulimit -n, LimitNOFILE)" + again
	case code == "io_error":
		return "check the disk and the log of the kernel (dmesg)"
	case code == "no_memory":
		return "lower --memory, or stop other programs," + again
	}
	return ""
}

// masked returns a text without the secrets of sources.
func (e *Env) masked(text string) string {
	for _, uri := range e.sources {
		text = strings.ReplaceAll(text, uri, config.MaskURI(uri))
	}
	return text
}

// oneLine joins the lines of an error and drops repeated lines, such as a second failure when the database is closed.
func oneLine(text string) string {
	var lines []string
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// UsageError returns an error of kind Usage.
func UsageError(code, format string, args ...any) error {
	return model.Errorf(model.Usage, code, format, args...)
}

// BadValue returns the error of a flag with an invalid value. The format describes the valid values.
func BadValue(c *cli.Context, flag, format string, args ...any) error {
	return badValue(flag, c.String(flag), format, args...)
}

func badValue(flag, value, format string, args ...any) error {
	return UsageError("bad_value", "--%s: expected %s, not %q", flag, fmt.Sprintf(format, args...), value)
}

// Exclusive returns an error if a flag is set together with one of others.
func Exclusive(c *cli.Context, flag string, others ...string) error {
	for _, other := range others {
		if c.IsSet(flag) && c.IsSet(other) {
			return UsageError("bad_value", "--%s and --%s cannot be combined", flag, other)
		}
	}
	return nil
}
