package btcdtest

import (
	"os/exec"
	"syscall"
)

// endWithUs has the kernel kill the process when the test's own dies, which after a panic or a kill cleans nothing up.
func endWithUs(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
}
