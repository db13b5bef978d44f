//go:build !linux

package btcdtest

import "os/exec"

// endWithUs does nothing: the kernel does not offer it.
func endWithUs(*exec.Cmd) {}
