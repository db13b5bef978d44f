package core_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"syscall"
	"testing"

	"birthmark/core"
	"birthmark/model"
	"birthmark/storage"
)

// A failure of the machine has a kind of its own, also in RocksDB's words and if it prevented the reading of a file that
// then seems damaged.
func TestClassify(t *testing.T) {
	for _, c := range []struct {
		err  error
		kind model.ErrorKind
		code string
	}{
		{errors.New("anything"), model.Internal, "internal"},
		{fmt.Errorf("stop: %w", context.Canceled), model.Internal, "interrupted"},
		{&storage.LockedError{}, model.Refused, "locked"},
		{fmt.Errorf("open: %w", storage.ErrDamaged), model.Refused, "damaged"},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.ENOSPC}, model.Machine, "no_space"},
		{&fs.PathError{Op: "write", Path: "x", Err: syscall.EDQUOT}, model.Machine, "no_space"},
		{errors.New("IO error: No space left on device: While appending to file: db/000004.log"), model.Machine, "no_space"},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EACCES}, model.Machine, "not_permitted"},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EROFS}, model.Machine, "not_permitted"},
		{fmt.Errorf("%w: IO error: While opening a file for sequentially reading: db/MANIFEST-000005: Permission denied", storage.ErrDamaged), model.Machine, "not_permitted"},
		{&fs.PathError{Op: "open", Path: "x", Err: syscall.EMFILE}, model.Machine, "too_many_files"},
		{fmt.Errorf("%w: IO error: While open a file for random read: db/000009.sst: Too many open files", storage.ErrDamaged), model.Machine, "too_many_files"},
		{fmt.Errorf("%w: %w", storage.ErrDamaged, syscall.EIO), model.Machine, "io_error"},
		{errors.New("IO error: Cannot allocate memory: While mmap"), model.Machine, "no_memory"},
		{model.Errorf(model.Usage, "bad_value", "too many: %w", syscall.EMFILE), model.Usage, "bad_value"},
	} {
		if kind, code := core.Classify(c.err); kind != c.kind || code != c.code {
			t.Errorf("%v: kind %d, code %s; expected %d, %s", c.err, kind, code, c.kind, c.code)
		}
	}
}
