package tikv

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tikv/client-go/v2/config"
	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/txnkv"

	"birthmark/internal/guard"
	"birthmark/storage"
)

const (
	refreshEvery = 30 * time.Second // how old the timestamp of a writer's Views gets
	patience     = 2 * time.Minute  // how long a call waits for a cluster that does not answer
)

// Store implements [storage.Store].
type Store struct {
	config   Config
	client   *txnkv.Client
	keys     keys
	holder   string
	readOnly bool
	loadFrom string // Options.Load
	service  string // the name under which Views are registered with the placement driver
	gate     storage.Gate

	background context.Context
	stop       context.CancelFunc
	tasks      sync.WaitGroup

	catalogue catalogue

	// Of the process that writes.
	writing   sync.Mutex // serialises updates
	epoch     uint64
	version   uint64      // the number of updates
	unsettled atomic.Bool // the result of the last update is unknown

	shown timestamps
	views views
	calls calls
}

// Options are the settings of a process.
type Options struct {
	ReadOnly bool
	Purpose  string // "birthmark sync": the lease names it
	Load     string // for Store.Load: names the database that is loaded, and its state
}

// tls is what all stores of a process share: client-go has one configuration per process.
var tls struct {
	sync.Mutex
	set           bool
	ca, cert, key string
}

func useTLS(c Config) error {
	tls.Lock()
	defer tls.Unlock()
	if tls.set && (tls.ca != c.CA || tls.cert != c.Cert || tls.key != c.Key) {
		return errors.New("a process cannot use TiKV databases with different certificates: use one ca, cert and key")
	}
	tls.set, tls.ca, tls.cert, tls.key = true, c.CA, c.Cert, c.Key
	config.UpdateGlobal(func(g *config.Config) {
		g.Security = config.NewSecurity(c.CA, c.Cert, c.Key, nil)
	})
	return nil
}

// Open opens a database. With ReadOnly it shows the state at this time. Without ReadOnly this process becomes its writer: Open waits for the locks of a writer that
// died, returns a [storage.LockedError] while another one is alive, and finishes an update that another one began.
func Open(ctx context.Context, c Config, o Options) (*Store, error) {
	k, err := newKeys(c.Name)
	if err != nil {
		return nil, err
	}
	redirectLogs()
	if err := useTLS(c); err != nil {
		return nil, err
	}
	client, err := txnkv.NewClient(c.PD)
	if err != nil {
		return nil, fmt.Errorf("connecting to %s: %w", c, err)
	}
	s := &Store{config: c, client: client, keys: k, readOnly: o.ReadOnly, loadFrom: o.Load, holder: holderText(cmp.Or(o.Purpose, "birthmark"))}
	s.service = "birthmark-" + client.UUID()
	s.background, s.stop = context.WithCancel(context.Background())
	if err := s.start(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("opening %s: %w", c, err), s.Close())
	}
	return s, nil
}

func (s *Store) start(ctx context.Context) error {
	if !s.readOnly {
		if err := s.takeOver(ctx); err != nil {
			return err
		}
		s.unsettled.Store(true)
		if err := s.settle(ctx); err != nil {
			return err
		}
	} else if err := s.poll(ctx); err != nil {
		return err
	}
	if err := s.checkLoading(ctx, s.loadFrom); err != nil {
		return err
	}
	if err := s.readCatalogue(ctx); err != nil {
		return err
	}
	if !s.readOnly {
		s.begin(s.renewLease)
	}
	s.begin(s.collect)
	return nil
}

// begin runs a task in the background, and again after a panic.
func (s *Store) begin(task func()) {
	s.tasks.Go(func() {
		for guard.Do(slog.Default(), "the store", task) != nil && sleep(s.background, leaseRenewal) == nil {
		}
	})
}

// Close implements [storage.Store].
func (s *Store) Close() error {
	if !s.gate.Close() {
		return nil
	}
	s.stop()
	s.tasks.Wait()
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	s.unregister(ctx)
	if s.epoch > 0 {
		_ = s.setLease(ctx, "") // otherwise it ends by time
	}
	return s.client.Close()
}

// View implements [storage.Store].
func (s *Store) View(ctx context.Context, fn func(storage.Reader) error) error {
	if err := s.gate.Enter(); err != nil {
		return err
	}
	defer s.gate.Leave()
	if err := ctx.Err(); err != nil {
		return err
	}
	if s.unsettled.Load() {
		s.writing.Lock()
		err := s.settle(ctx)
		s.writing.Unlock()
		if err != nil {
			return err
		}
	}
	r, leave, err := s.newReader(ctx)
	if err != nil {
		return err
	}
	defer leave()
	return fn(r)
}

