package answertest

import (
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// Lines are recorded as pairs of a request and its answer, whatever the sizes of reads and writes. Notifications are
// recorded alone, and what differs between runs is not recorded.
func TestRecordedLines(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(recordings, folder)
	now := time.Now()
	t.Run("of a test", func(t *testing.T) {
		client, server := net.Pipe()
		defer client.Close()
		recorded := RecordedLines(t)(server)
		go func() {
			defer client.Close()
			for _, b := range []string{`{"id":1}`, "\n{\"id\":2}\n", "{\"id\":3}\n"} {
				io.WriteString(client, b)
			}
			io.Copy(io.Discard, client)
		}()
		b := make([]byte, 100)
		for range 3 {
			if _, err := recorded.Read(b); err != nil {
				t.Fatal(err)
			}
		}
		for _, b := range []string{"{\"result\"", ":1}\n{\"method\":\"tip\"}\n", fmt.Sprintf(`{"result":[%d,"127.0.0.1:4711 %s at `, now.Unix(), folder), now.UTC().Format(time.RFC3339), "\"]}\n"} {
			if _, err := io.WriteString(recorded, b); err != nil {
				t.Fatal(err)
			}
		}
		recorded.Close()
	})
	const want = `> notification
< {"method":"tip"}

> {"id":1}
< {"result":1}

> {"id":2}
< {"result":[NOW,"127.0.0.1:PORT FOLDER at NOW"]}

`
	if got, err := os.ReadFile(filepath.Join(folder, "answertest", "TestRecordedLines-of_a_test.txt")); err != nil || string(got) != want {
		t.Errorf("%s, %v", got, err)
	}
	plain, _ := net.Pipe()
	os.Unsetenv(recordings)
	if got := RecordedLines(t)(plain); got != plain {
		t.Errorf("%T", got)
	}
	old := "2011-02-03T02:36:42Z 1296700602 5000000000"
	if got := normal(old); got != old {
		t.Error(got)
	}
}
