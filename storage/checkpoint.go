package storage

import "context"

// Checkpointer is a store that can link its files into another folder.
type Checkpointer interface {
	// Checkpoint creates the folder dir with a store that has the rows of all finished updates. dir must not exist and
	// must be on the file system of the store. It takes little time and room: files that never change are hard links.
	// While the folder exists, files that the store replaces keep their room. Later updates do not change it.
	Checkpoint(ctx context.Context, dir string) error
}
