// Command s3 is an S3 server for tests: gofakes3 in memory, with one bucket. It prints its address and serves until its
// standard input ends. It checks the SHA-256 of uploads as S3 does, but no signatures.
package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
)

const bucket = "bucket"

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "s3:", err)
		os.Exit(1)
	}
}

func run() error {
	backend := s3mem.New()
	if err := backend.CreateBucket(bucket); err != nil {
		return err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Println("http://" + listener.Addr().String())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	}()
	server := gofakes3.New(backend, gofakes3.WithLogger(gofakes3.DiscardLog())).Server()
	return http.Serve(listener, checked(server))
}

// checked refuses uploads whose content does not have the SHA-256 that their header states.
func checked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		want := r.Header.Get("X-Amz-Content-Sha256")
		if r.Method == http.MethodPut && len(want) == hex.EncodedLen(sha256.Size) {
			body, err := io.ReadAll(r.Body)
			if err != nil {
				return // the client has gone
			}
			if sum := sha256.Sum256(body); hex.EncodeToString(sum[:]) != want {
				http.Error(w, "<Error><Code>XAmzContentSHA256Mismatch</Code></Error>", http.StatusBadRequest)
				return
			}
			r.Body = io.NopCloser(bytes.NewReader(body))
		}
		next.ServeHTTP(w, r)
	})
}
