import { describe, expect, it } from 'vitest'
import { livesOf, randomFrom, shuffled } from '../billing/lives'
import { advance, stopClock } from '../clock'
import { cases, stripeEvent, tamperedD1 } from '../harness'
import { settle } from '../inbox/pipeline'
import { fail } from '../inbox/pipeline/faults'
import { follow, newWorld, type World } from './world'

/* Readers beside writers that race, are rolled back and are killed. */

describe('a reader of the feed', () => {
  it('sees each change once and in order, beside writers of which some are rolled back', async () => {
    const world = await newWorld()
    const rounds = cases(20)
    let rolledBack = 0
    let writing = true
    const write = async (writer: number) => {
      for (let i = 0; i < rounds; i++) {
        await world.put(`consumers/ext:${writer}-${i}`, { name: `${i}` })
        // Of those that take the same id, one is committed and the others fail with their batch.
        const { status } = await world.post('consumers', { external_id: `shared-${i}` })
        if (status === 409) rolledBack += 1
      }
    }
    const seen: number[] = []
    const read = async () => {
      let position = ''
      for (let last = false; !last; ) {
        last = !writing
        await scheduler.wait(20) // a key has 3,000 calls a minute
        const page = await follow(world, { after: position, limit: 7 })
        seen.push(...page.found.map(({ number }) => number))
        position = page.position
      }
    }
    const reading = read()
    await Promise.all(Array.from({ length: 12 }, (_, writer) => write(writer)))
    writing = false
    await reading
    const { found } = await follow(world)
    expect(found.filter(({ type }) => type === 'consumer.created')).toHaveLength(13 * rounds)
    expect(rolledBack).toBe(11 * rounds)
    expect(seen).toEqual(Array.from({ length: found.length }, (_, i) => i + 1))
  })

  it('is told exactly the fields that look different, also when an event settles what others left open', async () => {
    for (let seed = 1; seed <= cases(12); seed++) {
      const world = await newWorld('key')
      let { position } = await follow(world)
      const random = randomFrom(seed)
      const looks = new Map<string, Row>()
      const all = livesOf(seed, 2).flatMap(({ kind, id, events }) =>
        events.map((event) => ({ ...event, kind, of: id })),
      )
      for (const { id, type, created, object, previous, kind, of } of shuffled(all, random)) {
        const data = { object, ...(previous && { previous_attributes: previous }) }
        await world.send({ ...stripeEvent(type), id, created, data })
        await world.queue.pump()
        const page = await follow(world, { after: position, types: 'subscription.*,invoice.*' })
        position = page.position
        const { body } = await world.get(`${LISTS[kind]}/${of}`)
        const [before, after] = [looks.get(of) ?? {}, body as Row]
        const differing = Object.keys(after).filter(
          (name) => JSON.stringify(before[name] ?? null) !== JSON.stringify(after[name] ?? null),
        )
        const named = page.found.flatMap(({ fields }) => fields ?? [])
        expect([seed, ...differing.filter((name) => !FRAME.includes(name)).sort()]).toEqual([seed, ...named.toSorted()])
        looks.set(of, after)
      }
    }
  })

  it('that reads what it is told of ends with the rows of the lists, with servers killed on the way', async () => {
    const done = { kills: 0, changes: 0 }
    for (let seed = 1; seed <= cases(10); seed++) {
      const { kills, changes } = await mirrored(seed)
      done.kills += kills
      done.changes += changes
    }
    expect(done.kills).toBeGreaterThan(10 * cases(10))
    expect(done.changes).toBeGreaterThan(100 * cases(10))
  })
})

/** What an object has beside its own fields, and the former names of two fields of invoices. */
const FRAME = 'id vendor ambiguous incomplete source_event_id due_date hosted_invoice_url'.split(' ')

/** The kinds of objects that are copied, with the paths of their lists. */
const LISTS = {
  subscription: 'billing/subscriptions',
  invoice: 'billing/invoices',
  payment_method: 'billing/payment-methods',
  consumer: 'consumers',
} as const
type Kind = keyof typeof LISTS
type Row = Record<string, unknown>

