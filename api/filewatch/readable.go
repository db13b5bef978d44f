package filewatch

import (
	"io/fs"
	"log/slog"
	"os"
	"syscall"
)

// WarnReadable logs that other users of the machine can read a file that holds a secret. The file may be readable by
// its group if root owns it, as PostgreSQL has it: so the key of a service is often kept.
func WarnReadable(log *slog.Logger, what, file string) {
	info, err := os.Stat(file)
	if err != nil || !exposed(info) {
		return
	}
	log.Warn("other users can read the file of "+what+": chmod 600", "file", file, "mode", info.Mode().Perm().String())
}

func exposed(info fs.FileInfo) bool {
	mode := info.Mode().Perm()
	if is, ok := info.Sys().(*syscall.Stat_t); ok && is.Uid == 0 && os.Getuid() != 0 {
		mode &^= 0o040
	}
	return mode&0o044 != 0
}
