//go:build !linux

package run

import "os"

func prepareLookups(f *os.File) {}

func adviseNeeded(f *os.File, at, n int64) {}

func readIfCached(f *os.File, page []byte, at int64) bool { return false }

func mapFile(f *os.File, at int64, n int) ([]byte, int, error) { return nil, 0, nil }

func releaseMapping(mapping []byte) {}

func unmapFile(mapping []byte) error { return nil }
