import { expect, it } from 'vitest'
import { cases, countingD1, deliver, drain, lossyQueue, STORE } from '../harness'
import { newWorld, type World } from '../routes/world'
import { CALLS, insertFailed } from './calls'
import { rpc } from './mcp'

/** As many as are looked at at most, of failed events for example. */
const FEW = 1_000
const STEP = 50_000

/** Copies the events of a world, the processed one with what it refers to. */
async function copyEvents({ event, project }: World, failed: string, from: number, until: number) {
  const { results } = await STORE.prepare("SELECT name FROM pragma_table_xinfo('events') WHERE hidden = 0").all()
  const set: Record<string, string> = {
    id: "substr(r.id, 1, length(r.id) - 8) || printf('%08d', n.v)",
    vendor_event_id: "r.vendor_event_id || '_' || n.v",
  }
  const columns = results.map(({ name }) => name as string)
  const values = columns.map((name) => set[name] ?? `r.${name}`)
  const numbers = `WITH RECURSIVE n(v) AS (SELECT ${from} UNION ALL SELECT v + 1 FROM n WHERE v < ${until - 1})`
  await STORE.batch([
    STORE.prepare(
      `${numbers} INSERT INTO events (${columns.join(', ')}) SELECT ${values.join(', ')} FROM (SELECT * FROM events WHERE id IN (?, ?)) r, n`,
    ).bind(event, failed),
    STORE.prepare(
      `${numbers} INSERT INTO refs (project_id, ref, event_id) SELECT ?, 'cus_1', ${set.id} FROM (SELECT ? AS id) r, n`,
    ).bind(project, event),
  ])
}

/** Each tool with its longest answer: its bytes, and the rows that are read for it. */
async function costs({ secret, project, ...world }: World) {
  const all: Record<string, { bytes: number; rows: number }> = {}
  for (const [name, { args, isList }] of Object.entries(CALLS)) {
    const { DB, count } = countingD1()
    const widest = { ...args({ secret, project, ...world }), ...(isList && { status: undefined, limit: 100 }) }
    const caller = { token: secret, project, bindings: { DB } }
    const { text, status, body } = await rpc(caller, 'tools/call', { name, arguments: widest })
    expect([name, status, body.result?.isError]).toEqual([name, 200, undefined])
    all[name] = { bytes: text.length, rows: count.rows_read }
  }
  return all
}

it('answers no more, and reads no more, in a project with a million events than in one with a thousand', async () => {
  const world = await newWorld()
  const { EVENTS } = lossyQueue()
  await drain([{ project_id: world.project, event_id: world.event }], { EVENTS })
  await deliver(world.connection.id, '{}', { secret: 'whsec_another', bindings: { EVENTS } })
  const failed = await insertFailed(world)
  await copyEvents(world, failed, 0, FEW)
  const few = await costs(world)
  for (let n = FEW; n < cases(1_000_000); n += STEP) await copyEvents(world, failed, n, n + STEP)
  const many = await costs(world)
  for (const [name, { bytes, rows }] of Object.entries(few)) {
    const { bytes: most = 0, rows: read = 0 } = many[name] ?? {}
    // Numbers and ids have more digits.
    expect(most, `${name}, not ${bytes} bytes`).toBeLessThanOrEqual(1.05 * bytes + 100)
    expect(read, `${name}, not ${rows} rows`).toBeLessThanOrEqual(1.1 * rows + 10)
  }
})
