package cli

import (
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"

	"birthmark/core/schema"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
)

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name:     "version",
		Usage:    "print version",
		Category: standalone,
		Flags:    command.CommonFlags(),
		Action:   func(*cli.Context) error { return p.printVersion() },
	}
}

func (p *program) printVersion() error {
	a := version()
	return p.Answer(nil, a, func(page *terminal.Page) {
		page.Fields("birthmark", a.Version, "commit", a.Commit, "format", a.Format, "go", a.Go)
	})
}

// versionAnswer is the build information of the binary.
type versionAnswer struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"` // with a plus if the tree had changes
	Format  int    `json:"format"`
	Go      string `json:"go"`
}

// release is the version of this source. The changelog has a section for it.
const release = "0.10.0"

// commit is set by tools/release.sh. It is empty if the Go tool records the commit.
var commit string

func version() versionAnswer {
	a := versionAnswer{Version: release, Commit: commit, Format: schema.FormatVersion, Go: runtime.Version()}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return a
	}
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision":
			a.Commit = s.Value + a.Commit
		case s.Key == "vcs.modified" && s.Value == "true":
			a.Commit += "+"
		}
	}
	return a
}
