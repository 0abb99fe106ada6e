import { beforeAll, expect, it } from 'vitest'
import { WALK_HOURS } from '../../src/inbox/renewals/limits'
import { HOUR, iso, SECOND } from '../../src/lib/time'
import { advance, setClock, stopClock } from '../clock'
import { ofCustomer } from '../consumers/events'
import { entitlementWorld, sellPlans } from '../entitlements/world'
import { addMember, call, DIRECTORY, everyD1, invited, KEYS, mint, stripeEvent, tampered } from '../harness'
import { keepHouse, newWorld, settle, type World } from '../inbox/pipeline'
import { end, RESTORABLE } from '../projects/ending'
import { arrived, comeBack, customersWorld, newDomain, open, type SignedIn } from '../sso/customers'

/* What a statement reads that belongs to others: with a scan, it would slow down with every project of a store. */

/**
 * Tables that the cron may read whole: small ones, such as a day's refreshes, the watchers (one in a project) or the endpoints (ten in a
 * project at most), and those of which it takes a bounded part.
 */
const READ_WHOLE = [
  'changes_epoch',
  'connections',
  'd1_migrations',
  'entitlement_keys',
  'payloads',
  'progress',
  'renewal_counts',
  'state',
  'totals',
  'vendor_asks',
  'vendor_keys',
  'vendor_runs',
  'watchers',
  'webhook_endpoints',
]

let tables: Set<string>
beforeAll(async () => {
  stopClock()
  const { results } = await DIRECTORY.prepare("SELECT name FROM sqlite_master WHERE type = 'table'").all<{
    name: string
  }>()
  tables = new Set(results.map(({ name }) => name))
})

/** The tables that statements of a piece of work scan, by the plans that SQLite makes for them. */
async function scannedBy(work: (DB: D1Database) => Promise<unknown>): Promise<string[]> {
  const seen: { sql: string; values: unknown[]; real: D1Database }[] = []
  const DB = everyD1((real) =>
    tampered(real, ({ sql, values, run }) => {
      seen.push(...sql.split(';\n').map((one, i) => ({ sql: one, values: values[i] ?? [], real })))
      return run()
    }),
  )
  await work(DB)
  const scanned = new Set<string>()
  for (const { sql, values, real } of seen) {
    const aliases = new Map([...sql.matchAll(/"(\w+)" "(\w+)"/g)].map(([, table, alias]) => [alias, table]))
    const plan = await real
      .prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .bind(...values)
      .all<{ detail: string }>()
    for (const { detail } of plan.results) {
      const name = /^SCAN (\w+)/.exec(detail)?.[1]
      const table = aliases.get(name) ?? name
      if (table && tables.has(table)) scanned.add(table)
    }
  }
  return [...scanned].sort()
}

/** A member of a project with a key, which was rotated once. */
async function keyHolder({ project, owner }: World) {
  const member = await addMember(project, 'admin')
  const { key } = await mint(member.token, project)
  await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', project, token: owner.token })
  return member
}

it('finds the scan of a statement that has one', async () => {
  const scanning = (DB: D1Database) => DB.prepare('SELECT name FROM "projects" "p" WHERE name = ?').bind('x').all()
  expect(await scannedBy(scanning)).toEqual(['projects'])
})

it('nothing is scanned to list keys, to remove a member with their keys, or to delete an account', async () => {
  const world = await newWorld()
  const { project, owner } = world
  const [removed, erased] = [await keyHolder(world), await keyHolder(world)]
  await invited(project, { email: erased.email })
  const by = (token: string, method: string, path: string) => (DB: D1Database) =>
    call(path, { method, token, project, bindings: { DB } })
  expect(await scannedBy(by(owner.token, 'GET', KEYS))).toEqual([])
  const member = `/platform/v1/members/${removed.user}?revoke_keys=true`
  expect(await scannedBy(by(owner.token, 'DELETE', member))).toEqual([])
  expect(await scannedBy(by(erased.token, 'DELETE', '/auth/user?revoke_keys=true'))).toEqual([])
})

it('nothing is scanned to sign a consumer in, or to erase it', async () => {
  stopClock()
  const domain = newDomain()
  const { authorize, token, connection, consumers } = await customersWorld({ domains: [domain] })
  const ada = { subject: 'ada', email: `ada@${domain}`, email_verified: true }
  let consumer = ''
  const signIn = (asked: object) => async (DB: D1Database) => {
    const { body } = await authorize(asked, { bindings: { DB } })
    const at = await open(body.url)
    const { code = '' } = arrived(await comeBack(at, ada, { bindings: { DB } }))
    const answer = await token(code, {}, { bindings: { DB } })
    consumer = (answer.body as unknown as SignedIn).consumer.id
  }
  const byEmail = { connection_id: undefined, email: ada.email }
  expect(await scannedBy(signIn({ connection_id: connection.id }))).toEqual([])
  expect(await scannedBy(signIn(byEmail))).toEqual([])
  expect(await scannedBy((DB) => consumers.erase(consumer, { bindings: { DB } }))).toEqual([])
})

it('no move of a customer is scanned to ask what a consumer was allowed to do at a time', async () => {
  const world = await entitlementWorld()
  await sellPlans(world)
  await world.consumers.put('ada')
  await world.deliver(ofCustomer('cus_a', 'ada'))
  await world.deliver(ofCustomer('cus_a', 'grace', 1))
  const path = `/consumers/ext:ada/entitlements?at=${iso(Date.now())}`
  expect(await scannedBy((DB) => world.ask('GET', path, { bindings: { DB } }))).not.toContain('customer_moves')
})

it('the cron scans only what is small or read in parts, also while it removes a project', async () => {
  const world = await newWorld()
  await world.send(stripeEvent())
  await settle(world)
  await keyHolder(world)
  await invited(world.project)
  await end(world)
  // The hour of a walk over the subscriptions, some time later.
  const walk = WALK_HOURS * HOUR
  setClock(Math.ceil((Date.now() + RESTORABLE + SECOND) / walk) * walk)
  const removing = async (DB: D1Database) => {
    await keepHouse({ DB })
    advance(HOUR)
    await keepHouse({ DB })
  }
  expect((await scannedBy(removing)).filter((table) => !READ_WHOLE.includes(table))).toEqual([])
})
