/*
 * npm run bench:placement: projects placed on several D1 databases. A model, of growing projects and of the limits of one
 * database, and of what is still a plan: projects that move, and projects that go on in a second database. Nothing of it
 * is measured but the bytes of an event, which `npm run bench:cost` prints. Billing objects, which stay, are left out. The same seed gives the same table.
 */
import { parseArgs } from 'node:util'
import { printTable, run } from '../scripts/lib/terminal.ts'

/** One D1 database on Workers Paid: https://developers.cloudflare.com/d1/platform/limits/ */
const MOST_BYTES = 10e9
const GB = 1e9
const DAY_S = 86_400
/** A peak second of a project, as a multiple of its mean one. */
const PEAK = 20
const DAYS = 730
const NEW_A_DAY = 2
/** A database over the first mark of its size gives projects away; over the second one it takes no new ones. */
const MOVE_AT = 0.7
const FULL_AT = 0.5

type Project = { bytes: number; perDay: number; growth: number; history: number[]; home: number }
type Database = { bytes: number; perDay: number }
const POLICIES = [
  'one database',
  'by hash over 16',
  'least full, new ones as needed',
  '… and hot ones move',
  '… and the biggest continue in a new one',
] as const
type Policy = (typeof POLICIES)[number]
type Result = {
  databases: number
  fullest: number
  over: number
  /** The busiest database's peak, in events a second. */
  peak: number
  moves: number
  moved: number
  /** Projects that continued in a new database. Their older events stay where they are. */
  splits: number
}

await run(async () => {
  const { values } = parseArgs({
    options: {
      payload: { type: 'string', default: '4700' },
      record: { type: 'string', default: '2700' },
      events: { type: 'string', default: '150' },
      seed: { type: 'string', default: '1' },
    },
  })
  const [payload, record, mean, seed] = [values.payload, values.record, values.events, values.seed].map(Number) as [
    number,
    number,
    number,
    number,
  ]
  const perEvent = payload * 90 + record * 400
  console.log(
    `One database: ${Math.floor(MOST_BYTES / (payload + record)).toLocaleString('en')} events at once; kept for 90 days (payloads) and 400 (records), ${Math.floor(MOST_BYTES / perEvent).toLocaleString('en')} events a day for ever, ${(MOST_BYTES / perEvent / DAY_S).toFixed(2)} a second.`,
  )
  console.log(
    `${DAYS} days, ${NEW_A_DAY} new projects a day, a median of ${mean} events a day each, spread log-normally; one in fifty grows by 1 % a day.\n`,
  )
  const rows = POLICIES.map((policy) => {
    const one = simulate(policy, { payload, record, mean, seed })
    return [
      policy,
      String(one.databases),
      `${((100 * one.fullest) / MOST_BYTES).toFixed(0)} %`,
      String(one.over),
      one.peak.toFixed(1),
      String(one.moves),
      (one.moved / GB).toFixed(1),
      String(one.splits),
    ]
  })
  printTable(
    [
      'placement',
      'databases',
      'fullest',
      'over 10 GB',
      'peak events/s of one',
      'moves',
      'GB moved',
      'continued in another',
    ],
    rows,
  )
})

type Scenario = { payload: number; record: number; mean: number; seed: number }

/** Two years of one policy, a day at a time. */
function simulate(policy: Policy, { payload, record, mean, seed }: Scenario): Result {
  const random = generator(seed)
  const databases: Database[] = Array.from({ length: policy === 'by hash over 16' ? 16 : 1 }, () => ({
    bytes: 0,
    perDay: 0,
  }))
  const projects: Project[] = []
  let moves = 0
  let moved = 0
  let splits = 0
  for (let day = 0; day < DAYS; day++) {
    for (let i = 0; i < NEW_A_DAY; i++) projects.push(born(random, mean, place(policy, databases, random)))
    for (const project of projects) grow(project, payload, record)
    weigh(databases, projects)
    if (!policy.startsWith('…')) continue
    for (let from = 0; from < databases.length; from++) {
      for (let hot = moving(databases, projects, from); hot; hot = moving(databases, projects, from)) {
        hot.home = emptiest(databases, hot.bytes)
        moves += 1
        moved += hot.bytes
        weigh(databases, projects)
      }
      if (policy === '… and hot ones move' || (databases[from]?.bytes ?? 0) <= MOVE_AT * MOST_BYTES) continue
      splits += goOn(databases, projects, from)
    }
  }
  return {
    databases: databases.length,
    fullest: Math.max(...databases.map(({ bytes }) => bytes)),
    over: databases.filter(({ bytes }) => bytes > MOST_BYTES).length,
    peak: (PEAK * Math.max(...databases.map(({ perDay }) => perDay))) / DAY_S,
    moves,
    moved,
    splits,
  }
}

function born(random: () => number, mean: number, home: number): Project {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  return { bytes: 0, perDay: mean * Math.exp(1.2 * normal), growth: random() < 0.02 ? 1.01 : 1.0005, history: [], home }
}

/** A day's events come in; payloads of ninety days ago go, and records of four hundred. */
function grow(project: Project, payload: number, record: number): void {
  const { history } = project
  history.push(project.perDay)
  project.bytes += project.perDay * (payload + record)
  project.bytes -= (history.at(-91) ?? 0) * payload + (history.at(-401) ?? 0) * record
  project.perDay = Math.min(project.perDay * project.growth, 50_000)
}

function weigh(databases: readonly Database[], projects: readonly Project[]): void {
  for (const one of databases) Object.assign(one, { bytes: 0, perDay: 0 })
  for (const { home, bytes, perDay } of projects) {
    const database = databases[home]
    if (!database) continue
    database.bytes += bytes
    database.perDay += perDay
  }
}

function place(policy: Policy, databases: Database[], random: () => number): number {
  if (policy === 'one database') return 0
  if (policy === 'by hash over 16') return Math.floor(random() * databases.length)
  return emptiest(databases, 0)
}

/** The least full database that stays below its mark with so much more; a new one where none does. */
function emptiest(databases: Database[], more: number): number {
  let best = 0
  for (let i = 1; i < databases.length; i++) if ((databases[i]?.bytes ?? 0) < (databases[best]?.bytes ?? 0)) best = i
  if ((databases[best]?.bytes ?? 0) + more <= FULL_AT * MOST_BYTES) return best
  return databases.push({ bytes: 0, perDay: 0 }) - 1
}

/** The project that a database over its mark gives away: its busiest one; never the only one it has. */
function moving(databases: readonly Database[], projects: readonly Project[], from: number): Project | null {
  if ((databases[from]?.bytes ?? 0) <= MOVE_AT * MOST_BYTES) return null
  const here = projects.filter(({ home }) => home === from).sort((a, b) => b.perDay - a.perDay)
  return here.length > 1 ? (here[0] ?? null) : null
}

/** The last one left in a database that is too full takes its new events to an empty one; the old ones stay, and age out. */
function goOn(databases: Database[], projects: Project[], from: number): number {
  const [old] = projects.filter(({ home, perDay }) => home === from && perDay > 0)
  if (!old) return 0
  const home = databases.push({ bytes: 0, perDay: 0 }) - 1
  projects.push({ ...old, bytes: 0, history: [], home })
  old.perDay = 0
  return 1
}

/** Mulberry32: the same numbers for the same seed. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
}
