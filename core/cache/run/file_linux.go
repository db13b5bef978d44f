package run

import (
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// prepareLookups prepares a file for reads of single pages: no readahead, which would read 128 KiB per page, and no
// update of the access time, which costs 7% of a read. Both are only hints.
func prepareLookups(f *os.File) {
	_ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_RANDOM)
	if flags, err := unix.FcntlInt(f.Fd(), unix.F_GETFL, 0); err == nil {
		_, _ = unix.FcntlInt(f.Fd(), unix.F_SETFL, flags|unix.O_NOATIME)
	}
}

// adviseNeeded starts to read a range into the page cache, and does not wait for it.
func adviseNeeded(f *os.File, at, n int64) {
	if n > 0 {
		_ = unix.Fadvise(int(f.Fd()), at, n, unix.FADV_WILLNEED) // only a hint
	}
}

// readIfCached reads a page if it is in the page cache. It returns false if not, and if the file system does not
// support such reads. For cached pages this costs as much as pread. For others it costs less than 10% of the read from
// the disk, and newer kernels start that read.
func readIfCached(f *os.File, page []byte, at int64) bool {
	vector := unix.Iovec{Base: &page[0]}
	vector.SetLen(len(page))
	// The position is passed in two words; 64-bit systems ignore the second.
	n, _, _ := unix.Syscall6(unix.SYS_PREADV2, f.Fd(), uintptr(unsafe.Pointer(&vector)), 1, uintptr(at), uintptr(at>>32), unix.RWF_NOWAIT)
	return int(n) == len(page)
}

// mapFile maps n bytes of a file for reading. They begin in the result at the second one, since a mapping begins at the
// boundary of a page of the system.
func mapFile(f *os.File, at int64, n int) ([]byte, int, error) {
	before := int(at % int64(unix.Getpagesize()))
	mapping, err := unix.Mmap(int(f.Fd()), at-int64(before), before+n, unix.PROT_READ, unix.MAP_SHARED)
	return mapping, before, err
}

// releaseMapping removes the pages of a mapping from the memory of the process. They are mapped again when they are read.
func releaseMapping(mapping []byte) { _ = unix.Madvise(mapping, unix.MADV_DONTNEED) } // only a hint

func unmapFile(mapping []byte) error { return unix.Munmap(mapping) }
