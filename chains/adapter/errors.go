package adapter

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"unicode/utf8"

	"birthmark/internal/humanize"
	"birthmark/model"
)

// maxQuoted is how many bytes of an input an error repeats.
const maxQuoted = 100

// Truncate cuts a text for use in an error.
func Truncate(s string) string {
	if len(s) <= maxQuoted {
		return s
	}
	end := maxQuoted
	for end > 0 && !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + "…"
}

// Quote cuts a text for use in an error and puts it in quotes.
func Quote(s string) string { return strconv.Quote(Truncate(s)) }

// BadValue returns the error of a text that is not a value of an index: kind [model.Usage], code bad_value.
func BadValue(what, text, expected string, args ...any) error {
	return model.Errorf(model.Usage, "bad_value", "invalid %s %s: expected %s", what, Quote(text), fmt.Sprintf(expected, args...))
}

// BadBlock adds the place to an error about a block: kind [model.BadSource], or [model.Machine] if err has that one, and
// code bad_block unless err has a code.
func BadBlock(err error, place string, args ...any) error {
	kind, code := model.BadSource, "bad_block"
	if coded, ok := errors.AsType[*model.Error](err); ok {
		code = coded.Code
		if coded.Kind == model.Machine {
			kind = model.Machine
		}
	}
	return model.Errorf(kind, code, "%s: %w", fmt.Sprintf(place, args...), err)
}

// PathError returns an error of the file system about a path: kind [model.BadSource], code source_missing if it does
// not exist, else source_unreadable.
func PathError(path string, err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return model.Errorf(model.BadSource, "source_missing", "%s does not exist", path)
	}
	if errors.Is(err, fs.ErrPermission) {
		return model.Errorf(model.BadSource, "source_unreadable", "%w: give the user that runs birthmark access to it", err)
	}
	return model.Errorf(model.BadSource, "source_unreadable", "%w", err)
}

// Thousands writes a number with commas: 700,000.
func Thousands[N ~int | ~int64 | ~uint32 | ~uint64](n N) string {
	return humanize.Thousands(fmt.Sprint(uint64(n)))
}
