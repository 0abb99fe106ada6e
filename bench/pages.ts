import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { printTable } from '../scripts/lib/terminal.ts'

/** The tables of a payload, of an object and of the feed, and the days that a class is kept by default. All other tables belong to the record. */
const PAYLOAD = ['bodies', 'packed_bodies', 'payloads']
const OBJECT = ['billing_objects']
const FEED = ['changes']
const ARCHIVE = ['archives', 'archived_refs']
const DAYS = { payload: 90, record: 400, archive: 400, object: 365, feed: 30 }
type Class = keyof typeof DAYS
type Bytes = Record<Class, number>

/** What D1 allows a database to have. */
const MOST_BYTES = 10e9

/**
 * Prints how many bytes of pages an event takes, by class, and how many events a day a database takes with that.
 *
 * @param events how many the database has received
 * @param archivedAfter days after which all of them are archived; left out, none is
 */
export function printPages(bytes: Bytes, events: number, archivedAfter?: number): void {
  // An event waits for the end of its week, half a week on average.
  const record = archivedAfter === undefined ? DAYS.record : archivedAfter + PACKED_PERIOD_DAYS / 2
  const days = { ...DAYS, record, archive: DAYS.record - record }
  const classes = Object.keys(DAYS) as Class[]
  const each = (name: Class) => bytes[name] / events
  const sum = classes.reduce((total, name) => total + each(name), 0)
  const kept = classes.reduce((total, name) => total + each(name) * days[name], 0)
  console.log(
    `\nBytes of pages an event, after ${events} events and VACUUM${archivedAfter === undefined ? '' : ', archived'}`,
  )
  printTable(
    ['', 'bytes', 'days kept'],
    [...classes.map((name) => [name, each(name).toFixed(0), String(days[name])]), ['sum', sum.toFixed(0), '']],
  )
  console.log(`A day of a database of 10 GB: ${Math.floor(MOST_BYTES / kept)} events`)
}

const PACKED_PERIOD_DAYS = 7

/** Makes all events of a database 62 days older, by the first four digits of the time in their ids: each unit is 12.4 days. */
export function makeOlder(folder: string): void {
  const database = new DatabaseSync(largestDatabase(folder))
  const digits = '0123456789abcdefghjkmnpqrstvwxyz'
  const [{ id } = { id: '' }] = database.prepare('SELECT id FROM events LIMIT 1').all() as { id: string }[]
  const now = [...id.slice(4, 8)].reduce((sum, digit) => sum * 32 + digits.indexOf(digit), 0)
  const then = [15, 10, 5, 0].map((bits) => digits[((now - 5) >> bits) & 31]).join('')
  const older = (column: string) => `${column} = substr(${column}, 1, 4) || '${then}' || substr(${column}, 9)`
  for (const [table, column] of [
    ['events', 'id'],
    ['refs', 'event_id'],
    ['attempts', 'event_id'],
  ] as const)
    database.exec(`UPDATE ${table} SET ${older(column)}`)
  database.close()
}

/** The bytes of pages of the largest database, by class. @param folder of a Worker that has ended */
export function bytesByClass(folder: string): Bytes {
  const bytes = { payload: 0, record: 0, archive: 0, object: 0, feed: 0 }
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
  if (ARCHIVE.includes(table)) return 'archive'
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
