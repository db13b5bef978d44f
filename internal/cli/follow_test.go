package cli

import (
	"bufio"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"birthmark/core/query"
	"birthmark/internal/follower"
	"birthmark/internal/testseed"
)

// told is a decoded line of a follower.
type told struct {
	Type    string
	Tx      string
	Index   int
	Height  int
	Hash    string
	Value   string
	SpentBy *query.SpentByAnswer `json:"spent_by"`
	To      *query.PointAnswer
}

// listener is a program that applies the output of a follower block by block.
type listener struct {
	mu      sync.Mutex
	have    map[string]int // heights of outputs and spends
	pending map[string]int
	at      int // the last block, or -1
	wrong   error
}

func newListener() *listener {
	return &listener{have: map[string]int{}, pending: map[string]int{}, at: -1}
}

// line processes a line. It ignores a truncated one.
func (l *listener) line(text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var e told
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return
	}
	switch e.Type {
	case "output":
		l.pending[fmt.Sprintf("%s:%d holds %s", e.Tx, e.Index, e.Value)] = e.Height
	case "spend":
		l.pending[fmt.Sprintf("%s:%d is spent by %s:%d", e.Tx, e.Index, e.SpentBy.Tx, e.SpentBy.Input)] = int(e.SpentBy.Height)
	case "block":
		for what, height := range l.pending {
			if _, had := l.have[what]; had || height <= l.at || height > e.Height {
				l.wrong = fmt.Errorf("%s of block %d was received between blocks %d and %d, received before: %t", what, height, l.at, e.Height, had)
			}
			l.have[what] = height
		}
		l.at = e.Height
		clear(l.pending)
	case "rollback":
		clear(l.pending)
		if l.at = -1; e.To != nil {
			l.at = int(e.To.Height)
		}
		maps.DeleteFunc(l.have, func(_ string, height int) bool { return height > l.at })
	default:
		l.wrong = fmt.Errorf("a line without a type: %s", text)
	}
}

func (l *listener) height() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.at
}

// A follower that is killed at any time resumes. Blocks that are added and removed before it resumes do not change its
// final state, which equals that of a follower without interruptions.
func TestKilledFollowersLoseNothing(t *testing.T) {
	slow(t)
	t.Parallel()
	rng := rand.New(rand.NewPCG(testseed.Of(t, 790), 0))
	db, source := filepath.Join(t.TempDir(), "db"), "file://"+realBlocks(t)
	syncTo(t, db, source, "--to-height", "180")
	tip := 180
	heard := newListener()
	var follower *exec.Cmd
	var done chan struct{}
	start := func() {
		follower, _, _ = process(t, -1, "find", "--follow", "address", "--spends", "--json", "--follower", "all", "--poll", "10ms", "--db", db)
		follower.Stdout = nil
		out, err := follower.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := follower.Start(); err != nil {
			t.Fatal(err)
		}
		done = make(chan struct{})
		go func() {
			defer close(done)
			for lines := bufio.NewReader(out); ; {
				line, err := lines.ReadString('\n')
				if err != nil {
					return
				}
				heard.line(line)
			}
		}()
	}
	kill := func() {
		if follower != nil {
			_ = follower.Process.Kill()
			<-done
			_ = follower.Wait()
			follower = nil
		}
	}
	defer kill()
	for range 25 {
		switch rng.IntN(5) {
		case 0:
			tip = max(0, tip-1-rng.IntN(150))
			ask(t, nil, "rollback", "--to-height", strconv.Itoa(tip), "--db", db)
		case 1, 2:
			tip += 1 + rng.IntN(150)
			syncTo(t, db, source, "--to-height", strconv.Itoa(tip))
		case 3:
			kill()
		case 4:
			if follower == nil {
				start()
			} else if rng.IntN(2) == 0 {
				until(t, fmt.Sprintf("block %d", tip), func() bool { return heard.height() == tip })
			}
		}
	}
	kill()
	r := birthmark("find", "--follow", "address", "--spends", "--json", "--follower", "all", "--until-tip", "--db", db)
	if r.status != exitDone || r.stderr != "" {
		t.Fatalf("%+v", r)
	}
	for line := range strings.Lines(r.stdout) {
		heard.line(line)
	}
	whole := newListener()
	for line := range strings.Lines(birthmark("find", "--follow", "address", "--spends", "--json", "--until-tip", "--db", db).stdout) {
		whole.line(line)
	}
	if heard.wrong != nil || whole.wrong != nil {
		t.Fatal(heard.wrong, whole.wrong)
	}
	if heard.at != tip || !maps.Equal(heard.have, whole.have) || len(whole.have) < tip {
		t.Errorf("at block %d of %d with %d outputs and spends, expected %d", heard.at, tip, len(heard.have), len(whole.have))
	}
	var a followerAnswer
	ask(t, &a, "follower", "get", "all", "--db", db)
	if a.At == nil || int(a.At.Height) != tip || a.Behind != 0 || *a.At != *a.ResumesAt {
		t.Errorf("the follower is at %+v", a)
	}
}

