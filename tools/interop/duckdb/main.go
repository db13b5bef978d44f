// Command duckdb runs the statements that it reads, one JSON text per line, in one database of DuckDB in memory. It
// writes a line of JSON for each: the rows as lists of texts, or an error.
package main

import (
	"bufio"
	"database/sql"
	"encoding/json"
	"fmt"
	"os"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"
)

type answer struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
	Error   string     `json:"error,omitempty"`
	Seconds float64    `json:"seconds"`
}

func main() {
	db, err := sql.Open("duckdb", "")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	db.SetMaxOpenConns(1) // statements share views
	in := bufio.NewScanner(os.Stdin)
	in.Buffer(nil, 16<<20)
	out := json.NewEncoder(os.Stdout)
	for in.Scan() {
		var statement string
		a := answer{}
		err := json.Unmarshal(in.Bytes(), &statement)
		began := time.Now()
		if err == nil {
			err = a.query(db, statement)
		}
		a.Seconds = time.Since(began).Seconds()
		if err != nil {
			a.Error = err.Error()
		}
		if err := out.Encode(&a); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
	}
}

// query runs a statement.
func (a *answer) query(db *sql.DB, statement string) error {
	rows, err := db.Query(statement)
	if err != nil {
		return err
	}
	defer rows.Close()
	if a.Columns, err = rows.Columns(); err != nil {
		return err
	}
	for rows.Next() {
		values, to := make([]any, len(a.Columns)), make([]any, len(a.Columns))
		for i := range values {
			to[i] = &values[i]
		}
		if err := rows.Scan(to...); err != nil {
			return err
		}
		row := make([]string, len(values))
		for i, v := range values {
			row[i] = text(v)
		}
		a.Rows = append(a.Rows, row)
	}
	return rows.Err()
}

// text returns a value as DuckDB writes it; null for none.
func text(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case time.Time:
		return v.Format(time.DateTime)
	case []byte:
		return string(v)
	}
	return fmt.Sprint(v)
}
