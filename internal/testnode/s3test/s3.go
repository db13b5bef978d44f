// Package s3test runs an S3 server in a process of its own: gofakes3, from tools/s3.
package s3test

import (
	"bufio"
	"os/exec"
	"strings"
	"sync"
	"testing"

	"birthmark/internal/testnode/toolbuild"
)

// Bucket is the bucket that the server has.
const Bucket = "bucket"

var built = sync.OnceValues(func() (string, error) { return toolbuild.Build("tools/s3", ".") })

// Start starts an empty server, which ends with the test, and returns its endpoint.
func Start(t testing.TB) (endpoint string) {
	t.Helper()
	program, err := built()
	if err != nil {
		t.Fatalf("S3 server: %v", err)
	}
	cmd := exec.Command(program)
	in, err := cmd.StdinPipe() // its end ends the server, also if this process is killed
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("S3 server: %v", err)
	}
	return strings.TrimSpace(line)
}
