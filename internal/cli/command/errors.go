package command

import (
	"errors"
	"fmt"
	"slices"
	"strings"

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
	message := e.masked(oneLine(err.Error()))
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
