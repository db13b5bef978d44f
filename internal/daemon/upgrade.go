package daemon

import (
	"context"
	"errors"

	"birthmark/core/segment"
	"birthmark/core/upgrade"
	"birthmark/internal/config"
	"birthmark/storage/rocks"
)

// Upgrade brings the database of a chain to the format of this program, and returns the format that it had. It opens the
// database without its chain: nothing else of it is read.
func (h *Host) Upgrade(ctx context.Context, set *config.Chain, progress func(done, total uint64)) (from int, err error) {
	dir, err := ExistingFolder(set)
	if err != nil {
		return 0, err
	}
	return h.upgrade(ctx, set, dir, false, progress)
}

// upgrade is [Host.Upgrade] in a folder that this process has locked, or not.
func (h *Host) upgrade(ctx context.Context, set *config.Chain, dir string, locked bool, progress func(done, total uint64)) (
	from int, err error,
) {
	memory := config.Divide(set.Memory)
	store, err := h.openUnlocked(ctx, dir, rocks.Options{
		WAL: true, BlockCache: memory.BlockCache, WriteBuffers: memory.WriteBuffers, Compression: set.Compression,
		Holder: h.holder(), Locked: locked, Warn: func(message string) { h.Log.Warn(message, "db", dir) },
	})
	if err != nil {
		return 0, cannotOpen(err)
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	// Replicas cannot apply the writes of an upgrade: without segments, they report that they diverged.
	numbered, err := segment.Attach(ctx, store, segment.Options{Dir: dir, Mode: segment.Ignore, Log: h.Log})
	if err != nil {
		return 0, err
	}
	return upgrade.Run(ctx, numbered, upgrade.Options{Progress: progress})
}
