package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"

	"birthmark/api/served"
	"birthmark/model"
)

// handler answers all requests.
func (p *program) handler(chains []*served.Chain) (http.Handler, error) {
	mux := http.NewServeMux()
	return mux, nil
}

// listen opens the address of the server, so that one that cannot be had is told before anything else is begun.
func (p *program) listen(address string) (net.Listener, error) {
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, model.Errorf(model.Usage, "cannot_listen", "listen %s: %w", address, err)
	}
	return l, nil
}

// servingAnswer says where a server answers, once it does.
type servingAnswer struct {
	Listen string   `json:"listen"` // host and port
	URL    string   `json:"url"`    // of the explorer
	Chains []string `json:"chains"` // their names in paths
}

// tellWhere says where the server answers.
func (p *program) tellWhere(l net.Listener, chains []*served.Chain) error {
	a := servingAnswer{Listen: l.Addr().String(), URL: urlOf(l.Addr())}
	for _, c := range chains {
		a.Chains = append(a.Chains, c.Name)
	}
	if p.json {
		return p.document(a)
	}
	_, err := fmt.Fprintf(p.console, "birthmark: %s served\n  explorer  %s\n  API       %sv1/%s/status\n  its docs  %sdocs\n",
		and(a.Chains), a.URL, a.URL, a.Chains[0], a.URL)
	return err
}

// and lists names for people.
func and(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1] + " are"
}

// urlOf is where a browser on this machine finds the server.
func urlOf(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "localhost"
	}
	return "http://" + net.JoinHostPort(host, port) + "/"
}

// answerOn answers until ctx ends, then no new requests; it returns when those under way are answered.
func (p *program) answerOn(ctx context.Context, l net.Listener, handler http.Handler) error {
	server := &http.Server{Handler: handler}
	stopped := make(chan error, 1)
	stop := context.AfterFunc(ctx, func() { stopped <- server.Shutdown(context.WithoutCancel(ctx)) })
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		stop()
		return err
	}
	return <-stopped
}
