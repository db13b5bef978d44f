package target

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"iter"
	"net/http"
	"net/url"
	"os"
	"path"
	"strings"
	"sync"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"birthmark/model"
)

// defaultEndpoint is used if the URL has none.
const defaultEndpoint = "https://s3.amazonaws.com"

// s3Retries is how often a request is sent before it fails, with pauses of up to a second.
const s3Retries = 8

// s3 is a prefix of a bucket of S3-compatible object storage.
type s3 struct {
	core           *minio.Core
	bucket, prefix string
	url            string
}

// newS3 returns the storage of s3://BUCKET/PREFIX?endpoint=URL&region=NAME.
func newS3(u *url.URL, o Options) (Target, error) {
	query := u.Query()
	endpoint, region := query.Get("endpoint"), query.Get("region")
	query.Del("endpoint")
	query.Del("region")
	for name := range query {
		return nil, badURL("unknown parameter %q of s3://%s: expected endpoint or region", name, u.Host)
	}
	if endpoint == "" {
		endpoint = defaultEndpoint
	}
	at, err := url.Parse(endpoint)
	if err != nil || at.Host == "" || at.User != nil || strings.Trim(at.Path, "/") != "" || at.Scheme != "https" && at.Scheme != "http" {
		return nil, badURL("invalid endpoint of s3://%s: expected a URL such as https://storage.example.org", u.Host)
	}
	if u.Host == "" {
		return nil, badURL("%s has no bucket: expected s3://BUCKET/PREFIX", u)
	}
	client, err := minio.New(at.Host, &minio.Options{
		Creds: s3Credentials(o), Secure: at.Scheme == "https", Region: region, MaxRetries: s3Retries, Transport: ownBodies{transport(o)},
	})
	if err != nil {
		return nil, badURL("s3://%s: %w", u.Host, err)
	}
	return &s3{&minio.Core{Client: client}, u.Host, strings.Trim(u.Path, "/"), u.String()}, nil
}

// ownBodies ends the reading of a request's body when its response begins. net/http may read a body after an early
// response, and minio reads the same content again for a retry: the two would take bytes from each other.
type ownBodies struct{ http.RoundTripper }

// RoundTrip implements [http.RoundTripper].
func (t ownBodies) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Body == nil || r.Body == http.NoBody {
		return t.RoundTripper.RoundTrip(r)
	}
	body := &ownBody{ReadCloser: r.Body}
	defer body.end()
	r = r.Clone(r.Context())
	r.Body = body
	return t.RoundTripper.RoundTrip(r)
}

// ownBody is the body of one attempt of a request.
type ownBody struct {
	io.ReadCloser
	mu    sync.Mutex
	ended bool
}

// Read implements [io.Reader].
func (b *ownBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		return 0, errors.New("the response came before the whole request was sent")
	}
	return b.ReadCloser.Read(p)
}

// end waits for a running Read. Later ones fail.
func (b *ownBody) end() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
}

// s3Credentials returns those of the given file, else of the environment, else of the default file of AWS; without any,
// requests are anonymous. Metadata services of clouds are not asked.
func s3Credentials(o Options) *credentials.Credentials {
	if o.CredentialsFile != "" {
		return credentials.New(fileCredentials{o.CredentialsFile})
	}
	env := func(name string) string {
		if o.LookupEnv == nil {
			return ""
		}
		value, _ := o.LookupEnv(name)
		return value
	}
	if id, secret := env("AWS_ACCESS_KEY_ID"), env("AWS_SECRET_ACCESS_KEY"); id != "" && secret != "" {
		return credentials.NewStaticV4(id, secret, env("AWS_SESSION_TOKEN"))
	}
	file := env("AWS_SHARED_CREDENTIALS_FILE")
	if file == "" && env("HOME") != "" {
		file = path.Join(env("HOME"), ".aws", "credentials")
	}
	if _, err := os.Stat(file); err == nil {
		return credentials.NewFileAWSCredentials(file, env("AWS_PROFILE"))
	}
	return credentials.NewStaticV4("", "", "")
}

// fileCredentials are the credentials of a file that must exist.
type fileCredentials struct{ file string }

// RetrieveWithCredContext implements [credentials.Provider].
func (f fileCredentials) RetrieveWithCredContext(c *credentials.CredContext) (credentials.Value, error) {
	aws := &credentials.FileAWSCredentials{Filename: f.file}
	v, err := aws.RetrieveWithCredContext(c)
	if err == nil && (v.AccessKeyID == "" || v.SecretAccessKey == "") {
		err = errors.New("no aws_access_key_id and aws_secret_access_key in the section [default]")
	}
	if err != nil {
		err = model.Errorf(model.Usage, "bad_credentials", "credentials file %s: %w", f.file, err)
	}
	return v, err
}

// Retrieve implements [credentials.Provider].
func (f fileCredentials) Retrieve() (credentials.Value, error) { return f.RetrieveWithCredContext(nil) }

// IsExpired implements [credentials.Provider].
func (f fileCredentials) IsExpired() bool { return false }

func (s *s3) String() string { return s.url }

