package control

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"syscall"
	"time"
)

// ErrNobody reports that no process serves the database, or that it ended during the request.
var ErrNobody = errors.New("no process answers for the database")

// Ask sends a request to the process that writes the database in dir. An error of that process keeps its kind and code.
// [ErrNobody] if there is no such process.
func Ask(ctx context.Context, dir string, r Request) (reply Reply, err error) {
	address, folder, err := short(dir)
	if err != nil {
		return reply, err
	}
	defer folder.Close()
	c, err := (&net.Dialer{}).DialContext(ctx, "unix", address)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ECONNREFUSED) {
		return reply, ErrNobody
	}
	if err != nil {
		return reply, fmt.Errorf("control socket in %s: %w", dir, err)
	}
	defer c.Close()
	stop := context.AfterFunc(ctx, func() { _ = c.SetDeadline(time.Now()) })
	defer stop()
	err = json.NewEncoder(c).Encode(r)
	if err == nil {
		err = json.NewDecoder(io.LimitReader(c, mostBytes)).Decode(&reply)
	}
	switch {
	case ctx.Err() != nil:
		return reply, ctx.Err()
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return reply, ErrNobody
	case err != nil:
		return reply, fmt.Errorf("the process that writes %s sent an invalid reply: %w", dir, err)
	case reply.Error != nil:
		return reply, reply.Error.err()
	}
	return reply, nil
}
