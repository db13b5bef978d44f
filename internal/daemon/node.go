package daemon

import (
	"context"
	"slices"
	"strings"

	"birthmark/core"
	"birthmark/core/pending"
	"birthmark/internal/config"
	"birthmark/internal/guard"
	"birthmark/model"
)

// nodeOf returns the URI of the node of a chain, empty if there is none.
func nodeOf(set *config.Chain) string {
	if set.Node == "" && slices.ContainsFunc([]string{"http://", "https://", socket}, func(scheme string) bool {
		return strings.HasPrefix(set.Source, scheme)
	}) {
		return set.Source
	}
	return set.Node
}

// socket begins the URI of a node on this machine (Cardano).
const socket = "unix://"

// ReserveMempool takes the memory for unconfirmed transactions from that of the chain, if it has a node. It is called
// before the database is opened.
func ReserveMempool(set *config.Chain) error {
	if nodeOf(set) == "" {
		set.Mempool = config.MempoolOff
		return nil
	}
	limit := config.GiB
	if strings.HasPrefix(nodeOf(set), socket) {
		limit = socketMempool
	}
	return set.ReserveMempool(limit)
}

// socketMempool is more than the mempool of a Cardano node needs: it holds the transactions of two blocks.
const socketMempool = 16 * config.MiB

// OpenNode opens the node of a chain for unconfirmed transactions, for submitting and for fees: the setting node, else
// the source if that is a node's HTTP or socket. It returns nil if there is none. The node need not be reachable. The
// result has the values of indexes, and implements at least one of [model.Mempool], [model.Submitter] and [model.FeeEstimator].
func OpenNode(ctx context.Context, set *config.Chain, chain model.Chain, indexes []string) (model.Source, error) {
	uri := nodeOf(set)
	if uri == "" {
		return nil, nil
	}
	// Without Follow an unreachable node is an error, after which the follower marks its mempool as old.
	o := model.SourceOptions{URI: uri, Password: set.ReadPassword, Proxy: set.Proxy, Indexes: indexes, Raw: true}
	src, err := chain.Open(ctx, o)
	if err != nil {
		return nil, At(set.Origin("node"), err)
	}
	_, lists := src.(model.Mempool)
	_, submits := src.(model.Submitter)
	_, estimates := src.(model.FeeEstimator)
	if lists || submits || estimates {
		return src, nil
	}
	if err := src.Close(); err != nil || set.Node == "" {
		return nil, err
	}
	return nil, At(set.Origin("node"), usageError("bad_setting",
		"node: this source of %s has no unconfirmed transactions: expected a node, such as http://127.0.0.1:8332, or "+
			"unix:///path/to/node.socket for Cardano", chain.Name()))
}

// openNode opens the node that the handle serves, for the indexes of the database, and makes its watch lists.
func (s *handle) openNode(ctx context.Context, set *config.Chain, db *Database) (err error) {
	s.watchLists = watchLists(set)
	if s.node, err = OpenNode(ctx, set, db.Chain(), db.Indexes()); err != nil {
		return err
	}
	if _, lists := s.node.(model.Mempool); !lists || set.Mempool <= 0 {
		return nil
	}
	s.release = raiseLimit(int64(set.Mempool))
	s.mempool = pending.NewFollower(pending.Options{
		View: s.view, Moved: s.tip, Memory: int64(set.Mempool), Traits: db.Chain().Traits(), Now: s.h.Now,
		Log: s.h.Log.With("chain", ServedName(db.Chain())),
		Open: func(ctx context.Context, indexes []string) (model.Source, error) {
			at, err := s.enter()
			if err != nil {
				return nil, err
			}
			defer at.users.Done()
			return OpenNode(ctx, set, at.db.Chain(), indexes)
		},
	})
	return nil
}

// followMempool keeps the unconfirmed transactions up to date until stop is called.
func (s *handle) followMempool(ctx context.Context) (stop func()) {
	if s.mempool == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	wait := guard.Beside(func() { s.mempool.Run(ctx) })
	return func() { cancel(); wait() }
}

// closeNode closes the node, if there is one.
func (s *handle) closeNode() error {
	if s.release != nil {
		s.release()
	}
	if s.node == nil {
		return nil
	}
	return s.node.Close()
}

// asksNode reports whether each raw transaction is requested from a node. A database that has them is read instead, if
// only a preset needs them.
func asksNode(set *config.Chain, db *core.DB) bool {
	return set.Raw == config.RawNode && !(set.RawImplied && (db.KeepsRaw() || db.HasRawFiles()))
}

// openRaw opens the node that raw transactions are read from, without a request; nil if the settings and the database
// need none, or there is none for blocks whose place in files is unknown.
func openRaw(set *config.Chain, db *core.DB) (model.RawReader, error) {
	chain, uri, asked := db.Chain(), nodeOf(set), asksNode(set, db)
	nodes, ok := chain.(model.RawNodes)
	switch {
	case !asked && (!db.HasRawFiles() || !ok || uri == ""):
		return nil, nil
	case !ok:
		return nil, At(set.Origin("raw"), usageError("bad_setting", "raw: nodes of %s return no raw transactions: expected keep or off", chain.Name()))
	case uri == "":
		return nil, At(set.Origin("raw"), usageError("bad_setting",
			"raw: node needs the URL of a node: set node, or a source such as http://127.0.0.1:8332"))
	}
	reader, err := nodes.OpenRaw(model.SourceOptions{URI: uri, Password: set.ReadPassword, Proxy: set.Proxy})
	if err != nil {
		return nil, At(set.Origin("node"), err)
	}
	return reader, nil
}
