// Package storetest is the conformance suite of stores, and a store that fails on demand.
//
// [Run] checks the guarantees of [storage.Store] on an empty store, one per subtest; [RunPersistent] checks the
// additional guarantees of a store on disk:
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) storage.Store { return mine.New() })
//	}
//
// [Faulty] wraps a store and fails at a chosen step, to test that code which uses a store survives a failure at every
// step.
package storetest
