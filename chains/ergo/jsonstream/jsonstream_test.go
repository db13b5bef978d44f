package jsonstream

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func split(r io.Reader, most int) (values []string, err error) {
	s := New(r, most)
	for {
		v, err := s.Next()
		if err != nil {
			return values, err
		}
		values = append(values, string(v))
	}
}

func TestValuesAreFoundWithAnySeparators(t *testing.T) {
	want := []string{`{"a":[1,{"b":"]}"}]}`, `{"c":"\\\"{"}`, `{}`}
	for name, text := range map[string]string{
		"lines":        strings.Join(want, "\n") + "\n",
		"no last line": strings.Join(want, "\r\n"),
		"without room": strings.Join(want, ""),
		"an array":     "\n [ " + strings.Join(want, " ,\n") + "\n]\n",
		"two arrays":   "[" + want[0] + "]\n[" + want[1] + "," + want[2] + "]",
		"both":         want[0] + "[" + want[1] + "]" + want[2],
		"empty arrays": "[]" + strings.Join(want, "[]") + " [ ] ",
	} {
		for how, r := range map[string]io.Reader{
			"at once":  strings.NewReader(text),
			"by bytes": iotest.OneByteReader(strings.NewReader(text)),
			"at end":   iotest.DataErrReader(strings.NewReader(text)),
		} {
			got, err := split(r, 100)
			if err != io.EOF || !slices.Equal(got, want) {
				t.Errorf("%s, %s: %q, %v", name, how, got, err)
			}
		}
	}
	if got, err := split(strings.NewReader(`[1,-2e5,null,"x",true,[2,[3]]]`), 100); err != io.EOF || strings.Join(got, " ") != `1 -2e5 null "x" true [2,[3]]` {
		t.Errorf("values that are not objects: %q, %v", got, err)
	}
}

func TestIncompleteInputIsAnError(t *testing.T) {
	for text, want := range map[string]error{
		"":             io.EOF,
		" \n":          io.EOF,
		"[]":           io.EOF,
		"[":            io.ErrUnexpectedEOF,
		`{"a":1`:       io.ErrUnexpectedEOF,
		`[{"a":1}`:     io.ErrUnexpectedEOF,
		`[{"a":1},`:    io.ErrUnexpectedEOF,
		`"abc`:         io.ErrUnexpectedEOF,
		"<html>":       &SyntaxError{},
		"[{},]":        &SyntaxError{},
		"[{}{}]":       &SyntaxError{},
		"[,{}]":        &SyntaxError{},
		"{}]":          &SyntaxError{},
		"{},{}":        &SyntaxError{},
		`{"a":[1}`:     &SyntaxError{},
		"]":            &SyntaxError{},
		`{"a":"012"}`:  ErrTooLarge,
		`["0123456",1`: io.ErrUnexpectedEOF,
	} {
		_, err := split(strings.NewReader(text), 10)
		_, isSyntax := errors.AsType[*SyntaxError](want)
		if _, ok := errors.AsType[*SyntaxError](err); ok != isSyntax || !isSyntax && err != want {
			t.Errorf("%q: %v", text, err)
		}
	}
	deep := strings.Repeat("[", maxDepth+2)
	if _, err := split(strings.NewReader(deep), 1<<20); err == nil || !strings.Contains(err.Error(), "nested") {
		t.Errorf("a deep value: %v", err)
	}
	if _, err := split(io.MultiReader(strings.NewReader(`{"a":"`), endless{}), 1<<20); err != ErrTooLarge {
		t.Errorf("a value without an end: %v", err)
	}
}

type endless struct{}

func (endless) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

func TestPositionsMatchValues(t *testing.T) {
	text := "{}\n\n{\n\"a\":1}\n" + `{"b":"` + strings.Repeat("0", 3*firstRead) + "\"}\n[\n{} ,{}]\nx?"
	s := New(strings.NewReader(text), len(text))
	var lines []int
	for {
		v, err := s.Next()
		if err != nil {
			break
		}
		lines = append(lines, s.Line())
		at := s.Position()
		if !strings.HasPrefix(text[at.Offset:], string(v)) {
			t.Errorf("the value at offset %d is missing", at.Offset)
		}
		again := Resume(strings.NewReader(text[at.Offset:]), len(text), at)
		if w, err := again.Next(); string(w) != string(v) || err != nil || again.Position() != at {
			t.Errorf("from offset %d: %q, %v", at.Offset, w, err)
		}
	}
	if want := []int{1, 3, 5, 7, 7, 8}; !slices.Equal(lines, want) {
		t.Errorf("values in lines %d, expected %d", lines, want)
	}
	if s.Line() != 8 {
		t.Errorf("the error is reported in line %d", s.Line())
	}
}

// growing is a stream that grows.
type growing struct{ bytes.Buffer }

