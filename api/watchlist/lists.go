package watchlist

import (
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"birthmark/internal/guard"
	"birthmark/model"
)

// Idle is the time after which a list without subscribers is removed.
const Idle = time.Hour

// Lists are the watch lists of the clients of a chain. They are safe for concurrent use.
type Lists struct {
	memory int64 // bytes of all lists

	mu   sync.Mutex
	by   map[string]*List
	used int64 // bytes that the lists had at their last charge
}

// List is a list of a server. It is removed when it has had no subscriber for [Idle], or earlier if its memory is needed.
type List struct {
	ID string
	*Values

	lists   *Lists
	charged int64
	users   int
	since   time.Time   // without users
	idle    *time.Timer // removes the list; nil while it has users
}

// NewLists returns lists that use up to a number of bytes.
func NewLists(memory int64) *Lists { return &Lists{memory: memory, by: map[string]*List{}} }

// Add adds a list with an id that others cannot guess. The caller is a user of it until it calls [List.Release].
func (ls *Lists) Add(v *Values) *List {
	l := &List{ID: rand.Text(), Values: v, lists: ls, users: 1}
	ls.mu.Lock()
	defer ls.mu.Unlock()
	ls.by[l.ID] = l
	return l
}

// Acquire returns the list with an id for a user, who calls [List.Release]. The error is of kind [model.NotFound].
func (ls *Lists) Acquire(id string) (*List, error) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	l := ls.by[id]
	if l == nil {
		return nil, model.Errorf(model.NotFound, "unknown_watch", "no watch list %.40q: lists end with the server, and an hour "+
			"after their last use: create it again", id)
	}
	if l.users++; l.idle != nil {
		l.idle.Stop()
		l.idle = nil
	}
	return l, nil
}

// Release ends the use of a list.
func (l *List) Release() {
	l.lists.mu.Lock()
	defer l.lists.mu.Unlock()
	if l.users--; l.users > 0 || l.lists.by[l.ID] != l {
		return
	}
	l.since = time.Now()
	var timer *time.Timer
	timer = time.AfterFunc(Idle, func() {
		_ = guard.Do(slog.Default(), "the watch lists", func() {
			l.lists.mu.Lock()
			defer l.lists.mu.Unlock()
			if l.idle == timer {
				l.lists.remove(l)
			}
		})
	})
	l.idle = timer
}

// Discard removes a list of which the caller is the only user.
func (l *List) Discard() {
	l.lists.mu.Lock()
	defer l.lists.mu.Unlock()
	l.lists.remove(l)
}

// Charge counts the memory of a list after it has grown. If all lists together have too much, it removes lists without
// users, the one that was not used for longest first. If that is not enough, the error is of kind [model.Refused].
func (l *List) Charge() error {
	ls := l.lists
	ls.mu.Lock()
	defer ls.mu.Unlock()
	size := l.Size()
	ls.used += size - l.charged
	l.charged = size
	for ls.used > ls.memory {
		oldest := (*List)(nil)
		for _, other := range ls.by {
			if other.users == 0 && (oldest == nil || other.since.Before(oldest.since)) {
				oldest = other
			}
		}
		if oldest == nil {
			return model.Errorf(model.Refused, "watch_full", "the watch lists of this server need more than their %d MiB "+
				"of memory (setting watch): use fewer values, or retry when other clients have left", ls.memory>>20)
		}
		ls.remove(oldest)
	}
	return nil
}

// remove removes a list.
func (ls *Lists) remove(l *List) {
	if ls.by[l.ID] != l {
		return
	}
	delete(ls.by, l.ID)
	ls.used -= l.charged
	l.charged = 0
	l.clear()
}

// Stats returns the number of lists and their memory in bytes.
func (ls *Lists) Stats() (lists int, bytes int64) {
	ls.mu.Lock()
	defer ls.mu.Unlock()
	return len(ls.by), ls.used
}