// newReader returns a reader of the shown state, and a function that ends it.
func (s *Store) newReader(ctx context.Context) (*reader, func(), error) {
	ts, version, err := s.timestamp(ctx)
	if err != nil {
		return nil, nil, err
	}
	return &reader{s: s, ctx: ctx, ts: ts, version: version, numbers: s.catalogue.numbers()}, s.views.enter(ts), nil
}

// timestamps is the state of the database that Views show.
type timestamps struct {
	mu      sync.Mutex
	at      uint64    // 0: unknown
	since   time.Time // when at was set
	frozen  bool      // an update is being written: at is the state before it
	version uint64    // the number of updates before at
}

// timestamp returns the timestamp that a View reads at, and the version of the database then.
func (s *Store) timestamp(ctx context.Context) (ts, version uint64, err error) {
	t := &s.shown
	t.mu.Lock()
	defer t.mu.Unlock()
	if !s.readOnly && !t.frozen && (t.at == 0 || time.Since(t.since) > refreshEvery) {
		// The lock keeps this process from writing before the timestamp is known.
		err = s.retry(ctx, func() (err error) {
			ts, err = s.now(ctx)
			return err
		})
		if err != nil {
			return 0, 0, err
		}
		t.at, t.since = ts, time.Now()
	}
	return t.at, t.version, nil
}

// freeze makes Views read at a timestamp before the update that this process is going to write; 0: the current one.
func (t *timestamps) freeze(before uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.frozen = true
	if before != 0 {
		t.at = before
	}
}

// move makes Views read at a new timestamp: an update has ended.
func (t *timestamps) move(version uint64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.at, t.frozen, t.version = 0, false, version
}

// now returns a new timestamp: it shows everything that was committed before the call.
func (s *Store) now(ctx context.Context) (uint64, error) {
	s.calls.timestamps.Add(1)
	return s.client.GetOracle().GetTimestamp(ctx, &oracle.Option{TxnScope: oracle.GlobalTxnScope})
}

// poll makes a process that only reads show the newest state.
func (s *Store) poll(ctx context.Context) error {
	var ts uint64
	var state map[string][]byte
	fenceKey, sealKey := s.keys.state("fence"), s.keys.state("seal")
	err := s.retry(ctx, func() (err error) {
		if ts, err = s.now(ctx); err != nil {
			return err
		}
		s.calls.reads.Add(1)
		state, err = s.client.GetSnapshot(ts).BatchGet(ctx, [][]byte{fenceKey, sealKey})
		return err
	})
	if err != nil {
		return err
	}
	f, err := decodeFence(state[string(fenceKey)])
	if err != nil {
		return err
	}
	if sealed := state[string(sealKey)]; sealed != nil {
		seal, err := decodeSeal(sealed)
		if err != nil {
			return err
		}
		ts = seal.before
	}
	t := &s.shown
	t.mu.Lock()
	defer t.mu.Unlock()
	// A timestamp between before and the commit of the seal shows the same rows.
	t.at, t.since, t.version = max(t.at, ts), time.Now(), f.version
	return nil
}

// Newest implements [storage.Watched].
func (s *Store) Newest(ctx context.Context) (uint64, error) {
	if err := s.gate.Enter(); err != nil {
		return 0, err
	}
	defer s.gate.Leave()
	value, err := s.get(ctx, s.keys.state("fence"))
	if err != nil {
		return 0, err
	}
	f, err := decodeFence(value)
	return f.version, err
}

// get reads a row of the database's state.
func (s *Store) get(ctx context.Context, key []byte) (value []byte, err error) {
	err = s.retry(ctx, func() error {
		ts, err := s.now(ctx)
		if err != nil {
			return err
		}
		s.calls.reads.Add(1)
		found, err := s.client.GetSnapshot(ts).BatchGet(ctx, [][]byte{key})
		value = found[string(key)]
		return err
	})
	return value, err
}

// retry repeats fn while the cluster does not answer, for at most patience.
func (s *Store) retry(ctx context.Context, fn func() error) error {
	began := time.Now()
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		err := fn()
		if !transient(err) || ctx.Err() != nil || time.Since(began) > patience {
			return err
		}
		s.calls.retries.Add(1)
		if sleep(ctx, wait) != nil {
			return err
		}
	}
}
