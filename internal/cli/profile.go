package cli

import (
	"errors"
	"os"
	"runtime"
	"runtime/pprof"

	"github.com/urfave/cli/v2"
)

// profiled returns action with the profiles that the flags of its command request.
func profiled(action cli.ActionFunc) cli.ActionFunc {
	return func(c *cli.Context) error { return profile(c, action) }
}

// profile runs action and writes the profiles that the flags of c request, even if action fails.
func profile(c *cli.Context, action cli.ActionFunc) (err error) {
	if name := c.String("cpuprofile"); name != "" {
		f, err := profileFile("cpuprofile", name)
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
		f, err := profileFile("memprofile", name) // before the work, so that a wrong name fails at once
		if err != nil {
			return err
		}
		defer func() {
			runtime.GC() // the profile shows the heap as of the last collection
			err = errors.Join(err, pprof.WriteHeapProfile(f), f.Close())
		}()
	}
	return action(c)
}

func profileFile(flag, name string) (*os.File, error) {
	f, err := os.Create(name)
	if err != nil {
		return nil, usageError("bad_value", "--%s: %w", flag, err)
	}
	return f, nil
}