// A signal ends a follower of a database with a running sync. Its saved position is its last block line.
func TestASignalEndsAFollower(t *testing.T) {
	slow(t)
	t.Parallel()
	db := filepath.Join(t.TempDir(), "db")
	runningSync(t, db)
	cmd, _, stderr := process(t, -1, "find", "--follow", "address", satoshi, "--json", "--follower", "one", "--db", db)
	cmd.Stdout = nil
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	var last told
	for last.Height != 500 && lines.Scan() {
		if err := json.Unmarshal(lines.Bytes(), &last); err != nil {
			t.Fatalf("%v in %s", err, lines.Text())
		}
	}
	wantFailure(t, exitRefused, "locked", fmt.Sprintf(`^follower one is in use by pid %d, birthmark find`, cmd.Process.Pid), "follower", "set", "one", "tip", "--db", db)
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	for lines.Scan() {
		t.Errorf("a line after block 500: %s", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v: %s", err, stderr)
	}
	kept, err := follower.Of(db).Read("one")
	if err != nil || kept.Blocks[0].Height != 500 || kept.Blocks[0].Hash != last.Hash {
		t.Errorf("%+v, %v", kept, err)
	}
}

func TestFollowersAreListed(t *testing.T) {
	t.Parallel()
	db := first200(t)
	var b strings.Builder
	for _, line := range []string{
		"follower list",
		"follower set wallet 170",
		"find --follow --until-tip --spends --follower wallet address " + satoshi,
		"find --follow --until-tip --spends --follower wallet address " + satoshi + " --json",
		"follower set wallet origin",
		"find --follow --until-tip --follower wallet address " + satoshi + " --json",
		"rollback --to-height 182",
		"follower set alerts tip --json",
		"follower list",
		"follower get wallet --json",
		"find --follow --until-tip --spends --follower wallet address " + satoshi + " --json",
		"follower list --json",
		"find --follow --until-tip --height-from 182 address " + satoshi + " --json",
		"find --follow --until-tip asset",
		"follower delete wallet",
		"follower delete alerts --json",
		"follower list --json",
	} {
		r := birthmark(append(strings.Fields(line), "--db", db)...)
		if r.status != exitDone || r.stderr != "" {
			t.Fatalf("%s: %+v", line, r)
		}
		b.WriteString("$ birthmark " + line + "\n" + r.stdout)
	}
	normalized := regexp.MustCompile(`"updated":\d+`).ReplaceAllString(b.String(), `"updated":0`)
	golden(t, "follow.txt", regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC`).ReplaceAllString(normalized, "UPDATED"))
}

func TestErrorsOfFollowers(t *testing.T) {
	t.Parallel()
	db := first200(t)
	ask(t, nil, "follower", "set", "a", "5", "--db", db)
	file := filepath.Join(db, "cursors", "other.json")
	write(t, file, `{"chain":"cardano","network":"mainnet","blocks":[]}`)
	write(t, filepath.Join(db, "cursors", "broken.json"), `{"chain":"bitcoin","network":"mainnet","blocks":[{"height":1,"hash":"x"}]}`)
	for _, c := range []struct {
		args          string
		status        int
		code, message string
	}{
		{"find address", exitUsage, "missing_argument", `^missing argument VALUE: expected birthmark find`},
		{"find --follower a address x", exitUsage, "missing_flag", `^--follower needs --follow$`},
		{"find --spends address x", exitUsage, "missing_flag", `^--spends needs --follow$`},
		{"find --follow --unspent address", exitUsage, "bad_value", `^--follow and --unspent cannot be combined`},
		{"find --follow --and address=x address", exitUsage, "bad_value", `^--follow and --and cannot be combined`},
		{"find --follow --height-to 3 address", exitUsage, "bad_value", `^--follow and --height-to cannot be combined`},
		{"find --follow --poll 1ms address", exitUsage, "bad_value", `^--poll: expected a duration of at least 10ms, such as 500ms, not "1ms"$`},
		{"find --follow --follower a/b address", exitUsage, "bad_value", `^invalid follower name "a/b"`},
		{"find --follow --follower a --height-from 3 address", exitUsage, "bad_value", `^follower a already has a position`},
		{"find --follow --height-from 300 address", exitUsage, "empty_range", `^from height 300: .* its tip is 199`},
		{"find --follow colour", exitUsage, "unknown_index", `"colour"`},
		{"find --follow address x", exitUsage, "bad_value", `^address: invalid address "x"`},
		{"find --follow --follower other address", exitRefused, "wrong_chain", `^follower other belongs to cardano mainnet`},
		{"find --follow --follower broken address", exitRefused, "damaged_follower", `^follower broken is damaged \(block 1: .*\): delete or set it$`},
		{"find --and address address x", exitUsage, "bad_value", `^--and: expected INDEX=VALUE, not "address"$`},
		{"find --or =x address x", exitUsage, "bad_value", `^--or: expected INDEX=VALUE, not "=x"$`},
		{"find --time-from yesterday address " + satoshi, exitUsage, "bad_value", `^--time-from: expected unix seconds, or a time such as`},
		{"history --height-from 9 --height-to 8 address " + satoshi, exitUsage, "bad_range", `ends before it begins`},
		{"history --time-from 2030-01-01T00:00:00Z address " + satoshi, exitUsage, "empty_range", `^from 2030-01-01T00:00:00Z: .* 2009-01-12T`},
		{"follower set a 200", exitFailed, "unknown_block", `^no block at height 200`},
		{"follower set a.b 1", exitUsage, "bad_value", `^invalid follower name`},
		{"follower get none", exitFailed, "unknown_follower", `^unknown follower "none"`},
		{"follower delete none", exitFailed, "unknown_follower", `^unknown follower "none"`},
	} {
		wantFailure(t, c.status, c.code, c.message, append(strings.Fields(c.args), "--db", db)...)
	}
	if r := birthmark("follower", "delete", "broken", "--db", db); r.status != exitDone {
		t.Errorf("a damaged position cannot be deleted: %+v", r)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	names, err := follower.Of(db).List()
	if err != nil || !slices.Equal(names, []string{"a"}) {
		t.Errorf("remaining files: %q, %v", names, err)
	}
}
