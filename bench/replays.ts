import { randomBytes } from 'node:crypto'
import { openGenerator, type Recipe, sendOne } from './load.ts'
import type { Database } from './seed.ts'

/** Whoever takes part: where to send its requests, its project, and the database of that. */
export type Party = { url: string; headers: Record<string, string>; project: string; db: Database }

/** Events that each bulk replay processes again: as many as one may. */
const REPLAYED = 1_000
/** How long replays are asked for, one after the other (ms): longer than one takes. */
const REPLAYING_MS = 20_000
/** An event that is not processed after this long (ms) is lost. */
const PATIENCE_MS = 60_000
const LOOK_EVERY_MS = 50

/** A connection of a project, as what sends a new event to it each time. */
async function newSender({ url, headers }: Party): Promise<Recipe> {
  const secret = `whsec_${randomBytes(16).toString('hex')}`
  const body = JSON.stringify({ vendor: 'stripe', name: 'Bench', livemode: true, signing_secret: secret })
  const made = await fetch(`${url}/platform/v1/billing/connections`, { method: 'POST', headers, body })
  if (made.status !== 201) throw new Error(`a connection got ${made.status}: ${await made.text()}`)
  const { id } = (await made.json()) as { id: string }
  return { url: `${url}/ingest/${id}`, method: 'POST', headers: {}, stripe: secret }
}

/** Delivers as many events to a project as one bulk replay may have. Their payloads fill pages of events too. */
export async function deliverEvents(attacker: Party): Promise<void> {
  const sender = await newSender(attacker)
  const generator = openGenerator()
  for (let taken = 0; taken < REPLAYED; ) {
    const { count, failed } = await generator.run({ recipe: sender, ms: 500, connections: 8 })
    if (failed !== null) throw new Error(failed)
    taken += count
  }
  await generator.close()
  await processed(attacker)
}

/**
 * How long events of neighbours take from their delivery until they are processed, at most (ms), while a project asks for bulk
 * replays of its events without a pause, and without that.
 *
 * @returns `replays`: how many of the attacker's were accepted
 */
export async function eventsBeside(attacker: Party, neighbours: Record<'same' | 'other', Party>) {
  const senders = { same: await newSender(neighbours.same), other: await newSender(neighbours.other) }
  const both = async (ms: number) => {
    const until = performance.now() + ms
    const [same, other] = await Promise.all([
      longest(neighbours.same, senders.same, until),
      longest(neighbours.other, senders.other, until),
    ])
    return { same, other }
  }
  const alone = await both(REPLAYING_MS / 4)
  const until = performance.now() + REPLAYING_MS
  const [beside, replays] = await Promise.all([both(REPLAYING_MS), replaying(attacker, until)])
  return { alone, beside, replays }
}

async function replaying({ url, headers }: Party, until: number): Promise<number> {
  let accepted = 0
  while (performance.now() < until) {
    const body = JSON.stringify({ filter: { status: ['processed', 'ignored'] } })
    const { status } = await fetch(`${url}/platform/v1/billing/webhooks/replay`, { method: 'POST', headers, body })
    if (status === 202) accepted += 1
    else if (![409, 429].includes(status)) throw new Error(`a bulk replay got ${status}`)
  }
  return accepted
}

async function longest(party: Party, sender: Recipe, until: number): Promise<number> {
  let most = 0
  while (performance.now() < until) {
    const began = performance.now()
    const wrong = await sendOne(sender)
    if (wrong !== null) throw new Error(wrong)
    await processed(party)
    most = Math.max(most, performance.now() - began)
  }
  return Math.round(most)
}

/** Waits until no event of the project is open. */
async function processed({ db, project }: Party): Promise<void> {
  const open = db.prepare('SELECT 1 FROM events WHERE project_id = ? AND due_at IS NOT NULL LIMIT 1').bind(project)
  const until = performance.now() + PATIENCE_MS
  while ((await open.all()).results.length > 0) {
    if (performance.now() > until) throw new Error(`events of ${project} are not processed`)
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
  }
}
