import { beforeAll, describe, expect, it } from 'vitest'
import type { RouteEntry } from '../../src/http/openapi'
import { ROLES, type Scope } from '../../src/lib/access'
import { ERRORS, type FaultName } from '../../src/lib/faults'
import { formToken, PAGES, pageIn, visit } from '../console/visit'
import {
  addMember,
  beforeEachCall,
  DIRECTORY,
  drain,
  emptyTables,
  lossyQueue,
  mint,
  signedIn,
  storedTables,
  unconfirm,
} from '../harness'
import { PRODUCERS } from '../http/faults'
import { nameOf, ROUTES } from '../routes/of-app'
import { fieldsIn } from '../routes/row'
import { PAGE_ROWS, ROWS } from '../routes/table'
import { callRoute } from '../routes/walk'
import { newWorld } from '../routes/world'

/*
 * A call that is refused leaves every row of every database as it was: the audit log too. Refused because of who makes it, each
 * is a good request that its route would do for somebody else. The routes, the forms and the faults are those that the app has.
 */

/** A world and the people who try, all before anything is compared. */
async function newCast(first?: (world: Awaited<ReturnType<typeof newWorld>>) => Promise<unknown>) {
  const world = await newWorld()
  await drain([{ project_id: world.project, event_id: world.event }], { EVENTS: lossyQueue().EVENTS })
  const members: Record<string, string> = {}
  for (const role of ROLES) members[role] = (await addMember(world.project, role)).token
  const unconfirmed = await addMember(world.project, 'owner')
  await unconfirm(unconfirmed.user)
  await first?.(world)
  return { world, members, unconfirmed: unconfirmed.token, stranger: (await signedIn()).token }
}
type Cast = Awaited<ReturnType<typeof newCast>>

/** The tables whose rows have changed since they were read. */
function changed(before: Record<string, string>, after: Record<string, string>): string[] {
  return Object.keys(after).filter((table) => after[table] !== before[table])
}

const changing = ROUTES.filter((route) => route.method !== 'GET' && ROWS[nameOf(route)]?.who !== 'public')
const auditOf = (route: RouteEntry) => (ROWS[nameOf(route)] ?? PAGE_ROWS[nameOf(route)])?.audit

let shared: Cast
let seeded: Record<string, string>
beforeAll(async () => {
  seeded = await storedTables()
  shared = await newCast()
})
/** What needs something to have happened before has a world of its own. */
const castOf = (route: RouteEntry) => {
  const first = auditOf(route)?.first
  return first ? newCast(first) : shared
}

describe('a refused call changes nothing', () => {
  /** The credentials that a route refuses. */
  async function refused({ members, unconfirmed, stranger, world }: Cast, route: RouteEntry) {
    const who = ROWS[nameOf(route)]?.who
    if (!who || who === 'public') throw new Error('nobody is refused here')
    const { key, session, scope, confirmed } = who
    const tokens: Record<string, string | null> = { nobody: null }
    if (!key) tokens['a key'] = world.secret
    if (key && scope) tokens['a key without the scope'] = await keyWithout(world, scope)
    if (session === null) return tokens
    tokens['a stranger'] = stranger
    const smaller = session === false ? ROLES : ROLES.slice(0, ROLES.indexOf(session))
    for (const role of smaller) tokens[role] = members[role] ?? ''
    if (confirmed) tokens['an unconfirmed owner'] = unconfirmed
    return tokens
  }

  async function keyWithout({ owner, project }: Cast['world'], scope: Scope): Promise<string> {
    const other: Scope = scope === 'billing:read' ? 'consumers:read' : 'billing:read'
    return (await mint(owner.token, project, { scopes: [other] })).secret
  }

  it.each(changing.map((route) => [nameOf(route), route] as const))('%s', async (name, route) => {
    const cast = await castOf(route)
    const tokens = await refused(cast, route)
    const json = { ...ROWS[name]?.json, ...(name.endsWith('webhooks/replay') && { dry_run: false }) }
    const before = await storedTables()
    for (const [who, token] of Object.entries(tokens)) {
      const { status } = await callRoute(cast.world, route, { token, ...(route.meta.body !== undefined && { json }) })
      expect([who, [401, 403, 404].includes(status) ? 'refused' : status]).toEqual([who, 'refused'])
    }
    expect(changed(before, await storedTables())).toEqual([])
  })
})

