package cli

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"birthmark/internal/progress"

	"golang.org/x/term"
)

// interactive reports whether a person can answer questions: stdin and stderr are a terminal.
func (p *program) interactive() bool {
	in, ok := p.Stdin.(*os.File)
	return ok && term.IsTerminal(int(in.Fd())) && progress.Terminal(p.Stderr) != nil
}

// confirm asks a question on the terminal. Only y and yes confirm; Ctrl-C does not.
func (p *program) confirm(ctx context.Context, question string) bool {
	fmt.Fprintf(p.Stderr, "%s [y/N] ", question)
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(p.Stdin).ReadString('\n') // without an answer: no
		answer <- strings.ToLower(strings.TrimSpace(line))
	}()
	select {
	case a := <-answer:
		return a == "y" || a == "yes"
	case <-ctx.Done():
		fmt.Fprintln(p.Stderr)
		return false
	}
}
