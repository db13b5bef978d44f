package daemon

import (
	"birthmark/api/compat/account"
	"birthmark/api/watchlist"
	"birthmark/chains/bitcoin/params"
	"birthmark/internal/config"
	"birthmark/model"
)

// watchLists returns the watch lists of a chain; nil: the settings have no memory for them.
func watchLists(set *config.Chain) *watchlist.Lists {
	if set.Watch <= 0 {
		return nil
	}
	return watchlist.NewLists(int64(set.Watch))
}

// Accounts returns the parser of the extended public keys and descriptors of a chain; nil if it has none.
func Accounts(chain model.Chain) watchlist.Parser {
	if chain.Name() != "bitcoin" {
		return nil
	}
	for _, n := range params.Networks {
		if n.Name == chain.Network() {
			return func(line string) (watchlist.Account, error) {
				if !account.Is(line) {
					return nil, nil
				}
				return account.Parse(line, n.Params)
			}
		}
	}
	return nil
}
