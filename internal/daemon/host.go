package daemon

import (
	"log/slog"
	"strings"
	"time"

	"birthmark/internal/config"
	"birthmark/internal/progress"
	"birthmark/model"
)

// Host has the common dependencies of the databases and of the server of a command.
type Host struct {
	Log       *slog.Logger
	Console   *progress.Console
	Now       func() time.Time
	NewChain  func(name, network string) (model.Chain, error)
	Caches    int64              // bytes of the caches of a sync; 0: a share of its memory
	Step      int                // weight of a step of an index that is added or dropped; 0: that of core/backfill
	ErrorText func(error) string // one line, without the secrets of sources
	Command   string             // names this process to another one that finds the database locked
	Version   string             // of the program

	// Flags returns the flags with which another command selects a chain of the settings and presets of indexes, such as
	// " --index kupo --db DIR"; presets are nil for a command that has no indexes.
	Flags func(set *config.Chain, presets []string) string
}

func usageError(code, format string, args ...any) error {
	return model.Errorf(model.Usage, code, format, args...)
}

// oneOf lists names in an error.
func oneOf(names []string) string { return strings.Join(names, ", ") }
