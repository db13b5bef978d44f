package memory_test

import (
	"testing"

	"birthmark/storage"
	"birthmark/storage/memory"
	"birthmark/storage/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) storage.Store { return memory.New() })
}
