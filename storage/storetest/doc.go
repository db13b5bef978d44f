// Package storetest holds what every store has to pass, and a store that fails on demand.
//
// [Run] checks the promises of [storage.Store] on an empty store, one law a subtest; [RunPersistent] checks what a
// store on disk promises beyond that. A new store passes both or is none:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storage.Store { return mine.New() })
//	}
//
// [Faulty] wraps a store and fails at a chosen step, so that code above a store can be shown to survive a failure at
// step 1, 2, 3 … of what it does.
package storetest
