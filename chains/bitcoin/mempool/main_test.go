package mempool_test

import (
	"log/slog"
	"testing"

	"birthmark/internal/testrun"
)

func TestMain(m *testing.M) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	testrun.Main(m)
}
