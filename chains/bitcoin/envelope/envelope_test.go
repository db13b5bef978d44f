package envelope_test

import (
	"fmt"
	"testing"

	"birthmark/chains/bitcoin/envelope"
)

// The cases of stutters and of opcodes of numbers are those of ord's tests (ordinals/ord, commit 5241ef31, CC0:
// src/inscriptions/envelope.rs).
func TestEnvelopesAreRead(t *testing.T) {
	t.Parallel()
	const begin, end = "\x00\x63\x03ord", "\x68"
	for _, c := range []struct{ name, script, want string }{
		{"no envelope", "\x51\x03ord", "[]"},
		{"empty", begin + end, "[{[] false false}]"},
		{"pushes", begin + "\x01\x07\x00\x02ab" + end, "[{[[7] [] [97 98]] false false}]"},
		{"the number -1", begin + "\x00\x4f" + end, "[{[[] [129]] true false}]"},
		{"the number 1", begin + "\x51" + end, "[{[[1]] true false}]"},
		{"the number 16", begin + "\x60" + end, "[{[[16]] true false}]"},
		{"an opcode that is reserved", begin + "\x50" + end + begin + end, "[{[] false false}]"},
		{"an empty push twice", "\x00" + begin + end, "[{[] false true}]"},
		{"a beginning twice", "\x00\x63" + begin + end, "[{[] false true}]"},
		{"three times", "\x00\x63\x00\x63" + begin + end, "[{[] false true}]"},
		{"an operation between", "\x00\x00\x84" + begin + end, "[{[] false false}]"},
		{"a stutter ends with the next attempt", "\x00" + begin + "\x87" + begin + end, "[{[] false false}]"},
		{"it lasts after an envelope", "\x00" + begin + end + begin + end, "[{[] false true} {[] false true}]"},
		{"no end", begin + "\x01a", "[]"},
		{"another protocol", "\x00\x63\x03abc\x68" + begin + end, "[{[] false false}]"},
		{"more than the limit", begin + end + begin + "\x51" + end + begin + end + begin + end, "[{[] false false} {[[1]] true false} {[] false false}]"},
	} {
		if got := fmt.Sprint(envelope.Read([]byte(c.script), 3, true)); got != c.want {
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
