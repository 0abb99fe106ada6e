/*
 * npm run drill: a backup that was restored. Events are delivered and processed while the backup is made; it is restored into an
 * empty database, by way of a changed object, a missing one and a restore that is stopped; what had not been copied is delivered
 * again; both databases process what is open. Then every table of both must have the same rows.
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { migrate, openWorker } from '../../bench/worker.ts'
import { readFlags } from '../../scripts/lib/flags.ts'
import { fail, printTable, progress, run } from '../../scripts/lib/terminal.ts'
import { bundle } from '../../scripts/lib/worker-bundle.ts'
import type { Manifest, Standing } from '../../src/backup/backup.ts'
import type { Listed } from '../../src/backup/object.ts'
import type { Recording } from '../../src/inbox/receive/recording.ts'
import { connections, earlier, recordingsOf } from './drill/events.ts'
import type { Slowest, Which } from './drill/worker.ts'
import { fastFolder } from './ram-disk.ts'

const BATCH = 100
/** The most that a statement of the backup should take on a machine that does nothing else (ms): it keeps others waiting. */
const LONGEST_MS = 100

/**
 * What processing an event later, and in another order, makes differ: times, what an event changed (it may find an object that a later
 * one has written), and how often a row was written.
 */
const LATER = {
  ...{ 'events.processed_at': null, 'events.started_at': null, 'events.summary_rest': null },
  // What is packed beside a long change is compared by test/backup/meanwhile.test.ts.
  'events.summary':
    "json_remove(summary, '$.effects', '$.rest', '$.subscription', '$.invoice', '$.amount', '$.occurred_at')",
  ...{ 'attempts.started_at': null, 'attempts.finished_at': null, 'attempts.trigger': null },
  ...{ 'minutes.lag': null, 'minutes.lag_sum': null, 'minutes.lag_max': null },
  ...{ 'billing_objects.version': null, 'connections.secrets_used': null },
}

await run(async () => {
  const { values } = readFlags({
    usage: 'npm run drill -- [--events 5000]',
    about:
      'Makes a backup while events are delivered and processed, restores it, processes what is open, and compares every table.',
    flags: { events: { type: 'string', takes: 'N', help: 'how many events', default: '5000' } },
  })
  const total = Number(values.events)
  if (!Number.isInteger(total) || total < 100) fail('--events must be a number from 100')
  const folder = mkdtempSync(join(fastFolder(), 'drill-'))
  const drill = await open(folder)
  try {
    await play(drill, total)
  } finally {
    await drill.close()
    rmSync(folder, { recursive: true, force: true })
  }
  process.exit(0)
})

type Drill = Awaited<ReturnType<typeof open>>

async function open(folder: string) {
  console.log('Bundling …')
  const script = await bundle([join(import.meta.dirname, 'drill/worker.ts')])
  const miniflare = openWorker(script, folder, { d1Databases: { DB: 'own', RESTORED: 'restored' } })
  await miniflare.ready
  for (const name of ['DB', 'RESTORED']) await migrate((await miniflare.getD1Database(name, 'own')) as never)
  const { origin } = await miniflare.unsafeGetDirectURL('own')
  const ask = async (path: string, body: object | Uint8Array<ArrayBuffer> = {}): Promise<Response> => {
    const data = body instanceof Uint8Array ? body : JSON.stringify(body)
    const response = await fetch(origin + path, { method: 'POST', body: data })
    if (response.ok) return response
    throw new Error(await response.text())
  }
  const json = async <T>(path: string, body: object = {}) => (await ask(path, body)).json() as Promise<T>
  return {
    ask,
    json,
    db: (await miniflare.getD1Database('DB', 'own')) as unknown as D1Database,
    record: (which: Which, recordings: Recording[]) => ask('/record', { which, recordings }),
    async process(which: Which, most = Number.POSITIVE_INFINITY) {
      const show = progress(`Processing in ${which}:`, most)
      for (let done = 0; done < most; ) {
        const { done: more } = await json<{ done: number }>('/process', { which, limit: BATCH })
        if (more === 0) return
        done += more
        if (most > BATCH) show(done)
      }
    },
    close: () => miniflare.dispose(),
  }
}

async function play(drill: Drill, total: number): Promise<void> {
  const before = Math.floor(total * 0.9)
  const now = Date.now()
  for (const { sql, values } of connections(now))
    await drill.db
      .prepare(sql)
      .bind(...values)
      .run()
  const seeded = progress('Recording', before)
  for (let from = 0; from < before; from += BATCH) {
    await drill.record(
      'DB',
      recordingsOf(from, Math.min(from + BATCH, before), (n) => earlier(n, before)),
    )
    seeded(from)
  }
  await drill.process('DB', before)
  const backup = await backUp(drill, before, total)
  await drill.process('DB')
  const restored = await restore(drill, backup)
  // What came while the backup was made is delivered once more, under the ids that it had.
  for (const recordings of backup.meanwhile) await drill.record('RESTORED', recordings)
  await drill.process('RESTORED')
  const [is, was] = [await digests(drill, 'RESTORED'), await digests(drill, 'DB')]
  printTable(
    ['table', 'rows', 'digest', ''],
    Object.entries(was).map(([name, text]) => [
      name,
      ...text.split(' '),
      is[name] === text ? 'same' : `differs: ${is[name]}`,
    ]),
  )
  const differing = Object.keys(was).filter((name) => is[name] !== was[name])
  console.log(`\n${backup.told}\n${restored}`)
  if (differing.length > 0) fail(`These tables differ: ${differing.join(', ')}`)
  if (backup.slowest.ms > LONGEST_MS) {
    console.log(`A statement of the backup took more than ${LONGEST_MS} ms: ${backup.slowest.sql}`)
  }
  console.log('Every table is the same in both databases.')
}

