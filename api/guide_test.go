package api_test

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// console is a session of a document: a curl command and its output.
var console = regexp.MustCompile("(?s)```console\n\\$ curl ([^\n]*)\n(.*?)```")

// Every session of docs/api.md has the output that it shows.
func TestSessionsOfTheGuide(t *testing.T) {
	h := bitcoinAPI(t)
	file := filepath.Join("..", "docs", "api.md")
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(console.FindAll(text, -1)); n < 7 {
		t.Errorf("%d sessions", n)
	}
	golden(t, file, console.ReplaceAllFunc(text, func(session []byte) []byte {
		line := string(console.FindSubmatch(session)[1])
		return []byte("```console\n$ curl " + line + "\n" + curled(t, h, line) + "```")
	}))
}

// words matches the words of a shell command, quoted or not.
var words = regexp.MustCompile(`'[^']*'|[^ ]+`)

// curled returns the output of a curl command.
func curled(t *testing.T, h http.Handler, line string) string {
	t.Helper()
	method, target, body, print := "GET", "", "", ""
	var headers []string
	args := words.FindAllString(line, -1)
	for i := range args {
		args[i] = strings.Trim(args[i], "'")
	}
	for len(args) > 0 {
		switch args[0] {
		case "-s", "-N":
			args = args[1:]
		case "-o", "-w", "-H", "-d":
			switch args[0] {
			case "-w":
				print = args[1]
			case "-d":
				method, body = "POST", args[1]
			case "-H":
				name, value, _ := strings.Cut(args[1], ": ")
				headers = append(headers, name, value)
			}
			args = args[2:]
		default:
			path, ok := strings.CutPrefix(args[0], "http://127.0.0.1:8080")
			if !ok || target != "" {
				t.Fatalf("curl %s: unexpected argument %s", line, args[0])
			}
			target, args = path, args[1:]
		}
	}
	w := ask(h, method, target, body, headers...)
	if print != "" {
		return strings.NewReplacer("%{http_code}", strconv.Itoa(w.Code), `\n`, "\n").Replace(print)
	}
	return w.Body.String()
}
