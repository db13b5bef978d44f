package core

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"birthmark/model"
	"birthmark/storage"
)

// failures are the errors of a failing machine, by their texts in RocksDB's errors, which lack the number.
var failures = []struct {
	is         []error
	text, code string
}{
	{[]error{syscall.ENOSPC, syscall.EDQUOT}, "No space left on device", "no_space"},
	{[]error{fs.ErrPermission, syscall.EROFS}, "Permission denied", "not_permitted"},
	{[]error{syscall.EMFILE, syscall.ENFILE}, "Too many open files", "too_many_files"},
	{[]error{syscall.EIO}, "Input/output error", "io_error"},
	{[]error{syscall.ENOMEM}, "Cannot allocate memory", "no_memory"},
}

// Classify returns the kind and code of an error as [model.KindOf] does, and those of system errors that a user can act
// on: locked and damaged are of kind [model.Refused], interrupted of kind [model.Internal], and no_space, not_permitted,
// too_many_files, io_error and no_memory of kind [model.Machine].
func Classify(err error) (model.ErrorKind, string) {
	if kind, code := model.KindOf(err); kind != model.Internal || code != "internal" {
		return kind, code
	}
	var locked *storage.LockedError
	if errors.As(err, &locked) {
		return model.Refused, "locked"
	}
	if errors.Is(err, context.Canceled) {
		return model.Internal, "interrupted"
	}
	text := err.Error()
	for _, f := range failures { // before damage: files that could not be read may be complete
		if strings.Contains(text, f.text) || slices.ContainsFunc(f.is, func(e error) bool { return errors.Is(err, e) }) {
			return model.Machine, f.code
		}
	}
	if errors.Is(err, storage.ErrDamaged) {
		return model.Refused, "damaged"
	}
	return model.Internal, "internal"
}
