package core

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"syscall"

	"birthmark/model"
	"birthmark/storage"
)

// Classify returns the kind and code of an error as [model.KindOf] does, and those of system errors that a user can act
// on: locked, damaged and not_permitted are of kind [model.Refused], interrupted and no_space of kind [model.Internal].
func Classify(err error) (model.ErrorKind, string) {
	if kind, code := model.KindOf(err); kind != model.Internal || code != "internal" {
		return kind, code
	}
	var locked *storage.LockedError
	switch {
	case errors.As(err, &locked):
		return model.Refused, "locked"
	case errors.Is(err, storage.ErrDamaged):
		return model.Refused, "damaged"
	case errors.Is(err, context.Canceled):
		return model.Internal, "interrupted"
	case errors.Is(err, syscall.ENOSPC), strings.Contains(err.Error(), "No space left on device"):
		return model.Internal, "no_space"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), strings.Contains(err.Error(), "Permission denied"):
		return model.Refused, "not_permitted"
	}
	return model.Internal, "internal"
}
