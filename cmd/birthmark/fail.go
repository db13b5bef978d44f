package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"syscall"

	"birthmark/cmd/birthmark/settings"
	"birthmark/model"
	"birthmark/storage"
)

// Exit statuses of the contract.
const (
	exitDone    = 0
	exitFailed  = 1 // no answer, faults found, or a machine that fails
	exitUsage   = 2
	exitRefused = 3
	exitSource  = 4
)

var exitStatus = map[model.ErrorKind]int{
	model.Internal:  exitFailed,
	model.NotFound:  exitFailed,
	model.Usage:     exitUsage,
	model.Refused:   exitRefused,
	model.BadSource: exitSource,
}

// fail tells what went wrong and returns the exit status: one line on stderr and, where JSON was asked for and no
// document is written yet, a document.
func (p *program) fail(err error) int {
	if err == nil {
		return exitDone
	}
	kind, code := classify(err)
	message := oneLine(err.Error())
	for _, uri := range p.sources {
		message = strings.ReplaceAll(message, uri, settings.MaskURI(uri))
	}
	fmt.Fprintln(p.stderr, "birthmark:", message)
	if p.json && !p.answered {
		type errorAnswer struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		}
		// Nobody is left to tell where this fails.
		_ = p.document(struct {
			Error errorAnswer `json:"error"`
		}{errorAnswer{code, message}})
	}
	return exitStatus[kind]
}

// oneLine joins the lines of an error; what fails again while a database is closed is told once.
func oneLine(text string) string {
	var lines []string
	for line := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '\n' || r == '\r' }) {
		if !slices.Contains(lines, line) {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "; ")
}

// classify adds to the errors that have a kind those of the machine that a user can act on.
func classify(err error) (model.ErrorKind, string) {
	if kind, code := model.KindOf(err); kind != model.Internal || code != "internal" {
		return kind, code
	}
	var locked *storage.LockedError
	switch {
	case errors.As(err, &locked):
		return model.Refused, "locked"
	case errors.Is(err, context.Canceled):
		return model.Internal, "interrupted"
	case errors.Is(err, syscall.ENOSPC), strings.Contains(err.Error(), "No space left on device"):
		return model.Internal, "no_space"
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS), strings.Contains(err.Error(), "Permission denied"):
		return model.Refused, "not_permitted"
	}
	return model.Internal, "internal"
}

// document writes v as the one JSON document of a command.
func (p *program) document(v any) error {
	p.answered = true
	e := json.NewEncoder(p.stdout)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
