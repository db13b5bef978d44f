package snapshot

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"birthmark/model"
)

// manifestVersion is the version of the layout of repositories and manifests.
const manifestVersion = 1

// Manifest describes a snapshot. Its JSON is stored.
type Manifest struct {
	Version  int               `json:"birthmark_snapshot"`
	Chain    string            `json:"chain"`
	Network  string            `json:"network"`
	Format   int               `json:"format"` // of the database
	Raw      string            `json:"raw"`    // raw transactions: off, keep or files
	Indexes  []Index           `json:"indexes"`
	Tip      Tip               `json:"tip"`
	Rows     map[string]uint64 `json:"rows"`             // by family
	Checksum string            `json:"checksum"`         // of the totals of the database, in hex
	Digest   *Digest           `json:"digest,omitempty"` // of all rows
	Update   *Update           `json:"update,omitempty"` // the last one, if the updates are numbered for replicas
	Engine   Engine            `json:"engine"`
	Made     Made              `json:"made"`
	Bytes    int64             `json:"bytes"` // of all files
	Files    []File            `json:"files"` // by name
}

// Index is an index of a snapshot.
type Index struct {
	Name  string   `json:"name"`
	Kind  string   `json:"kind"`
	Keeps []string `json:"keeps,omitempty"` // options
	When  string   `json:"when,omitempty"`  // of a custom index
	Value string   `json:"value,omitempty"` // of a custom index
}

// Tip is the last block.
type Tip struct {
	Height uint32 `json:"height"`
	Hash   string `json:"hash"`
	Time   int64  `json:"time"`
}

// Digest is the result of birthmark dump --digest.
type Digest struct {
	Rows     uint64            `json:"rows"`
	SHA256   string            `json:"sha256"`
	Families map[string]string `json:"families"` // SHA-256 by family
}

// Update is the last update of a database whose updates are numbered: of a primary or a replica.
type Update struct {
	Lineage string `json:"lineage"` // of the primary, in hex
	Seq     uint64 `json:"seq"`
	Hash    string `json:"hash"` // SHA-256 of its segment, in hex; random without a segment
}

// Engine is the store that wrote the files.
type Engine struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// Made is when and by which program a snapshot was created.
type Made struct {
	At time.Time `json:"at"`
	By string    `json:"by"`
}

// File is a file of the database.
type File struct {
	Name   string `json:"name"`
	Size   int64  `json:"size"`
	SHA256 string `json:"sha256"`
}

// stored returns the name of the file in the repository.
func (f File) stored() string { return filesFolder + "/" + f.SHA256[:2] + "/" + f.SHA256 }

// Names in a repository.
const (
	latestName      = "latest.json"
	filesFolder     = "files"
	snapshotsFolder = "snapshots"
	manifestSuffix  = ".json"
	signatureSuffix = ".json.minisig"
)

// currentName is the file without which a folder is not a database of RocksDB.
const currentName = "CURRENT"

// fileForm is the form of the names of RocksDB's files that a snapshot contains: tables, logs, manifest and CURRENT.
var fileForm = regexp.MustCompile(`^([0-9]{6,20}\.(sst|log)|MANIFEST-[0-9]{6,20}|CURRENT)$`)

// nameForm is the form of the name of a snapshot: height of the tip, time, beginning of the manifest's SHA-256.
var nameForm = regexp.MustCompile(`^[0-9]{9}-[0-9]{8}T[0-9]{6}\.[0-9]{3}Z-[0-9a-f]{16}$`)

const timeLayout = "20060102T150405.000Z"

// encode returns the stored form of a manifest, and the name of the snapshot.
func (m *Manifest) encode() (name string, text []byte, err error) {
	if text, err = json.MarshalIndent(m, "", " "); err != nil {
		return "", nil, err
	}
	text = append(text, '\n')
	return fmt.Sprintf("%09d-%s-%s", m.Tip.Height, m.Made.At.UTC().Format(timeLayout), sumOf(text)[:16]), text, nil
}

