// Prints for the tables in a folder how many values and distinct values each column has, and the fees per day, as JSON.
// Usage: node tables.js DIR
'use strict'

const fs = require('fs')
const path = require('path')
const pl = require('nodejs-polars')

const dir = process.argv[2]
const read = table => pl.scanParquet(path.join(dir, table, '*', '*.parquet'))
const result = { columns: {}, fees: [] }
for (const table of fs.readdirSync(dir).filter(name => fs.statSync(path.join(dir, name)).isDirectory()).sort()) {
  const rows = read(table).collectSync()
  for (const name of rows.columns) {
    const values = rows.getColumn(name).dropNulls()
    result.columns[`${table}.${name}`] = [values.length, values.nUnique()].map(String)
  }
}
const day = pl.col('block_timestamp').dt.strftime('%Y-%m-%d').alias('day')
const fees = read('transactions').filter(pl.col('block_timestamp').isNotNull())
  .groupBy(day).agg(pl.col('fee').sum().alias('fees')).sort('day').collectSync()
result.fees = fees.rows().map(row => row.map(String))
console.log(JSON.stringify(result))