const nameOf = (kind: Kind, { id, vendor }: Row) => (kind === 'consumer' ? String(id) : `${vendor}/${id}`)

async function listAll(world: World, kind: Kind): Promise<Map<string, Row>> {
  const rows = new Map<string, Row>()
  for (let cursor = ''; ; ) {
    const { body } = await world.get(`${LISTS[kind]}?limit=100${cursor && `&cursor=${cursor}`}`)
    for (const row of body.data) rows.set(nameOf(kind, row), row)
    if (!body.next_cursor) return rows
    cursor = body.next_cursor
  }
}

/** A copy of the lists that only the feed keeps up with them. */
async function newMirror(world: World) {
  const copies = new Map<Kind, Map<string, Row>>()
  let position = (await world.changes('?after=latest')).body.next
  for (const kind of Object.keys(LISTS) as Kind[]) copies.set(kind, await listAll(world, kind))

  async function copy(kind: string, id: string, vendor: string | null) {
    const rows = copies.get(kind as Kind)
    if (!rows) return
    const { status, body } = await world.get(`${LISTS[kind as Kind]}/${id}${vendor ? `?vendor=${vendor}` : ''}`)
    // A merged consumer has no page of its own any more.
    const merged = body.code === 'consumer_merged'
    expect(merged ? 200 : status).toBe(200)
    // What a list does not show.
    const { customers: _, devices: __, ...row } = body as Row
    rows.set(merged ? id : nameOf(kind as Kind, row), merged ? { state: 'merged' } : row)
  }
  /** Reads a page and what it names. A kill loses the position that would have been noted at its end. */
  async function step(killed: () => boolean): Promise<{ more: boolean; read: number }> {
    const { body } = await world.changes(`?after=${position}&limit=9`)
    for (const { object, type, consumer_id } of body.data) {
      if (killed()) return { more: true, read: 0 }
      await copy(object.type, object.id, object.vendor)
      if (type === 'consumer.merged') await copy('consumer', consumer_id ?? '', null)
    }
    position = body.next
    return { more: body.has_more, read: body.data.length }
  }
  return { copies, step }
}

/** Plays the history of a seed beside a mirror, with kills of both, and compares the mirror with the lists at the end. */
async function mirrored(seed: number): Promise<{ kills: number; changes: number }> {
  stopClock()
  const random = randomFrom(seed)
  const world = await newWorld('key')
  const mirror = await newMirror(world)
  let kills = 0
  let changes = 0
  const hit = (chance: number) => {
    const is = random() < chance
    if (is) kills += 1
    return is
  }
  const DB = tamperedD1((trip) => (hit(0.06) ? fail(trip, random() < 0.5 ? 'before' : 'after') : trip.run()))
  const pick = () => `ext:${Math.floor(random() * 6)}`
  const acts = [
    () => world.put(`consumers/${pick()}`, { name: `${random()}` }),
    () => world.patch(`consumers/${pick()}`, { metadata: { a: `${random()}` } }),
    () => world.post(`consumers/${pick()}/block`, {}),
    () => world.post(`consumers/${pick()}/unblock`, {}),
    () => world.post(`consumers/${pick()}/merge`, { into: pick() }),
  ]
  const events = livesOf(seed, 12).flatMap(({ events }) => events)
  for (const { id, type, created, object, previous } of shuffled(events, random)) {
    const data = { object, ...(previous && { previous_attributes: previous }) }
    await world.send({ ...stripeEvent(type), id, created, data })
    await acts[Math.floor(random() * acts.length)]?.()
    if (random() < 0.3) await world.queue.pump({ DB })
    if (random() < 0.3) changes += (await mirror.step(() => hit(0.05))).read
    advance(1000)
  }
  await settle(world)
  for (let more = true; more; ) {
    const page = await mirror.step(() => hit(0.02))
    changes += page.read
    more = page.more
  }
  for (const [kind, copies] of mirror.copies) {
    const rows = await listAll(world, kind)
    expect([kind, ...copies.keys()].sort()).toEqual([kind, ...rows.keys()].sort())
    for (const [name, row] of rows) expect(copies.get(name)).toEqual(row.state === 'merged' ? { state: 'merged' } : row)
  }
  return { kills, changes }
}