func sumOf(text []byte) string {
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// parseManifest reads the manifest of a snapshot and checks it completely: nothing in it needs to be trusted as a path.
func parseManifest(name string, text []byte) (*Manifest, error) {
	if sum := sumOf(text); !strings.HasSuffix(name, "-"+sum[:16]) {
		return nil, damaged("the manifest of snapshot %s has SHA-256 %s…, expected %s…", name, sum[:16], name[len(name)-16:])
	}
	m := new(Manifest)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, damaged("the manifest of snapshot %s is not JSON: %w", name, err)
	}
	if m.Version != manifestVersion {
		return nil, model.Errorf(model.Refused, "wrong_format", "snapshot %s has version %d, this program reads version %d: "+
			"use a newer birthmark", name, m.Version, manifestVersion)
	}
	if err := m.check(); err != nil {
		return nil, damaged("the manifest of snapshot %s is invalid: %w", name, err)
	}
	return m, nil
}

func (m *Manifest) check() error {
	if m.Chain == "" || m.Network == "" || m.Tip.Hash == "" {
		return errors.New("chain, network or tip is missing")
	}
	if u := m.Update; u != nil && (!isHex(u.Lineage, 16) || !isHex(u.Hash, sha256.Size)) {
		return errors.New("the lineage or the hash of the last update is not hexadecimal")
	}
	bytes, before, current := int64(0), "", false
	for _, f := range m.Files {
		switch {
		case !fileForm.MatchString(f.Name):
			return fmt.Errorf("%.80q is not the name of a file of a database", f.Name)
		case f.Name <= before:
			return fmt.Errorf("file %s follows %s", f.Name, before)
		case !isHex(f.SHA256, sha256.Size):
			return fmt.Errorf("file %s has no SHA-256", f.Name)
		case f.Size < 0 || f.Size > 1<<50:
			return fmt.Errorf("file %s has size %d", f.Name, f.Size)
		}
		before, current, bytes = f.Name, current || f.Name == currentName, bytes+f.Size
	}
	if !current {
		return errors.New("file CURRENT is missing")
	}
	if bytes != m.Bytes {
		return fmt.Errorf("the files have %d bytes, expected %d", bytes, m.Bytes)
	}
	return nil
}

// isHex reports whether text is that many bytes in lower-case hex.
func isHex(text string, bytes int) bool {
	b, err := hex.DecodeString(text)
	return err == nil && len(b) == bytes && strings.ToLower(text) == text
}

// damaged returns the error of a repository with wrong content.
func damaged(format string, args ...any) error {
	return model.Errorf(model.BadSource, "snapshot_damaged", format, args...)
}

// latest is the content of latest.json.
type latest struct {
	Snapshot  string   `json:"snapshot"`  // the newest
	Snapshots []string `json:"snapshots"` // all, newest first
}

func (l *latest) encode() ([]byte, error) {
	text, err := json.MarshalIndent(l, "", " ")
	return append(text, '\n'), err
}

func parseLatest(text []byte) (*latest, error) {
	l := new(latest)
	if err := json.Unmarshal(text, l); err != nil {
		return nil, damaged("%s is not JSON: %w", latestName, err)
	}
	for _, name := range append([]string{l.Snapshot}, l.Snapshots...) {
		if !nameForm.MatchString(name) {
			return nil, damaged("%s has %.80q, which is not the name of a snapshot", latestName, name)
		}
	}
	// Nothing but the names can differ without notice.
	if again, err := l.encode(); err != nil || !bytes.Equal(again, text) || !slices.Contains(l.Snapshots, l.Snapshot) {
		return nil, damaged("%s is not in the form that birthmark writes", latestName)
	}
	return l, nil
}

// madeAt returns the time in the name of a snapshot, as text that sorts by time.
func madeAt(name string) string { return name[10:30] }

func heightOf(name string) uint64 {
	h, _ := strconv.ParseUint(name[:9], 10, 32) // the form has digits there
	return h
}

// newestFirst sorts names of snapshots.
func newestFirst(names []string) {
	slices.SortFunc(names, func(a, b string) int {
		return strings.Compare(madeAt(b)+b, madeAt(a)+a)
	})
}
