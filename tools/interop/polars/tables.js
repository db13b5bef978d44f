// Prints for exported tables how many values and distinct values each column has, and the fees per day, as JSON.
// Usage: node tables.js DIR | URL of the manifest
'use strict'

const fs = require('fs')
const path = require('path')
const pl = require('nodejs-polars')

// files returns the files of each table: of a folder, or the URLs that a manifest lists.
async function files(of) {
  const tables = {}
  if (!of.startsWith('http://')) {
    for (const table of fs.readdirSync(of).filter(name => fs.statSync(path.join(of, name)).isDirectory())) {
      tables[table] = [path.join(of, table, '*', '*.parquet')]
    }
    return tables
  }
  const manifest = await (await fetch(of)).json()
  for (const file of manifest.parts.flatMap(part => part.files)) {
    (tables[file.table] ??= []).push(new URL(file.path, of).href)
  }
  return tables
}

async function main(of) {
  const tables = await files(of)
  const read = table => pl.concat(tables[table].map(file => pl.scanParquet(file)))
  const result = { columns: {}, fees: [] }
  for (const table of Object.keys(tables).sort()) {
    const rows = await read(table).collect()
    for (const name of rows.columns) {
      const values = rows.getColumn(name).dropNulls()
      result.columns[`${table}.${name}`] = [values.length, values.nUnique()].map(String)
    }
  }
  const day = pl.col('block_timestamp').dt.strftime('%Y-%m-%d').alias('day')
  const fees = await read('transactions').filter(pl.col('block_timestamp').isNotNull())
    .groupBy(day).agg(pl.col('fee').sum().alias('fees')).sort('day').collect()
  result.fees = fees.rows().map(row => row.map(String))
  console.log(JSON.stringify(result))
}

main(process.argv[2])
