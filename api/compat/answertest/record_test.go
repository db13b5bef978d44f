package answertest

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A recording has each different exchange once, as the client saw it.
func TestRecordingsHaveEachExchangeOnce(t *testing.T) {
	folder := t.TempDir()
	t.Setenv(recordings, folder)
	t.Run("of a test", func(t *testing.T) {
		h := Recorded(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, err := io.ReadAll(r.Body)
			if err != nil || string(body) != "question" {
				t.Errorf("%q, %v", body, err)
			}
			w.Header().Set("X-Tip", "7")
			if r.URL.Path == "/absent" {
				w.WriteHeader(http.StatusNotFound)
			}
			io.WriteString(w, "answer to "+r.URL.Path)
		}))
		for _, path := range []string{"/b?x=1", "/absent", "/b?x=1"} {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("POST", path, strings.NewReader("question")))
			if !strings.HasPrefix(w.Body.String(), "answer to /") {
				t.Errorf("%s: %s", path, w.Body)
			}
		}
	})
	const want = "> POST /absent\n> question\n< 404\n< X-Tip: 7\n< answer to /absent\n\n" +
		"> POST /b?x=1\n> question\n< 200\n< X-Tip: 7\n< answer to /b\n\n"
	file := filepath.Join(folder, "answertest", "TestRecordingsHaveEachExchangeOnce-of_a_test.txt")
	if got, err := os.ReadFile(file); err != nil || string(got) != want {
		t.Errorf("%q, %v", got, err)
	}
	os.Unsetenv(recordings)
	h := http.NotFoundHandler()
	w := httptest.NewRecorder()
	Recorded(t, h).ServeHTTP(w, httptest.NewRequest("GET", "/", nil))
	if w.Code != http.StatusNotFound {
		t.Error(w.Code)
	}
}