func TestAStreamThatGrowsIsReadOn(t *testing.T) {
	var r growing
	s := New(&r, 100)
	next := func(add, want string, wantErr error) {
		t.Helper()
		r.WriteString(add)
		v, err := s.Next()
		if string(v) != want || err != wantErr {
			t.Errorf("after %q: %q, %v", add, v, err)
		}
	}
	next("", "", io.EOF)
	next(`{"a"`, "", io.ErrUnexpectedEOF)
	next(`:"`, "", io.ErrUnexpectedEOF)
	next(`x"}{"b`, `{"a":"x"}`, nil)
	next(``, "", io.ErrUnexpectedEOF)
	next(`":2}`, `{"b":2}`, nil)
	next("\n", "", io.EOF)
}

func TestBeginsTakesNothing(t *testing.T) {
	s := New(iotest.OneByteReader(strings.NewReader("\n  [{}]")), 10)
	if c, err := s.Begins(); c != '[' || err != nil {
		t.Errorf("begins with %q, %v", c, err)
	}
	if v, err := s.Next(); string(v) != "{}" || err != nil {
		t.Errorf("then %q, %v", v, err)
	}
	if _, err := New(strings.NewReader(" "), 10).Begins(); err != io.EOF {
		t.Errorf("an empty stream begins with %v", err)
	}
}

// repeated returns one byte endlessly, and an error after the limit.
type repeated struct {
	b    byte
	left int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.left < len(p) {
		return 0, errors.New("read after the end")
	}
	r.left -= len(p)
	for i := range p {
		p[i] = r.b
	}
	return len(p), nil
}

// Endless white space is an error like a value that is too large, and uses no memory.
func TestWhiteSpaceHasAnEnd(t *testing.T) {
	const most = 1 << 20
	for name, ask := range map[string]func(*Splitter) error{
		"Next":   func(s *Splitter) error { _, err := s.Next(); return err },
		"Begins": func(s *Splitter) error { _, err := s.Begins(); return err },
		"after a value": func(s *Splitter) error {
			if v, err := s.Next(); string(v) != "{}" || err != nil {
				t.Errorf("%q, %v", v, err)
			}
			_, err := s.Next()
			return err
		},
	} {
		for _, space := range []byte(" \n\t\r") {
			r := io.Reader(&repeated{space, 4 * most})
			if name == "after a value" {
				r = io.MultiReader(strings.NewReader("{}"), r)
			}
			s := New(r, most)
			if err := ask(s); err != ErrTooLarge {
				t.Errorf("%s: %v, expected %v", name, err, ErrTooLarge)
			}
			if cap(s.buf) > 2*firstRead {
				t.Errorf("%s: %d bytes of white space are buffered", name, cap(s.buf))
			}
		}
	}
}

func FuzzSplitter(f *testing.F) {
	f.Add([]byte(`[{"a":"\u0041"},2]`))
	f.Add([]byte("{}\n{\"a\":[]}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		whole, err := split(bytes.NewReader(b), 1<<20)
		parts, errParts := split(iotest.OneByteReader(bytes.NewReader(b)), 1<<20)
		if !slices.Equal(whole, parts) || (err == io.EOF) != (errParts == io.EOF) {
			t.Fatalf("%q, %v at once; %q, %v by bytes", whole, err, parts, errParts)
		}
		// An array that encoding/json accepts is split into the same elements.
		var elements []json.RawMessage
		if json.Unmarshal(b, &elements) != nil || elements == nil {
			return
		}
		if err != io.EOF || len(whole) != len(elements) {
			t.Fatalf("%d values and %v, expected %d", len(whole), err, len(elements))
		}
		for i, e := range elements {
			if whole[i] != string(e) {
				t.Fatalf("value %d is %q, expected %q", i, whole[i], e)
			}
		}
	})
}

func BenchmarkSplitter(b *testing.B) {
	line := []byte(`{"boxId":"` + strings.Repeat("ab", 32) + `","value":1000000,"ergoTree":"` + strings.Repeat("0008cd", 20) + `","assets":[],"index":0}` + "\n")
	text := bytes.Repeat(line, 10_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		s := New(bytes.NewReader(text), 1<<20)
		for {
			if _, err := s.Next(); err != nil {
				break
			}
		}
	}
}

// Editors and shells of Windows add a byte order mark and carriage returns.
func TestValuesOfFilesFromWindows(t *testing.T) {
	for text, want := range map[string][]string{
		"\ufeff{\"a\":1}\r\n\r\n{\"b\":2}\r\n": {`{"a":1}`, `{"b":2}`},
		"\ufeff[1,\r\n2]\r\n":                  {"1", "2"},
		"\ufeff":                               nil,
		"\r\n\r\n":                             nil,
	} {
		s := New(strings.NewReader(text), 100)
		var got []string
		for {
			v, err := s.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%q: %v", text, err)
			}
			got = append(got, string(v))
		}
		if !slices.Equal(got, want) {
			t.Errorf("%q: %q, expected %q", text, got, want)
		}
	}
	s := New(strings.NewReader("1 \ufeff2"), 100)
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Next(); err == nil {
		t.Error("a byte order mark between values is accepted")
	}
}
