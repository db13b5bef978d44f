// Package run stores cache entries that do not fit into memory in immutable sorted files, called runs.
//
// A run is written once, in ascending order of tags ([Create], [Merge]), and is then looked up in batches of sorted
// queries ([Run.Lookup]). In memory it has a Bloom filter of 10 bits per entry, 4 bytes per page of 1 KiB, and, after
// the first [Run.MarkDead], one bit per entry. The filter can be mapped from the file instead ([Run.MapFilter]).
//
// A run is a cache: the caller can delete it and rebuild it from the database. Damage of a file is found by its
// checksums and returned as [ErrDamaged].
//
// # Concurrency
//
// One goroutine at a time uses a run, except that [Merge] and [Run.All] may read it while another goroutine uses it.
// Entries that are marked dead during a merge may or may not be in the new run: the caller collects them and marks them
// dead in the new run before it replaces the old ones. If a limit is lowered during a merge, the caller lowers the
// limit of the new run too.
//
// # File format
//
// Numbers are little-endian. CRC is CRC-32C (Castagnoli).
//
//	header    4096 bytes, unused ones are 0:
//	            0  8  magic "birthrun"
//	            8  4  version: 1
//	           12  4  payload: bytes per entry
//	           16  8  entries
//	           24  8  pages
//	           32  8  blocks of the filter
//	           40  8  offset of the filter: 4096 + 1024 * pages
//	           48  8  offset of the page index: offset of the filter + 64 * blocks
//	           56  8  size of the file: offset of the page index + 4 * pages
//	           64  4  CRC of the filter and the page index
//	           68  4  CRC of the 68 bytes before
//	pages     1024 bytes each. All but the last one have n = 1020 / (18 + payload) entries:
//	            n times 8 bytes: tags, ascending
//	            n times 10 + payload bytes: further bits of the fingerprint (2), pointer (8), payload; ascending by tag
//	            and further bits
//	            unused bytes: 0
//	            4 bytes at 1020: CRC of the bytes before; its initial value is the number of the page
//	filter    blocks of 64 bytes: see [Filter]
//	index     4 bytes per page: the high half of its last tag
//
// A page has a checksum, which costs some 50 ns per page read, because a wrong pointer would reach the database.
package run
