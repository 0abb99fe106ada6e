import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { printTable } from '../scripts/lib/terminal.ts'

/** The tables of a payload, of an object and of the feed, and the days that a class is kept by default. All other tables belong to the record. */
const PAYLOAD = ['bodies', 'packed_bodies', 'payloads']
const OBJECT = ['billing_objects']
const FEED = ['changes']
const DAYS = { payload: 90, record: 400, object: 365, feed: 30 }
type Class = keyof typeof DAYS

/** What D1 allows a database to have. */
const MOST_BYTES = 10e9

/**
 * Prints how many bytes of pages an event takes, by class, and how many events a day a database takes with that.
 *
 * @param folder of a Worker that has ended
 * @param events how many the largest database in it has received
 */
export function printPages(folder: string, events: number): void {
  const bytes = bytesByClass(folder)
  const classes = Object.keys(DAYS) as Class[]
  const each = (name: Class) => bytes[name] / events
  const sum = classes.reduce((total, name) => total + each(name), 0)
  const kept = classes.reduce((total, name) => total + each(name) * DAYS[name], 0)
  console.log(`\nBytes of pages an event, after ${events} events and VACUUM`)
  printTable(
    ['', 'bytes', 'days kept'],
    [...classes.map((name) => [name, each(name).toFixed(0), String(DAYS[name])]), ['sum', sum.toFixed(0), '']],
  )
  console.log(`A day of a database of 10 GB: ${Math.floor(MOST_BYTES / kept)} events`)
}

function bytesByClass(folder: string): Record<Class, number> {
  const bytes = { payload: 0, record: 0, object: 0, feed: 0 }
  const database = new DatabaseSync(largestDatabase(folder))
  database.exec('VACUUM')
  const pages = database
    .prepare(
      `SELECT coalesce(m.tbl_name, s.name) AS name, sum(s.pgsize) AS bytes FROM dbstat s
        LEFT JOIN sqlite_master m ON m.name = s.name GROUP BY 1`,
    )
    .all() as { name: string; bytes: number }[]
  for (const page of pages) {
    bytes[classOf(page.name)] += page.bytes
  }
  database.close()
  return bytes
}

function classOf(table: string): Class {
  if (PAYLOAD.includes(table)) return 'payload'
  if (OBJECT.includes(table)) return 'object'
  return FEED.includes(table) ? 'feed' : 'record'
}

function largestDatabase(folder: string): string {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.sqlite'))
  const counted = files.map((name) => {
    const database = new DatabaseSync(join(folder, name), { readOnly: true })
    const { pages } = database.prepare('SELECT page_count AS pages FROM pragma_page_count').get() as { pages: number }
    database.close()
    return { name, pages }
  })
  const [largest] = counted.sort((a, b) => b.pages - a.pages)
  if (!largest) throw new Error(`there is no database in ${folder}`)
  return join(folder, largest.name)
}
