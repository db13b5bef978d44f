package daemon

import (
	"birthmark/api/watchlist"
	"birthmark/internal/config"
)

// watchLists returns the watch lists of a chain; nil: the settings have no memory for them.
func watchLists(set *config.Chain) *watchlist.Lists {
	if set.Watch <= 0 {
		return nil
	}
	return watchlist.NewLists(int64(set.Watch))
}
