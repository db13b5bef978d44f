package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"syscall"
)

// ErrNobody is the error if no process serves the control socket of the database, or if it ended during the request.
var ErrNobody = errors.New("no process answers for the database")

// Ask sends a request to the process that writes the database in dir. Errors keep the kind and code that they have in that
// process. It returns [ErrNobody] if there is no such process.
func Ask(ctx context.Context, dir string, r Request) (reply Reply, err error) {
	address, folder, err := shortAddress(dir)
	if err != nil {
		return reply, err
	}
	defer folder.Close()
	client := http.Client{Transport: &http.Transport{
		DisableKeepAlives: true,
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", address)
		},
	}}
	body, err := json.Marshal(r)
	if err != nil {
		return reply, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://control/", bytes.NewReader(body))
	if err != nil {
		return reply, err
	}
	response, err := client.Do(request)
	if err == nil {
		defer response.Body.Close()
		err = json.NewDecoder(io.LimitReader(response.Body, maxBytes)).Decode(&reply)
	}
	switch {
	case ctx.Err() != nil:
		return reply, ctx.Err()
	case ended(err):
		return reply, ErrNobody
	case err != nil:
		return reply, fmt.Errorf("control socket in %s: %w", dir, err)
	case reply.Error != nil:
		return reply, reply.Error.err()
	}
	return reply, nil
}

// ended reports whether err means that no process listens, or that it closed the connection without a response.
func ended(err error) bool {
	for _, e := range []error{fs.ErrNotExist, syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
