package testseed_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"birthmark/internal/testseed"
)

// pretended is a test that can fail without failing this one.
type pretended struct {
	testing.TB
	failed bool
	said   []string
	after  []func()
}

func (p *pretended) Helper()          {}
func (p *pretended) Failed() bool     { return p.failed }
func (p *pretended) Cleanup(f func()) { p.after = append(p.after, f) }
func (p *pretended) Logf(format string, values ...any) {
	p.said = append(p.said, fmt.Sprintf(format, values...))
}

func (p *pretended) Fatalf(format string, values ...any) {
	p.Logf(format, values...)
	p.failed = true
	runtime.Goexit()
}

// run returns the messages of a test that then fails or succeeds.
func run(fails bool, test func(testing.TB)) string {
	p, done := &pretended{}, make(chan struct{})
	go func() {
		defer close(done)
		test(p)
		p.failed = fails
	}()
	<-done
	for _, f := range p.after {
		f()
	}
	return strings.Join(p.said, "\n")
}

func TestSeeds(t *testing.T) {
	for _, c := range []struct {
		variable      string
		of            uint64
		another, same bool // New: another seed each time, or that of Of
	}{
		{"", 7, true, false},
		{"0", 0, false, true},
		{"18446744073709551615", 1<<64 - 1, false, true},
	} {
		t.Setenv("BIRTHMARK_SEED", c.variable)
		of, one, two := testseed.Of(t, 7), testseed.New(t), testseed.New(t)
		if of != c.of || (one != two) != c.another || (one == of) != c.same {
			t.Errorf("BIRTHMARK_SEED %q: usually 7 is %d, new ones are %d and %d", c.variable, of, one, two)
		}
		if a, b := testseed.Rand(t).Uint64(), testseed.Rand(t).Uint64(); (a != b) != c.another {
			t.Errorf("BIRTHMARK_SEED %q: %d and %d are drawn", c.variable, a, b)
		}
	}
}

func TestTheSeedIsSaidWhereATestFails(t *testing.T) {
	t.Setenv("BIRTHMARK_SEED", "")
	of := func(t testing.TB) { testseed.Of(t, 7) }
	if said := run(true, of); said != "BIRTHMARK_SEED=7" {
		t.Errorf("a failing test prints %q", said)
	}
	if said := run(false, of); said != "" {
		t.Errorf("a passing test prints %q", said)
	}
	var first uint64
	said := run(true, func(t testing.TB) { first = testseed.Rand(t).Uint64() })
	t.Setenv("BIRTHMARK_SEED", strings.TrimPrefix(said, "BIRTHMARK_SEED="))
	if again := testseed.Rand(t).Uint64(); again != first {
		t.Errorf("%s draws %d, and then %d", said, first, again)
	}
}

func TestASeedThatIsNoneFailsTheTest(t *testing.T) {
	for _, text := range []string{"x", "-1", "18446744073709551616", " 1"} {
		t.Setenv("BIRTHMARK_SEED", text)
		for _, test := range []func(testing.TB){
			func(t testing.TB) { testseed.Of(t, 7) }, func(t testing.TB) { testseed.New(t) }, func(t testing.TB) { testseed.Rand(t) },
		} {
			if said := run(false, func(p testing.TB) { test(p); t.Errorf("BIRTHMARK_SEED %q is taken", text) }); !strings.Contains(said, fmt.Sprintf("BIRTHMARK_SEED %q", text)) {
				t.Errorf("BIRTHMARK_SEED %q: the test prints %q", text, said)
			}
		}
	}
}
