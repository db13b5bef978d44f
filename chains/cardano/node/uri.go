package node

import (
	"fmt"
	"net"
	"path/filepath"
	"strconv"
	"strings"

	"birthmark/chains/adapter"
	"birthmark/model"
)

// socketPath is the maximum number of bytes in the path of a Unix socket.
const socketPath = 107

// parseAddress returns the address in a URI for [ouroboros.Dial]: host:port, or a path. rest follows tcp:// or unix://.
// An error is of kind [model.Usage], code bad_source.
func parseAddress(scheme, rest string) (string, error) {
	if at := strings.LastIndexByte(rest, '@'); at >= 0 && scheme == "tcp" {
		// The error does not repeat a password.
		return "", model.Errorf(model.Usage, "bad_source", "tcp://…%s has a user: expected tcp://host:3001, as nodes have no users", adapter.Truncate(rest[at:]))
	}
	bad := func(format string, args ...any) (string, error) {
		return "", model.Errorf(model.Usage, "bad_source", "%s://%s %s", scheme, adapter.Truncate(rest), fmt.Sprintf(format, args...))
	}
	if strings.ContainsAny(rest, "?#") {
		return bad("has a query: expected tcp://host:3001 or unix:///path/to/node.socket and nothing after it")
	}
	if scheme == "unix" {
		path := adapter.FilePath(rest)
		switch {
		case path == "":
			return bad("has no socket path: expected unix:///path/to/node.socket")
		case !filepath.IsAbs(path):
			return bad("is relative: expected unix:///path/to/node.socket, with three slashes")
		case len(path) > socketPath:
			return bad("has %d bytes: expected at most %d, the limit of sockets", len(path), socketPath)
		}
		return path, nil
	}
	host, port, err := net.SplitHostPort(strings.TrimSuffix(rest, "/"))
	switch {
	case err != nil:
		return bad("has no port: expected tcp://host:3001")
	case host == "" || strings.Contains(host, "/"):
		return bad("has no host: expected tcp://host:3001")
	}
	if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 {
		return bad("has the port %q: expected a number from 1 to 65535, as in tcp://host:3001", port)
	}
	return net.JoinHostPort(host, port), nil
}
