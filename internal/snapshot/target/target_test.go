package target

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"birthmark/internal/testnode/s3test"
	"birthmark/model"
)

// content returns a text as content.
func content(text string) Content {
	return Content{strings.NewReader(text), int64(len(text)), sha256.Sum256([]byte(text))}
}

func env(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := values[name]; return v, ok }
}

func open(t *testing.T, url string, o Options) Target {
	t.Helper()
	s, err := Open(url, o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// storages opens an empty storage of each kind that can be written.
func storages(t *testing.T) map[string]Target {
	endpoint := s3test.Start(t)
	return map[string]Target{
		"folder":   open(t, filepath.Join(t.TempDir(), "not", "made", "yet"), Options{}),
		"file URL": open(t, "file://"+t.TempDir(), Options{}),
		"bucket":   open(t, "s3://"+s3test.Bucket+"?region=us-east-1&endpoint="+endpoint, Options{}),
		"part of a bucket": open(t, "s3://"+s3test.Bucket+"/a/b/?region=us-east-1&endpoint="+endpoint, Options{
			LookupEnv: env(map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret"}),
		}),
	}
}

func read(t *testing.T, s Target, name string, from int64) string {
	t.Helper()
	r, err := s.Open(t.Context(), name, from)
	if err != nil {
		t.Fatalf("open %s: %v", name, err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatalf("read %s: %v", name, err)
	}
	return string(text)
}

func list(t *testing.T, s Target, folder string) (names []string) {
	t.Helper()
	for e, err := range s.List(t.Context(), folder) {
		if err != nil {
			t.Fatal(err)
		}
		if age := time.Since(e.Time); age < -time.Hour || age > time.Hour {
			t.Errorf("%s was stored %v ago", e.Name, age)
		}
		names = append(names, fmt.Sprint(e.Name, " ", e.Size))
	}
	slices.Sort(names)
	return names
}

func TestStoragesKeepFiles(t *testing.T) {
	for kind, s := range storages(t) {
		t.Run(kind, func(t *testing.T) {
			ctx := t.Context()
			put := func(name, text string) {
				t.Helper()
				if err := s.Put(ctx, name, content(text)); err != nil {
					t.Fatal(err)
				}
			}
			if got := list(t, s, "files"); got != nil {
				t.Errorf("an empty storage has %v", got)
			}
			if folders, err := s.Folders(ctx); err != nil || kind != "bucket" && len(folders) > 0 {
				t.Errorf("an empty storage has folders %v: %v", folders, err)
			}
			if _, err := s.Open(ctx, "files/a", 0); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("an absent file: %v", err)
			}
			if err := s.Remove(ctx, "files/a"); err != nil {
				t.Errorf("removing an absent file: %v", err)
			}
			put("files/00/a", "0123456789")
			put("files/01/b", "")
			put("files/01/a", "abc")
			put("latest.json", "{}")
			if got := read(t, s, "files/00/a", 0); got != "0123456789" {
				t.Errorf("read %q", got)
			}
			if got := read(t, s, "files/00/a", 7); got != "789" {
				t.Errorf("read from 7 %q", got)
			}
			if got := read(t, s, "files/01/b", 0); got != "" {
				t.Errorf("read %q of an empty file", got)
			}
			if got, want := list(t, s, "files"), []string{"files/00/a 10", "files/01/a 3", "files/01/b 0"}; !slices.Equal(got, want) {
				t.Errorf("listed %v, expected %v", got, want)
			}
			if folders, err := s.Folders(ctx); err != nil || !slices.Contains(folders, "files") {
				t.Errorf("folders %v: %v", folders, err)
			}
			if err := s.Create(ctx, "files/01/a", content("other")); !errors.Is(err, fs.ErrExist) || read(t, s, "files/01/a", 0) != "abc" {
				t.Errorf("creating a file that exists: %v", err)
			}
			if err := s.Create(ctx, "created", content("new")); err != nil || read(t, s, "created", 0) != "new" {
				t.Errorf("creating a file: %v", err)
			}
			put("latest.json", "{1}")
			if got := read(t, s, "latest.json", 0); got != "{1}" {
				t.Errorf("a replaced file is %q", got)
			}
			if err := s.Remove(ctx, "files/01/b"); err != nil {
				t.Error(err)
			}
			if got, want := list(t, s, "files"), []string{"files/00/a 10", "files/01/a 3"}; !slices.Equal(got, want) {
				t.Errorf("listed %v, expected %v", got, want)
			}
		})
	}
}

// A file whose bytes differ from its SHA-256 is not stored, and the previous one remains.
func TestChangedContentIsNotStored(t *testing.T) {
	for kind, s := range storages(t) {
		t.Run(kind, func(t *testing.T) {
			if err := s.Put(t.Context(), "files/a", content("before")); err != nil {
				t.Fatal(err)
			}
			c := content("after")
			c.Bytes = strings.NewReader("aftex")
			if err := s.Put(t.Context(), "files/a", c); !errors.Is(err, ErrChanged) {
				t.Errorf("aftex was stored as after: %v", err)
			}
			if got := read(t, s, "files/a", 0); got != "before" {
				t.Errorf("the file is %q", got)
			}
			if got := list(t, s, "unfinished"); got != nil {
				t.Errorf("%v is left", got)
			}
		})
	}
}

func TestNamesStayInsideTheStorage(t *testing.T) {
	for kind, s := range storages(t) {
		for _, name := range []string{"", "../a", "a/../../b", "/etc/passwd", "a//b", ".hidden", "a/.b", "a b", "a\\b", "ä"} {
			_, err := s.Open(t.Context(), name, 0)
			for _, e := range s.List(t.Context(), name) {
				if e == nil {
					t.Errorf("%s: %q is listed", kind, name)
				}
				break
			}
			if put, remove := s.Put(t.Context(), name, content("x")), s.Remove(t.Context(), name); err == nil || errors.Is(err, fs.ErrNotExist) || put == nil || remove == nil {
				t.Errorf("%s: %q is accepted: %v, %v, %v", kind, name, err, put, remove)
			}
		}
	}
}

func TestFilesAreReadOverHTTPS(t *testing.T) {
	dir := t.TempDir()
	stored := open(t, dir, Options{})
	if err := stored.Put(t.Context(), "files/a", content("0123456789")); err != nil {
		t.Fatal(err)
	}
	files := http.FileServer(http.Dir(dir))
	for kind, handler := range map[string]http.Handler{
		"with ranges": files,
		"without ranges": http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			r.Header.Del("Range")
			files.ServeHTTP(w, r)
		}),
	} {
		t.Run(kind, func(t *testing.T) {
			server := httptest.NewUnstartedServer(handler)
			server.Config.ErrorLog = log.New(io.Discard, "", 0) // of the client that does not know the certificate
			server.StartTLS()
			defer server.Close()
			s := open(t, server.URL+"/", Options{Transport: server.Client().Transport})
			if got := read(t, s, "files/a", 0) + " " + read(t, s, "files/a", 4); got != "0123456789 456789" {
				t.Errorf("read %q", got)
			}
			if _, err := s.Open(t.Context(), "files/b", 0); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("an absent file: %v", err)
			}
			if err := s.Put(t.Context(), "files/b", content("")); !errors.Is(err, ErrReadOnly) {
				t.Errorf("put: %v", err)
			}
			if err := s.Remove(t.Context(), "files/a"); !errors.Is(err, ErrReadOnly) {
				t.Errorf("remove: %v", err)
			}
			if _, err := s.Folders(t.Context()); !errors.Is(err, ErrNoList) {
				t.Errorf("folders: %v", err)
			}
			for _, err := range s.List(t.Context(), "files") {
				if !errors.Is(err, ErrNoList) {
					t.Errorf("list: %v", err)
				}
			}
			other := open(t, server.URL, Options{}) // does not know the certificate
			if _, err := other.Open(t.Context(), "files/a", 0); codeOf(err) != "storage_failed" || !strings.Contains(err.Error(), "certificate") {
				t.Errorf("an unknown certificate: %v", err)
			}
		})
	}
}

