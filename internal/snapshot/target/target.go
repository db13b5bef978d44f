package target

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/url"
	"strings"
	"time"

	"birthmark/model"
)

// ErrReadOnly is returned by calls that would write to storage that can only be read.
var ErrReadOnly = errors.New("storage over HTTPS can only be read: expected a folder or s3://BUCKET/PREFIX")

// ErrNoList is returned by [Target.List] if the storage cannot list its files.
var ErrNoList = errors.New("storage over HTTPS has no list of its files")

// ErrChanged is returned by [Target.Put] if the bytes to store are not those of the given SHA-256.
var ErrChanged = errors.New("the bytes do not have the expected SHA-256")

// Target is storage for named files. Names are relative paths with slashes, of letters, digits and . _ = - only. A file is
// complete or absent. All methods may be called concurrently. Errors of a remote storage are of kind BadSource
// (storage_failed).
type Target interface {
	// Open reads a file from an offset, which must be less than its size. The error wraps [fs.ErrNotExist] if the file
	// is absent.
	Open(ctx context.Context, name string, from int64) (io.ReadCloser, error)

	// Put stores or replaces a file. The error wraps [ErrChanged], and nothing is stored, if the content differs from its
	// SHA-256.
	Put(ctx context.Context, name string, c Content) error

	// Create is Put for a file that does not exist yet. The error wraps [fs.ErrExist] if it does, and nothing is stored.
	// Servers of S3 that ignore If-None-Match replace it.
	Create(ctx context.Context, name string, c Content) error

	// List yields all files whose name begins with a folder and a slash, in any order.
	List(ctx context.Context, folder string) iter.Seq2[Entry, error]

	// Folders returns the names of the folders at the top of the storage, or ErrNoList. It leaves out invalid names.
	Folders(ctx context.Context) ([]string, error)

	// Remove removes a file; it ignores an absent one.
	Remove(ctx context.Context, name string) error

	// String returns the URL, without secrets.
	String() string
}

// Content is the content of a file that [Target.Put] stores.
type Content struct {
	Bytes  io.ReadSeeker // may be read several times
	Size   int64
	SHA256 [32]byte
}

// Entry is a stored file.
type Entry struct {
	Name string
	Size int64
	Time time.Time // of the last Put
}

// Options are the options of [Open].
type Options struct {
	CredentialsFile string                      // of S3, in the format of AWS; empty: environment or default file
	LookupEnv       func(string) (string, bool) // nil: no environment
	Transport       http.RoundTripper           // nil: the default
	PlainHTTP       bool                        // allow http:// to other machines
	Write           bool                        // reject storage that can only be read
}

// Open returns the storage of a URL: a folder, s3://BUCKET/PREFIX, https://HOST/PATH, or http:// to this machine. Nothing
// is requested. Errors are of kind Usage (bad_url).
func Open(text string, o Options) (Target, error) {
	scheme, rest, ok := strings.Cut(text, "://")
	if text == "" || !ok {
		return newFolder(text)
	}
	if scheme == "file" {
		return newFolder(rest)
	}
	u, err := url.Parse(text)
	if err != nil {
		return nil, badURL("invalid URL of a snapshot storage: expected a folder, s3://BUCKET/PREFIX or https://HOST/PATH")
	}
	if u.User != nil {
		return nil, badURL("%s://%s contains credentials, which processes and logs would show: use AWS_ACCESS_KEY_ID and "+
			"AWS_SECRET_ACCESS_KEY, or a file", scheme, u.Host)
	}
	if o.Write && (scheme == "https" || scheme == "http") {
		return nil, badURL("%w", ErrReadOnly)
	}
	switch scheme {
	case "s3":
		return newS3(u, o)
	case "https":
		return newWeb(u, o), nil
	case "http":
		if host := u.Hostname(); !o.PlainHTTP && host != "localhost" && host != "::1" && !strings.HasPrefix(host, "127.") {
			return nil, badURL("%s://%s is not encrypted, so anybody on the way could replace the snapshot: expected https, or a "+
				"key that the snapshot is signed with (--trust)", scheme, u.Host)
		}
		return newWeb(u, o), nil
	}
	return nil, badURL("snapshot storage of the scheme %q is not supported: expected a folder, s3://BUCKET/PREFIX or "+
		"https://HOST/PATH", scheme)
}

func badURL(format string, args ...any) error {
	return model.Errorf(model.Usage, "bad_url", format, args...)
}

// failed returns the error of a remote storage; nil for nil.
func failed(doing string, err error) error {
	if err == nil || errors.Is(err, context.Canceled) {
		return err
	}
	return model.Errorf(model.BadSource, "storage_failed", "%s: %w", doing, err)
}

// checkName returns an error for names that are not in the form that [Target] requires.
func checkName(name string) error {
	for part := range strings.SplitSeq(name, "/") {
		const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._=-"
		if part == "" || strings.HasPrefix(part, ".") || strings.Trim(part, letters) != "" {
			return fmt.Errorf("invalid name of a stored file %q", name)
		}
	}
	return nil
}
