package model

import (
	"errors"
	"fmt"
)

// ErrorKind classifies errors by who has to act. It determines exit codes and HTTP status codes.
type ErrorKind uint8

const (
	Internal  ErrorKind = iota // a bug
	NotFound                   // the requested item does not exist
	Usage                      // invalid request: unknown flag or index, invalid value
	Refused                    // the database cannot be used: wrong chain, network or format, damaged, or locked
	BadSource                  // the source failed: unreachable or invalid data
	Machine                    // the machine failed: full disk, no permission, too many open files
)

// Error is an error with a kind and a code for programs.
type Error struct {
	Kind ErrorKind
	Code string // snake case, e.g. unknown_index
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an [Error] with a message formatted as by [fmt.Errorf].
func Errorf(kind ErrorKind, code, format string, args ...any) error {
	return &Error{kind, code, fmt.Errorf(format, args...)}
}

// KindOf returns the kind and code of the outermost [Error] in err's chain, or [Internal] and "internal".
func KindOf(err error) (ErrorKind, string) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind, e.Code
	}
	return Internal, "internal"
}

// ErrNewer is wrapped by the errors of [Newer].
var ErrNewer = errors.New("is newer than this release supports: install a newer release of birthmark, the database is kept")

// Newer returns the error of data in a form that this release does not know, which a chain can have after an upgrade.
// format and args name the data. The kind is [BadSource].
func Newer(code, format string, args ...any) error {
	return Errorf(BadSource, code, "%s %w", fmt.Sprintf(format, args...), ErrNewer)
}
