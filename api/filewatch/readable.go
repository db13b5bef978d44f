package filewatch

import (
	"io/fs"
	"log/slog"
	"os"
	"syscall"
)

// WarnReadable logs a warning if other users can read a file with a secret. The group may read a file of root, which is
// common for keys of services.
func WarnReadable(log *slog.Logger, what, file string) {
	info, err := os.Stat(file)
	if err != nil || !exposed(info) {
		return
	}
	log.Warn("other users can read the file with "+what+": run chmod 600", "file", file, "mode", info.Mode().Perm().String())
}

func exposed(info fs.FileInfo) bool {
	mode := info.Mode().Perm()
	if is, ok := info.Sys().(*syscall.Stat_t); ok && is.Uid == 0 && os.Getuid() != 0 {
		mode &^= 0o040
	}
	return mode&0o044 != 0
}
