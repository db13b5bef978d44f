package model

import (
	"errors"
	"fmt"
)

// ErrorKind says who has to act on an error. It decides the exit status of a command and the status of an answer.
type ErrorKind uint8

const (
	Internal  ErrorKind = iota // a bug, or a machine that fails
	NotFound                   // the question has no answer
	Usage                      // wrong use: unknown flag, index, bad value
	Refused                    // the database refuses: wrong chain, network, format, locked
	BadSource                  // the source failed: unreachable, bad data
)

// Error is an error with a kind and a code that programs can tell apart.
type Error struct {
	Kind ErrorKind
	Code string // snake case, e.g. unknown_index
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Errorf makes an [Error]; format and args are those of [fmt.Errorf].
func Errorf(kind ErrorKind, code, format string, args ...any) error {
	return &Error{kind, code, fmt.Errorf(format, args...)}
}

// KindOf is the kind and code of the outermost [Error] in err's chain; [Internal] and "internal" where there is none.
func KindOf(err error) (ErrorKind, string) {
	if e, ok := errors.AsType[*Error](err); ok {
		return e.Kind, e.Code
	}
	return Internal, "internal"
}
