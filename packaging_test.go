package birthmark_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"testing"
)

// The exposure that systemd-analyze computes for the unit is at most 2 of 10. Without its restrictions it is more.
func TestTheServiceIsHardened(t *testing.T) {
	if _, err := exec.LookPath("systemd-analyze"); err != nil {
		t.Skip("no systemd-analyze")
	}
	analyze := func(unit string) (string, error) {
		out, err := exec.Command("systemd-analyze", "security", "--offline=yes", "--no-pager", "--threshold=20", unit).CombinedOutput()
		return string(out), err
	}
	if out, err := analyze("docs/birthmark.service"); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	unit, err := os.ReadFile("docs/birthmark.service")
	if err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(t.TempDir(), "birthmark.service")
	restrictions := regexp.MustCompile(`(?m)^(Protect|Private|Restrict|SystemCall|Capability).*\n`)
	if err := os.WriteFile(open, restrictions.ReplaceAll(unit, nil), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := analyze(open); err == nil {
		t.Errorf("a unit without restrictions is accepted:\n%s", out)
	}
}