describe('a refused form changes nothing', () => {
  const forms = PAGES.filter(
    (page) => page.method === 'POST' && ROLES.indexOf(PAGE_ROWS[nameOf(page)]?.role ?? 'viewer') > 0,
  )

  it.each(forms.map((form) => [nameOf(form), form] as const))('%s', async (name, form) => {
    const { world, members } = await castOf(form)
    const stated = PAGE_ROWS[name]
    const role = ROLES[ROLES.indexOf(stated?.role ?? 'viewer') - 1] ?? 'viewer'
    const token = members[role] ?? ''
    const form_token = await formToken(token)
    const before = await storedTables()
    const { status } = await visit(pageIn(world, form), token, { form: { form_token, ...fieldsIn(world, stated) } })
    expect([role, status]).toEqual([role, 403])
    expect(changed(before, await storedTables())).toEqual([])
  })
})

describe('a form of a session that is not confirmed changes nothing, where its call takes a confirmed one', () => {
  const forms = PAGES.filter((page) => page.method === 'POST' && PAGE_ROWS[nameOf(page)]?.confirmed)

  it.each(forms.map((form) => [nameOf(form), form] as const))('%s', async (name, form) => {
    const { world } = shared
    const { token, user, email } = world.owner
    // All else is right: the session has its second factor.
    await DIRECTORY.prepare('UPDATE sessions SET confirmed_at = 0, second_factor_at = ? WHERE user_id = ?')
      .bind(Date.now(), user)
      .run()
    const form_token = await formToken(token)
    const before = await storedTables()
    const fields = { form_token, email, ...PAGE_ROWS[name]?.fields }
    const { status, headers } = await visit(pageIn(world, form), token, { form: fields })
    const leads = headers.get('Location')?.startsWith('/console/confirm?') ?? false
    expect([status, leads || status >= 400]).toEqual([status, true])
    expect(changed(before, await storedTables())).toEqual([])
  })
})

describe('a call that is refused for what is there changes nothing', () => {
  /** What a refusal may change: counts of what is refused and why, what a check has found, and what another call does meanwhile. */
  const counted = ['minutes']
  const diagnosed = ['diagnoses', ...counted]
  const LEFT: Partial<Record<FaultName, string[]>> = {
    connection_disabled: counted,
    signature_missing: diagnosed,
    signature_malformed: diagnosed,
    signature_mismatch: diagnosed,
    signature_timestamp: diagnosed,
    encryption_key_unavailable: counted,
    vendor_key_unavailable: counted,
    overloaded: [...diagnosed, 'notices'], // so many refused deliveries are told
    invalid_recovery_code: ['account_events'],
    hostname_in_use: ['domains'],
    plan_limit_reached: ['entitlement_keys'], // A project whose plans were made by calls has its key already.
    connection_changed: ['connections'], // The test changes it meanwhile.
    api_key_lacks_permission: ['vendor_endpoints'], // A check keeps its result.
    rotation_conflict: ['api_keys', 'audit_log', 'changes', 'retired_secrets'],
  }

  it.each(Object.entries(PRODUCERS))('%s', async (fault, meet) => {
    let before: Record<string, string> = {}
    const read = async () => {
      before = await storedTables()
    }
    const { status, text } = await beforeEachCall(read, meet)
    expect(status, text).toBe(ERRORS[fault as FaultName].status)
    const after = await storedTables()
    const tables = changed(before, after).map((name) => name.split(' ')[1])
    await emptyTables(seeded)
    expect([...new Set(tables)].sort()).toEqual(LEFT[fault as FaultName] ?? [])
  })
})