func (s *s3) key(name string) (string, error) { return path.Join(s.prefix, name), checkName(name) }

// failed returns the error of a request, with the bucket.
func (s *s3) failed(doing string, err error) error {
	if err == nil {
		return nil
	}
	if _, ok := errors.AsType[*model.Error](err); ok {
		return err
	}
	switch r := minio.ToErrorResponse(err); {
	case r.Code == minio.NoSuchKey:
		return fmt.Errorf("%s: %w", doing, fs.ErrNotExist)
	case r.Code == minio.PreconditionFailed:
		return fmt.Errorf("%s: %w", doing, fs.ErrExist)
	}
	return failed(doing+" of bucket "+s.bucket, err)
}

// Open implements [Target].
func (s *s3) Open(ctx context.Context, name string, from int64) (io.ReadCloser, error) {
	key, err := s.key(name)
	if err != nil {
		return nil, err
	}
	var o minio.GetObjectOptions
	if from > 0 {
		if err := o.SetRange(from, 0); err != nil {
			return nil, err
		}
	}
	r, _, _, err := s.core.GetObject(ctx, s.bucket, key, o)
	if err != nil {
		return nil, s.failed("read "+name, err)
	}
	return newBody("read "+name, r), nil
}

// Put implements [Target]. The signature of the request contains the SHA-256, so that the server checks it too.
func (s *s3) Put(ctx context.Context, name string, c Content) error {
	return s.store(ctx, name, c, minio.PutObjectOptions{})
}

// Create implements [Target].
func (s *s3) Create(ctx context.Context, name string, c Content) error {
	var o minio.PutObjectOptions
	o.SetMatchETagExcept("*")
	return s.store(ctx, name, c, o)
}

func (s *s3) store(ctx context.Context, name string, c Content, o minio.PutObjectOptions) error {
	key, err := s.key(name)
	if err != nil {
		return err
	}
	if _, err := c.Bytes.Seek(0, io.SeekStart); err != nil {
		return err
	}
	body := &checkedReader{r: c.Bytes, sum: sha256.New(), size: c.Size, want: c.SHA256}
	o.ContentType, o.DisableContentSha256 = contentType(name), true
	_, err = s.core.PutObject(ctx, s.bucket, key, body, c.Size, "", hex.EncodeToString(c.SHA256[:]), o)
	if body.changed {
		return fmt.Errorf("store %s: %w", name, ErrChanged)
	}
	return s.failed("store "+name, err)
}

func contentType(name string) string {
	if path.Ext(name) == ".json" {
		return "application/json"
	}
	return "application/octet-stream"
}

// checkedReader fails instead of returning the last byte of a content that does not have its SHA-256, so that the
// request is never complete.
type checkedReader struct {
	r          io.ReadSeeker
	sum        hash.Hash
	size, read int64
	want       [32]byte
	changed    bool
}

// Read implements [io.Reader].
func (c *checkedReader) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.sum.Write(b[:n])
	c.read += int64(n)
	if n > 0 && c.read >= c.size && (c.read > c.size || [32]byte(c.sum.Sum(nil)) != c.want) {
		c.changed = true
		return 0, ErrChanged
	}
	return n, err
}

// Seek implements [io.Seeker] for the beginning, from which a retried request reads again.
func (c *checkedReader) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekStart {
		if offset == 0 && whence == io.SeekCurrent {
			return c.read, nil
		}
		return 0, fmt.Errorf("seek to %d from %d: expected the beginning", offset, whence)
	}
	if c.changed {
		return 0, ErrChanged // no retry
	}
	c.sum.Reset()
	c.read = 0
	return c.r.Seek(0, io.SeekStart)
}

// List implements [Target].
func (s *s3) List(ctx context.Context, folder string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		key, err := s.key(folder)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		for o := range s.core.Client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: key + "/", Recursive: true}) {
			if o.Err != nil {
				yield(Entry{}, s.failed("list "+folder, o.Err))
				return
			}
			name := strings.TrimPrefix(strings.TrimPrefix(o.Key, s.prefix), "/")
			if !yield(Entry{name, o.Size, o.LastModified}, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Entry{}, err)
		}
	}
}

// Remove implements [Target].
func (s *s3) Remove(ctx context.Context, name string) error {
	key, err := s.key(name)
	if err != nil {
		return err
	}
	err = s.failed("remove "+name, s.core.Client.RemoveObject(ctx, s.bucket, key, minio.RemoveObjectOptions{}))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// Folders implements [Target].
func (s *s3) Folders(ctx context.Context) (names []string, err error) {
	prefix := ""
	if s.prefix != "" {
		prefix = s.prefix + "/"
	}
	for o := range s.core.Client.ListObjectsIter(ctx, s.bucket, minio.ListObjectsOptions{Prefix: prefix}) {
		if o.Err != nil {
			return nil, s.failed("list folders", o.Err)
		}
		if name, ok := strings.CutSuffix(strings.TrimPrefix(o.Key, prefix), "/"); ok && checkName(name) == nil {
			names = append(names, name)
		}
	}
	return names, ctx.Err()
}