function digests(drill: Drill, which: Which): Promise<Record<string, string>> {
  return drill.json('/digests', { which, instead: LATER })
}

/** Makes a backup. Events are delivered before each step, and processed after some. */
async function backUp(drill: Drill, before: number, total: number) {
  const objects = new Map<string, Uint8Array<ArrayBuffer>>()
  const listed: Listed[] = []
  const meanwhile: Recording[][] = []
  const show = progress('Backing up, about, objects', Math.ceil(total / 64))
  let [standing, isDone, next, ms, steps]: [Standing | null, boolean, number, number, number] = [
    null,
    false,
    before,
    0,
    0,
  ]
  while (!isDone) {
    const few = Math.max(1, Math.ceil((total - before) / (total / 75 + 60)))
    const recordings = recordingsOf(next, Math.min(next + few, total), Date.now)
    next += recordings.length
    if (recordings.length > 0) {
      await drill.record('DB', recordings)
      meanwhile.push(recordings)
    }
    steps += 1
    if (steps % 3 === 0) await drill.process('DB', BATCH)
    const startedAt = performance.now()
    const answer = await drill.ask('/step', { standing })
    const step = JSON.parse(answer.headers.get('X-Step') ?? '') as {
      standing: Standing
      isDone: boolean
      listed: Listed | null
    }
    const bytes = new Uint8Array(await answer.arrayBuffer())
    ms += performance.now() - startedAt
    if (step.listed) {
      objects.set(step.listed.name, bytes)
      listed.push(step.listed)
      show(listed.length)
    }
    ;({ standing, isDone } = step)
  }
  // The rest comes when the backup is over.
  const rest = recordingsOf(next, total, Date.now)
  if (rest.length > 0) await drill.record('DB', rest)
  meanwhile.push(...(rest.length > 0 ? [rest] : []))
  const manifest = await drill.json<Manifest>('/manifest', { standing, objects: listed })
  const slowest = await drill.json<Slowest>('/slowest')
  const rows = listed.reduce((sum, one) => sum + one.rows, 0)
  const mb = listed.reduce((sum, one) => sum + one.bytes, 0) / 1e6
  const told = `Backup of ${total.toLocaleString('en')} events, of which ${(total - before).toLocaleString('en')} came meanwhile: ${rows.toLocaleString('en')} rows in ${listed.length} objects, ${mb.toFixed(1)} MB, ${(ms / 1000).toFixed(1)} s; a million events: ${((listed.length * 1e6) / total) | 0} objects, ${((mb * 1e6) / total).toFixed(0)} MB, ${((ms * 1e6) / total / 60_000).toFixed(1)} minutes. Longest statement: ${slowest.ms} ms`
  return { manifest, objects, meanwhile, slowest, told }
}

type Backup = Awaited<ReturnType<typeof backUp>>

/** Restores it, after it was refused with a changed object and with a wrong one, and in two parts. */
async function restore(drill: Drill, { manifest, objects }: Backup): Promise<string> {
  const startedAt = performance.now()
  let { left } = await drill.json<{ left: Listed[] }>('/begin', { manifest })
  const show = progress('Restoring, objects', left.length)
  const half = Math.floor(left.length / 2)
  const objectOf = ({ name }: Listed) => objects.get(name) as Uint8Array<ArrayBuffer>
  for (const [i, one] of left.entries()) {
    if (i === half) break
    await drill.ask('/object', objectOf(one))
    show(i)
  }
  const next = left[half] as Listed
  const changed = objectOf(next).slice()
  changed[changed.length >> 1] = (changed[changed.length >> 1] ?? 0) ^ 1
  await refused(drill, changed, 'an object that has changed')
  await refused(drill, objectOf(left[half + 1] as Listed), 'another object in place of one that is missing')
  ;({ left } = await drill.json<{ left: Listed[] }>('/begin', { manifest }))
  if (left[0]?.name !== next.name) fail(`the restore continues with ${left[0]?.name}, not with ${next.name}`)
  for (const [i, one] of left.entries()) {
    await drill.ask('/object', objectOf(one))
    show(half + i + 1)
  }
  const { open, missing } = await drill.json<{ open: number; missing: Record<string, number> }>('/end')
  if (Object.keys(missing).length > 0) fail(`Rows are missing: ${JSON.stringify(missing)}`)
  const slowest = await drill.json<Slowest>('/slowest')
  return `Restored in ${((performance.now() - startedAt) / 1000).toFixed(1)} s, ${open} events open. Longest statement: ${slowest.ms} ms: ${slowest.sql.slice(0, 90)}`
}

async function refused(drill: Drill, bytes: Uint8Array<ArrayBuffer>, what: string): Promise<void> {
  const said = await drill.ask('/object', bytes).then(
    () => null,
    (error: Error) => error.message,
  )
  if (said === null || !said.includes('has changed')) fail(`${what} was not refused: ${said}`)
  console.log(`Refused: ${what} (${said.slice(0, 60)} …)`)
}
