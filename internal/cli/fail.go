package cli

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"birthmark/core"
	"birthmark/internal/config"
	"birthmark/model"
)

// Exit statuses of the contract.
const (
	exitDone    = 0
	exitFailed  = 1 // no answer, problems found, or a failure of the machine
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

// fail prints an error and returns the exit status. It prints one line on stderr and, with --json, a document unless one
// was printed already.
func (p *program) fail(err error) int {
	if err == nil {
		return exitDone
	}
	kind, code := core.Classify(err)
	message := p.masked(oneLine(err.Error()))
	fmt.Fprintln(p.stderr, "birthmark:", message)
	if p.json && !p.answered {
		type errorAnswer struct {
			Code    string `json:"code"`
			Message string `json:"message"`
		}
		// There is no other way to report an error here.
		_ = p.document(struct {
			Error errorAnswer `json:"error"`
		}{errorAnswer{code, message}})
	}
	return exitStatus[kind]
}

// masked returns a text without the secrets of sources.
func (p *program) masked(text string) string {
	for _, uri := range p.sources {
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

// document writes v as the one JSON document of a command.
func (p *program) document(v any) error {
	p.answered = true
	e := json.NewEncoder(p.stdout)
	e.SetEscapeHTML(false)
	return e.Encode(v)
}
