package envelope_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"birthmark/chains/bitcoin/envelope"
)

// The cases of stutters and of opcodes of numbers are those of ord's tests (ordinals/ord, commit 5241ef31, CC0:
// src/inscriptions/envelope.rs).
func TestEnvelopesAreRead(t *testing.T) {
	t.Parallel()
	const begin, end = "\x00\x63\x03ord", "\x68"
	for _, c := range []struct{ name, script, want string }{
		{"no envelope", "\x51\x03ord", ""},
		{"empty", begin + end, "{[]}"},
		{"a field", begin + "\x01\x07\x00" + end, "{[[7] []]}"},
		{"a tag without a value", begin + "\x01\x07\x00\x02ab" + end, "{[[7] []] incomplete}"},
		{"a body", begin + "\x01\x07\x01\x08\x00\x02ab\x00\x01c" + end, "{[[7] [8]] body [[97 98] [] [99]] abc}"},
		{"a body without parts", begin + "\x00" + end, "{[] body [] }"},
		{"a body of one part", begin + "\x00\x01a" + end, "{[] body [[97]] a}"},
		{"the number -1", begin + "\x00\x4f" + end, "{[] body [[129]] \x81 numbers}"},
		{"the number 1", begin + "\x51" + end, "{[] incomplete numbers}"},
		{"the numbers 1 and 16", begin + "\x51\x60" + end, "{[[1] [16]] numbers}"},
		{"an opcode that is reserved", begin + "\x50" + end + begin + end, "{[]}"},
		{"an empty push twice", "\x00" + begin + end, "{[] stutter}"},
		{"a beginning twice", "\x00\x63" + begin + end, "{[] stutter}"},
		{"three times", "\x00\x63\x00\x63" + begin + end, "{[] stutter}"},
		{"an operation between", "\x00\x00\x84" + begin + end, "{[]}"},
		{"a stutter ends with the next attempt", "\x00" + begin + "\x87" + begin + end, "{[]}"},
		{"it lasts after an envelope", "\x00" + begin + end + begin + end, "{[] stutter}{[] stutter}"},
		{"no end", begin + "\x01a", ""},
		{"another protocol", "\x00\x63\x03abc\x68" + begin + end, "{[]}"},
		{"more than the limit", begin + end + begin + "\x51\x51" + end + begin + end + begin + end, "{[]}{[[1] [1]] numbers}{[]}"},
	} {
		got := ""
		for _, e := range envelope.Read([]byte(c.script), 3, true) {
			got += text(&e)
		}
		if got != c.want {
			t.Errorf("%s: %s, expected %s", c.name, got, c.want)
		}
	}
	cut := []byte(begin + end + "\x05a")
	if got := envelope.Read(cut, 3, true); got != nil {
		t.Errorf("a script that is cut off has %v", got)
	}
	if got := envelope.Read(cut, 3, false); len(got) != 1 {
		t.Errorf("an output script that is cut off has %v", got)
	}
}

func text(e *envelope.Envelope) string {
	fields := [][]byte{}
	for tag, value := range e.Fields() {
		fields = append(fields, tag, value)
	}
	s := fmt.Sprint("{", fields)
	if e.Incomplete {
		s += " incomplete"
	}
	if e.HasBody {
		s += fmt.Sprintf(" body %v %s", slices.Collect(e.Body()), e.Content())
	}
	if e.Numbers {
		s += " numbers"
	}
	if e.Stutter {
		s += " stutter"
	}
	return s + "}"
}

// The memory for an envelope does not grow with the number of its pushes.
func TestPushesAreNotListed(t *testing.T) {
	script := []byte("\x00\x63\x03ord\x00" + strings.Repeat("\x51", 1<<20) + "\x68")
	n := testing.AllocsPerRun(3, func() {
		for _, e := range envelope.Read(script, 3, true) {
			for range e.Fields() {
				t.Error("a field in the body")
			}
		}
	})
	if found := envelope.Read(script, 3, true); n > 20 || len(found) != 1 || len(found[0].Content()) != 1<<20 {
		t.Errorf("%v allocations, %d envelopes", n, len(found))
	}
}
