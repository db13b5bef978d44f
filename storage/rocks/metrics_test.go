package rocks_test

import (
	"context"
	"errors"
	"testing"

	"birthmark/storage"
	"birthmark/storage/rocks"
)

func TestMetricsOfStore(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir, small(true))
	if err := s.Declare(storage.Declaration{Family: 1, Name: "a"}, storage.Declaration{Family: 2, Name: "b", Access: storage.Lookup}); err != nil {
		t.Fatal(err)
	}
	before := metrics(t, s)
	const rows = 1000
	err := s.Update(t.Context(), func(_ storage.Reader, b storage.Batch) error {
		for i := range rows {
			b.Put(1, []byte{byte(i >> 8), byte(i)}, make([]byte, 100))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if after := metrics(t, s); after["memtable_bytes"] < before["memtable_bytes"]+rows*100 {
		t.Errorf("memtables have %.0f bytes, %.0f before %d rows", after["memtable_bytes"], before["memtable_bytes"], rows)
	}
	if err := s.Compact(t.Context()); err != nil {
		t.Fatal(err)
	}
	after := metrics(t, s)
	if after["live_table_bytes"] == 0 || after["table_bytes"] < after["live_table_bytes"] || after["write_stopped"] != 0 || after["background_errors"] != 0 {
		t.Errorf("with tables: %v", after)
	}
	err = s.View(context.Background(), func(storage.Reader) error {
		if m := metrics(t, s); m["snapshots"] != after["snapshots"]+1 {
			t.Errorf("%.0f snapshots during a view, %.0f before", m["snapshots"], after["snapshots"])
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}

	shared := rocks.NewCache(1 << 20)
	t.Cleanup(shared.Close)
	reader := open(t, dir, rocks.Options{ReadOnly: true, Cache: shared})
	if m := metrics(t, reader); m["live_table_bytes"] != after["live_table_bytes"] {
		t.Errorf("a read-only store has %.0f bytes of tables, expected %.0f", m["live_table_bytes"], after["live_table_bytes"])
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Metrics(); !errors.Is(err, storage.ErrClosed) {
		t.Errorf("a closed store: %v", err)
	}
}

// metrics returns the metrics of s by name.
func metrics(t *testing.T, s storage.MetricsProvider) map[string]float64 {
	t.Helper()
	ms, err := s.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	by := map[string]float64{}
	for _, m := range ms {
		if _, twice := by[m.Name]; twice || m.Help == "" || m.Value < 0 {
			t.Errorf("%+v", m)
		}
		by[m.Name] = m.Value
	}
	return by
}