func codeOf(err error) string { _, code := model.KindOf(err); return code }

// A server that fails, lies about the length or stalls causes an error that names the file.
func TestFailingServersAreReported(t *testing.T) {
	for kind, handler := range map[string]http.HandlerFunc{
		"status 500": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) },
		"short": func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "0123")
		},
		"reset": func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(kind, func(t *testing.T) {
			server := httptest.NewServer(handler)
			defer server.Close()
			r, err := open(t, server.URL, Options{}).Open(t.Context(), "files/a", 0)
			if err == nil {
				_, err = io.Copy(io.Discard, r)
				r.Close()
			}
			if codeOf(err) != "storage_failed" || !strings.Contains(err.Error(), "read files/a") {
				t.Errorf("%v", err)
			}
		})
	}
	t.Run("stall", func(t *testing.T) {
		from, to := io.Pipe()
		b := newBody("read files/a", from).(*body)
		b.after = 10 * time.Millisecond
		if _, err := b.Read(make([]byte, 1)); codeOf(err) != "storage_failed" || !strings.Contains(err.Error(), "no data arrived for 10ms") {
			t.Errorf("%v", err)
		}
		to.Close()
	})
}

// Requests to a bucket that fails are repeated; a failure that lasts is reported.
func TestAFailingBucketIsRetried(t *testing.T) {
	at, err := url.Parse(s3test.Start(t))
	if err != nil {
		t.Fatal(err)
	}
	var failures atomic.Int64
	proxy := httputil.NewSingleHostReverseProxy(at)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if failures.Add(-1) >= 0 {
			_, _ = io.CopyN(io.Discard, r.Body, 100) // in the middle of an upload
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		proxy.ServeHTTP(w, r)
	}))
	defer server.Close()
	s := open(t, "s3://"+s3test.Bucket+"/p?region=us-east-1&endpoint="+server.URL, Options{})
	failures.Store(2)
	text := strings.Repeat("0123456789", 100_000)
	if err := s.Put(t.Context(), "files/a", content(text)); err != nil {
		t.Fatal(err)
	}
	failures.Store(2)
	if got := read(t, s, "files/a", 0); got != text {
		t.Errorf("read %d bytes of %d", len(got), len(text))
	}
	failures.Store(1 << 30)
	ctx, cancel := context.WithCancel(t.Context())
	err = s.Put(ctx, "files/b", content("x"))
	if cancel(); codeOf(err) != "storage_failed" || !strings.Contains(err.Error(), "store files/b of bucket bucket: ") {
		t.Errorf("%v", err)
	}
	if err := s.Put(ctx, "files/b", content("x")); !errors.Is(err, context.Canceled) {
		t.Errorf("after its context ended: %v", err)
	}
}

