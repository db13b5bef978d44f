package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"

	"birthmark/core/export"
	"birthmark/model"
)

// null is the text of a null.
const null = "(null)"

// row is the values of a row by column, as texts.
type row map[string]string

// readTables reads all files of an export that the manifest lists, in order, and compares their numbers of rows with it.
func readTables(t testing.TB, dir string) map[string][]row {
	t.Helper()
	m, err := export.ReadManifest(t.Context(), export.LocalFolder(dir))
	if err != nil {
		t.Fatal(err)
	}
	types := map[string]map[string]string{}
	for _, table := range m.Tables {
		types[table.Name] = map[string]string{}
		for _, c := range table.Columns {
			types[table.Name][c.Name] = c.Type
		}
	}
	all := map[string][]row{}
	for _, p := range m.Parts {
		for _, f := range p.Files {
			b, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(f.Path)))
			if err != nil {
				t.Fatal(err)
			}
			var rows []row
			switch m.Format {
			case "parquet":
				rows = readParquet(t, b, types[f.Table])
			case "csv":
				rows = readCSV(t, b, types[f.Table])
			default:
				rows = readNDJSON(t, b)
			}
			if uint64(len(rows)) != f.Rows || uint64(len(b)) != f.Bytes {
				t.Errorf("%s has %d rows and %d bytes, the manifest has %d and %d", f.Path, len(rows), len(b), f.Rows, f.Bytes)
			}
			all[f.Table] = append(all[f.Table], rows...)
		}
	}
	return all
}

// readParquet reads a file with the library parquet-go.
func readParquet(t testing.TB, b []byte, types map[string]string) (rows []row) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	columns := f.Schema().Columns()
	for _, g := range f.RowGroups() {
		reader := g.Rows()
		buffer := make([]parquet.Row, 64)
		for {
			n, err := reader.ReadRows(buffer)
			for _, values := range buffer[:n] {
				r := row{}
				for _, v := range values {
					name := columns[v.Column()][0]
					if strings.HasSuffix(types[name], "[]") {
						list := []string{}
						if before, ok := r[name]; ok {
							if err := json.Unmarshal([]byte(before), &list); err != nil {
								t.Fatal(err)
							}
						}
						if !v.IsNull() {
							list = append(list, parquetText(t, v, "VARCHAR"))
						}
						r[name] = listText(list)
						continue
					}
					r[name] = parquetText(t, v, types[name])
				}
				rows = append(rows, r)
			}
			if n == 0 || err != nil {
				break
			}
		}
		if err := reader.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if int64(len(rows)) != f.NumRows() {
		t.Errorf("%d rows, the footer has %d", len(rows), f.NumRows())
	}
	return rows
}

func listText(list []string) string {
	b, err := json.Marshal(list)
	if err != nil {
		panic(err)
	}
	return string(b)
}

func parquetText(t testing.TB, v parquet.Value, sql string) string {
	t.Helper()
	switch {
	case v.IsNull():
		return null
	case sql == "INTEGER":
		return strconv.Itoa(int(v.Int32()))
	case sql == "BIGINT":
		return strconv.FormatInt(v.Int64(), 10)
	case sql == "UBIGINT":
		return strconv.FormatUint(v.Uint64(), 10)
	case sql == "BOOLEAN":
		return strconv.FormatBool(v.Boolean())
	case sql == "DOUBLE":
		return strconv.FormatFloat(v.Double(), 'g', -1, 64)
	case sql == "TIMESTAMP":
		return time.UnixMilli(v.Int64()).UTC().Format(time.DateTime)
	case strings.HasPrefix(sql, "DECIMAL"):
		var n [16]byte
		copy(n[:], v.ByteArray())
		hi, lo := uint64(0), uint64(0)
		for _, c := range n[:8] {
			hi = hi<<8 | uint64(c)
		}
		for _, c := range n[8:] {
			lo = lo<<8 | uint64(c)
		}
		return model.Uint128{Hi: hi, Lo: lo}.Big().String()
	case sql == "BLOB":
		return hex.EncodeToString(v.ByteArray())
	case sql == "VARCHAR":
		return string(v.ByteArray())
	}
	t.Fatalf("type %q", sql)
	return ""
}

// readCSV reads CSV, in which an absent value is null and "" is an empty text.
func readCSV(t testing.TB, b []byte, types map[string]string) (rows []row) {
	t.Helper()
	lines, err := csv.NewReader(bytes.NewReader(b)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range lines[1:] {
		r := row{}
		for i, name := range lines[0] {
			r[name] = line[i]
			if line[i] == "" {
				r[name] = null
			}
		}
		rows = append(rows, r)
	}
	return rows
}

func readNDJSON(t testing.TB, b []byte) (rows []row) {
	t.Helper()
	for line := range bytes.Lines(b) {
		var values map[string]any
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if err := d.Decode(&values); err != nil {
			t.Fatalf("%v in %s", err, line)
		}
		r := row{}
		for name, v := range values {
			switch v := v.(type) {
			case nil:
				r[name] = null
			case []any:
				list := []string{}
				for _, e := range v {
					list = append(list, e.(string))
				}
				r[name] = listText(list)
			default:
				r[name] = fmt.Sprint(v)
			}
		}
		rows = append(rows, r)
	}
	return rows
}
