package cli

import (
	"maps"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"birthmark/core/schema"
	"birthmark/internal/cli/command"
	"birthmark/internal/cli/terminal"
	"birthmark/storage/rocks"
)

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name:     "version",
		Usage:    "print version",
		Category: standalone,
		Flags: slices.Concat([]cli.Flag{
			command.Bool("verbose", "print also the platform, RocksDB and how the binary was built"),
		}, command.CommonFlags()),
		Action: func(c *cli.Context) error {
			if c.Bool("verbose") {
				return p.printBuild()
			}
			return p.printVersion()
		},
	}
}

func (p *program) printVersion() error {
	a := version()
	return p.Answer(nil, a, func(page *terminal.Page) {
		page.Fields("birthmark", a.Version, "commit", a.Commit, "format", a.Format, "go", a.Go)
	})
}

func (p *program) printBuild() error {
	a := buildAnswer{version(), runtime.GOOS + "/" + runtime.GOARCH, rocks.LinkedLibrary(), buildSettings()}
	return p.Answer(nil, a, func(page *terminal.Page) {
		assertions := "without assertions"
		if a.RocksDB.Assertions {
			assertions = "with assertions"
		}
		fields := []any{
			"birthmark", a.Version, "commit", a.Commit, "format", a.Format, "go", a.Go, "platform", a.Platform,
			"rocksdb", a.RocksDB.Version + ", " + assertions + ", " + strings.Join(a.RocksDB.Compression, " "),
		}
		for _, name := range slices.Sorted(maps.Keys(a.Build)) {
			fields = append(fields, name, a.Build[name])
		}
		page.Fields(fields...)
	})
}

// versionAnswer is the build information of the binary.
type versionAnswer struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"` // with a plus if the tree had changes
	Format  int    `json:"format"`
	Go      string `json:"go"`
}

// buildAnswer is the answer of version --verbose.
type buildAnswer struct {
	versionAnswer
	Platform string            `json:"platform"` // GOOS/GOARCH
	RocksDB  rocks.Library     `json:"rocksdb"`
	Build    map[string]string `json:"build"`
}

// buildSettings returns the settings that the Go tool recorded, such as -tags and GOAMD64, without those of the commit.
func buildSettings() map[string]string {
	settings := map[string]string{}
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, s := range info.Settings {
			if !strings.HasPrefix(s.Key, "vcs") {
				settings[s.Key] = s.Value
			}
		}
	}
	return settings
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
