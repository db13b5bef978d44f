package netserver

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"

	"birthmark/model"
)

// ListenPprof listens on a loopback address for [ServePprof]: profiles reveal the memory of the program.
func ListenPprof(addr string) (net.Listener, error) {
	l, err := Listen(addr)
	if err != nil {
		return nil, err
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		return nil, errors.Join(model.Errorf(model.Usage, "bad_value", "pprof: other machines can reach %s: use a loopback address such as 127.0.0.1:6060", addr), l.Close())
	}
	return l, nil
}

// ServePprof serves /debug/pprof/ (net/http/pprof) on l until ctx ends, without a time limit, since a profile takes as
// long as the client requests. Requests for other hosts than this machine are rejected.
func ServePprof(ctx context.Context, l net.Listener, log *slog.Logger) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	o := Defaults()
	o.Listener, o.Log, o.Grace = l, log, cancelGrace
	return Serve(ctx, o, onlyLocalHosts(mux))
}
