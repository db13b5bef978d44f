package bitcoin

import (
	"context"
	"strings"

	"birthmark/chains/bitcoin/p2p"
	"birthmark/chains/bitcoin/rpc"
	"birthmark/chains/blocksource"
	"birthmark/model"
)

// understood is what every refusal of a URI ends with.
const understood = "expected http://user:password@host:8332 (a node), p2p://host:8333 (peers, comma separated; p2p:// alone finds some), " +
	"or file:///path/to/blocks (a folder with blk*.dat, or one such file)"

// Open opens the source of a URI: a node's JSON-RPC and REST (http, https), peers (p2p), or block files (file, or a
// plain path).
func (c *chain) Open(ctx context.Context, o model.SourceOptions) (model.Source, error) {
	scheme, rest, found := strings.Cut(o.URI, "://")
	switch {
	case o.URI == "":
		return nil, model.Errorf(model.Usage, "bad_source", "no source for bitcoin: %s", understood)
	case !found:
		return openFiles(ctx, c.net, c.defined, o.URI, o)
	}
	switch scheme {
	case "file":
		path := blocksource.FilePath(rest)
		if path == "" {
			return nil, model.Errorf(model.Usage, "bad_source", "file:// names no path: %s", understood)
		}
		return openFiles(ctx, c.net, c.defined, path, o)
	case "http", "https":
		return c.openRPC(o)
	case "p2p":
		return c.openPeers(rest, o)
	}
	return nil, model.Errorf(model.Usage, "bad_source", "bitcoin cannot be read from %s://: %s", shown(scheme), understood)
}

func (c *chain) openRPC(o model.SourceOptions) (model.Source, error) {
	client, err := rpc.New(rpc.Options{URL: o.URI, Password: o.Password, Network: c.net.name, Genesis: c.net.genesis, Port: c.net.rpcPort})
	if err != nil {
		return nil, err
	}
	return newSource(c.net, c.defined, client.Host(), client, o)
}

func (c *chain) openPeers(rest string, o model.SourceOptions) (model.Source, error) {
	var peers []string
	for _, p := range strings.Split(rest, ",") {
		if p = strings.TrimSpace(p); p != "" {
			peers = append(peers, p)
		}
	}
	options := p2p.Options{Params: c.net.params, Peers: peers}
	if o.Header != nil {
		options.Header = func(h model.HeightPk) ([]byte, error) { return o.Header(context.Background(), h) }
	}
	network, err := p2p.New(options)
	if err != nil {
		return nil, err
	}
	name := "peers of " + c.net.name
	if len(peers) > 0 {
		name = strings.Join(peers, ", ")
	}
	src, err := newSource(c.net, c.defined, name, network, o)
	if err != nil {
		return nil, err
	}
	network.Start(o.Known)
	return src, nil
}
