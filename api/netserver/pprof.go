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

// ListenPprof listens where [ServePprof] is to answer: at an address of this machine alone, for profiles show what is in
// its memory.
func ListenPprof(addr string) (net.Listener, error) {
	l, err := Listen(addr)
	if err != nil {
		return nil, err
	}
	if tcp, ok := l.Addr().(*net.TCPAddr); ok && !tcp.IP.IsLoopback() {
		return nil, errors.Join(model.Errorf(model.Usage, "bad_value", "pprof: %s can be asked by other machines, expected an address of this one, as 127.0.0.1:6060", addr), l.Close())
	}
	return l, nil
}

// ServePprof answers /debug/pprof/ (net/http/pprof) at l until ctx ends. It has no limits: a profile takes as long as it is
// asked to. Requests for other hosts than this machine are refused.
func ServePprof(ctx context.Context, l net.Listener, log *slog.Logger) error {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	o := Defaults()
	o.Listener, o.Log, o.Grace = l, log, lastWords
	return Serve(ctx, o, onlyLocalHosts(mux))
}