func TestInvalidURLsAreRefused(t *testing.T) {
	for text, want := range map[string]string{
		"":                          "is empty",
		"file://":                   "is empty",
		"ftp://host/path":           `scheme "ftp" is not supported`,
		"https://me:secret@host/":   "https://host contains credentials",
		"s3://id:secret@bucket/":    "s3://bucket contains credentials",
		"s3:///prefix":              "has no bucket",
		"s3://bucket?endpoint=host": "invalid endpoint",
		"s3://bucket?region=a&x=y":  `unknown parameter "x"`,
		"s3://bucket?endpoint=https://me:secret@host": "invalid endpoint",
		"http://example.org/":                         "not encrypted",
		"https://%zz/":                                "invalid URL",
	} {
		_, err := Open(text, Options{})
		if codeOf(err) != "bad_url" || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "secret") {
			t.Errorf("%q: %v, expected %q", text, err, want)
		}
	}
	for _, text := range []string{"http://127.0.0.1:1/", "http://localhost/a", "http://[::1]:80", "s3://b/p?endpoint=http://127.0.0.1:1"} {
		if _, err := Open(text, Options{}); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	if _, err := Open("http://example.org/", Options{PlainHTTP: true}); err != nil {
		t.Error(err)
	}
}

// Credentials come from the given file, else from the environment, else from the default file.
func TestCredentialsAreFound(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	given := file("given", "[default]\naws_access_key_id = given\naws_secret_access_key = s1\n")
	file(".aws/credentials", "[default]\naws_access_key_id = home\naws_secret_access_key = s2\n[p]\naws_access_key_id = profile\naws_secret_access_key = s3\n")
	home := map[string]string{"HOME": dir}
	both := map[string]string{"HOME": dir, "AWS_ACCESS_KEY_ID": "environment", "AWS_SECRET_ACCESS_KEY": "s4"}
	for _, c := range []struct {
		o    Options
		want string
	}{
		{Options{CredentialsFile: given, LookupEnv: env(both)}, "given"},
		{Options{LookupEnv: env(both)}, "environment"},
		{Options{LookupEnv: env(home)}, "home"},
		{Options{LookupEnv: env(map[string]string{"HOME": dir, "AWS_PROFILE": "p"})}, "profile"},
		{Options{}, ""},
	} {
		v, err := s3Credentials(c.o).GetWithContext(nil)
		if err != nil || v.AccessKeyID != c.want {
			t.Errorf("%q: %v, expected %q", v.AccessKeyID, err, c.want)
		}
	}
	for _, path := range []string{filepath.Join(dir, "absent"), file("empty", "[default]\n")} {
		if _, err := s3Credentials(Options{CredentialsFile: path}).GetWithContext(nil); codeOf(err) != "bad_credentials" || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: %v", path, err)
		}
	}
}

// Files that a killed Put left are removed after a day, and not those of a running one.
func TestUnfinishedFilesAreRemoved(t *testing.T) {
	dir := t.TempDir()
	old, young := filepath.Join(dir, unfinishedName, "old"), filepath.Join(dir, unfinishedName, "young")
	if err := os.Mkdir(filepath.Dir(old), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{old, young} {
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chtimes(old, time.Time{}, time.Now().Add(-25*time.Hour)); err != nil {
		t.Fatal(err)
	}
	if err := open(t, dir, Options{}).Put(t.Context(), "a", content("x")); err != nil {
		t.Fatal(err)
	}
	if got := list(t, open(t, dir, Options{}), unfinishedName); !slices.Equal(got, []string{"unfinished/young 0"}) {
		t.Errorf("%v", got)
	}
}

// A pipe or a folder in the place of a file is an error. Opening a pipe would wait for its writer without end.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	dir := t.TempDir()
	if err := unix.Mkfifo(filepath.Join(dir, "pipe"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "folder"), 0o700); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("unix", filepath.Join(dir, "socket"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	storage, err := Open(dir, Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"pipe", "folder", "socket"} {
		if f, err := storage.Open(t.Context(), name, 0); err == nil {
			t.Errorf("%s is opened", name)
			_ = f.Close()
		}
	}
}
