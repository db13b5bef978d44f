package command

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/urfave/cli/v2"
)

// ProfileFlags returns the flags of commands that [Profiled] runs.
func ProfileFlags() []cli.Flag {
	return []cli.Flag{
		String("cpuprofile", "write a CPU profile to `FILE`"),
		String("memprofile", "write a heap profile to `FILE` at the end"),
	}
}

// ProgressFlags returns the flags of commands that show their progress.
func ProgressFlags() []cli.Flag {
	return append([]cli.Flag{Bool("quiet", "show no progress, and only warnings and errors on stderr")}, ProfileFlags()...)
}

// Profiled returns action with the profiles that the flags of its command request, even if action fails.
func Profiled(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error { return Profile(c, func() error { return action(c) }) }
}

// Profile runs a function and writes the profiles that the flags of c request, even if the function fails.
func Profile(c *cli.Context, do func() error) (err error) {
	if name := c.String("cpuprofile"); name != "" {
		f, err := create("cpuprofile", name)
		if err != nil {
			return err
		}
		if err := pprof.StartCPUProfile(f); err != nil {
			return errors.Join(err, f.Close())
		}
		defer func() {
			pprof.StopCPUProfile()
			err = errors.Join(err, f.Close())
		}()
	}
	if name := c.String("memprofile"); name != "" {
		f, err := create("memprofile", name) // before the work, so that a wrong name fails at once
		if err != nil {
			return err
		}
		defer func() {
			runtime.GC() // the profile shows the heap as of the last collection
			err = errors.Join(err, pprof.WriteHeapProfile(f), f.Close())
		}()
	}
	return do()
}

func create(flag, name string) (*os.File, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, UsageError("bad_value", "--%s: %w", flag, err)
	}
	return f, nil
}
