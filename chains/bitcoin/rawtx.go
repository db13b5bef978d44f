package bitcoin

import (
	"birthmark/chains/bitcoin/blockfile"
	"birthmark/chains/bitcoin/rpc"
	"birthmark/model"
)

// OpenRaw implements [model.RawNodes]: the URI names a node's JSON-RPC or REST.
func (c *chain) OpenRaw(o model.SourceOptions) (model.RawReader, error) {
	return rpc.New(rpc.Options{URL: o.URI, Password: o.Password, Proxy: o.Proxy, Network: c.net})
}

// RawFiles implements [model.RawFiles]: the files are blk*.dat of a node.
func (c *chain) RawFiles() model.RawFileReader {
	return &blockfile.TxReader{MaxSize: c.net.Coin.Format.MaxSize}
}
