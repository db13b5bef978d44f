package btcdtest

import (
	"os/exec"
	"syscall"
)

// endWithUs makes the kernel kill the process when the test process dies, which cannot clean up after a panic or a
// kill.
func endWithUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
