import { beforeEach, expect, it } from 'vitest'
import { DAY, MINUTE } from '../../../src/lib/time'
import { advance, stopClock } from '../../clock'
import { addMember, browse, call, countingD1, ORIGIN, type RequestOptions } from '../../harness'
import { insertDomain } from '../rows'
import {
  account,
  activate,
  CONNECTIONS,
  comeBack,
  cookiesOf,
  enforced,
  ssoMember,
  start,
  type Team,
  team,
} from './team'

/** A row that counts the changes of the project on the day. */
const COUNTED = 1

/* What each call costs, as docs/guides/sso.md says: round trips, and rows written, an audit row among them. */

beforeEach(() => {
  stopClock()
})

async function costOf<T>(work: (options: RequestOptions) => Promise<T>) {
  const { DB, count } = countingD1()
  const result = await work({ bindings: { DB } })
  return { result, trips: count.trips, rows: count.rows_written }
}

/** The cost of a call in a session of the owner, without the round trip that reads the session. */
const costIn = (of: Team) => async (method: string, path: string, json?: object) => {
  const caller = { project: of.project, token: of.owner.token }
  const { result, trips, rows } = await costOf((o) => call(`/platform/v1${path}`, { method, ...caller, json, ...o }))
  if (result.status > 299) throw new Error(result.text)
  return { body: result.body, cost: [trips - 1, rows] }
}

/** A browser of Ada's. @returns what a sign-in in it costs, some time after the one before */
function newBrowser(of: Team) {
  let jar: Record<string, string> = {}
  return async ({ after = 0, signedOut = false } = {}) => {
    advance(after)
    await account(of.host, { sub: 'ada', email: `ada@${of.domain}` }, { now: Date.now() })
    if (signedOut) delete jar['__Host-session']
    const begun = await start(`connection=${of.connection}`, jar)
    const back = await browse(begun.url, new URL(ORIGIN).hostname)
    const { result, trips, rows } = await costOf((options) => comeBack(back, begun.jar, options))
    expect(result.headers.get('Location')).toBe('/console')
    jar = { ...begun.jar, ...cookiesOf(result.headers) }
    return [trips, rows]
  }
}

it('of a sign-in', async () => {
  const of = await team()
  const admin = await addMember(of.project, 'admin')
  const begin = async (query: string, jar = {}) => {
    const { trips, rows } = await costOf((options) => start(query, jar, options))
    return [trips, rows]
  }
  const [one, other] = [newBrowser(of), newBrowser(of)]
  expect({
    start: await begin(`connection=${of.connection}`),
    byEmail: await begin(`email=ada@${of.domain}`),
    // The session, and whether it is an owner's.
    bySession: await begin(`connection=${of.connection}`, { '__Host-session': admin.token }),
    first: await one(),
    atOnce: await one({ signedOut: true }),
    later: await one({ signedOut: true, after: 2 * MINUTE }),
    signedIn: await one({ after: 2 * MINUTE }),
    elsewhere: await other({ after: 2 * MINUTE }),
    nextDay: await one({ signedOut: true, after: 2 * DAY }),
  }).toEqual({
    start: [2, 2],
    byEmail: [3, 2],
    bySession: [4, 2],
    // The login; the user, the identity, the audit entry, the member; the session, its event, the browser; the connection.
    first: [2, 1 + (2 + 3 + 1 + COUNTED + 3) + (3 + 2 + 2) + 1],
    atOnce: [2, 1 + (3 + 2)],
    // When the identity and the connection were last used.
    later: [2, 1 + (3 + 2) + (1 + 1)],
    // The session that is replaced, and that event.
    signedIn: [3, 1 + (3 + 2) + (1 + 1) + (1 + 2)],
    // The notice is counted, and the browser noted.
    elsewhere: [2, 1 + (3 + 2) + (1 + 1) + (1 + 2)],
    nextDay: [2, 1 + (3 + 2) + (1 + 1) + 2],
  })
})

it('of connections', async () => {
  const of = await team()
  const ask = costIn(of)
  const domain = await insertDomain(of.project, `second.${of.domain}`)
  const third = await insertDomain(of.project, `third.${of.domain}`)
  const issuer = `https://${of.host}`
  const fields = { audience: 'team', name: 'Acme', issuer, client_id: 'rp', client_secret: 's3cret' }
  const plain = await ask('POST', '/sso/connections', fields)
  const withDomain = await ask('POST', '/sso/connections', { ...fields, domain_ids: [domain] })
  const path = `/sso/connections/${withDomain.body.id}`
  const changed = await ask('PATCH', path, { name: 'Other' })
  const same = await ask('PATCH', path, { domain_ids: [domain] })
  const moved = await ask('PATCH', path, { domain_ids: [third] })
  const read = await ask('GET', '/sso/connections')
  await activate(of.project, of.owner.token, withDomain.body.id)
  const disabled = await ask('POST', `${path}/disable`)
  const activated = await ask('POST', `${path}/activate`)
  const deleted = await ask('DELETE', path)
  expect({
    plain: plain.cost,
    withDomain: withDomain.cost,
    changed: changed.cost,
    same: same.cost,
    moved: moved.cost,
    read: read.cost,
    disabled: disabled.cost,
    activated: activated.cost,
    deleted: deleted.cost,
  }).toEqual({
    // The one more looks whether the encryption key is the right one, until it has been proven.
    plain: [1 + 1, 3 + COUNTED],
    withDomain: [2 + 1, 3 + 2 + COUNTED],
    changed: [2, 2 + COUNTED],
    same: [2, 0],
    moved: [3, 2 + 1 + 2 + COUNTED],
    read: [1, 0],
    disabled: [2, 2 + COUNTED],
    activated: [2, 2 + COUNTED],
    deleted: [1, 2 + 1 + 1 + COUNTED],
  })
})

it('of a test run', async () => {
  const of = await team()
  await account(of.host, { sub: 'ada', email: `ada@${of.domain}` })
  const begun = await costIn(of)('POST', `/sso/connections/${of.connection}/test`)
  const shown = await costOf((options) => call(begun.body.url, options))
  const opened = await costOf((options) => call(`${begun.body.url}?continue`, options))
  const back = await browse(opened.result.headers.get('Location') ?? '', new URL(ORIGIN).hostname)
  const ended = await costOf((options) => comeBack(back, cookiesOf(opened.result.headers), options))
  expect([shown.trips, shown.rows]).toEqual([1, 0])
  expect({ begun: begun.cost, opened: [opened.trips, opened.rows], ended: [ended.trips, ended.rows] }).toEqual({
    begun: [2, 2 + 2 + COUNTED],
    opened: [1, 2],
    ended: [3, 1 + 1 + 1 + 2],
  })
})

it('of identities, of break-glass access, and of enforcing', async () => {
  const of = await team()
  const ada = await ssoMember(of)
  const ask = costIn(of)
  const second = await addMember(of.project, 'owner')
  const listed = await ask('GET', `/sso/identities?user_id=${ada.user}`)
  expect({
    listed: listed.cost,
    removed: (await ask('DELETE', `/sso/identities/${listed.body.data[0].id}`)).cost,
    given: (await ask('PUT', `/members/${second.user}/break-glass`)).cost,
    taken: (await ask('DELETE', `/members/${second.user}/break-glass`)).cost,
  }).toEqual({ listed: [1, 0], removed: [1, 2 + 1], given: [1, 2 + COUNTED], taken: [1, 2 + COUNTED] })

  const { project, owner, sso, connection } = await enforced()
  const set = async (enforce: boolean) => {
    const caller = { method: 'PATCH', project, token: sso.token, json: { enforce } }
    const { trips, rows } = await costOf((options) => call(`${CONNECTIONS}/${connection}`, { ...caller, ...options }))
    return [trips - 1, rows]
  }
  const seen = await costOf((options) => call(CONNECTIONS, { project, token: owner.token, ...options }))
  expect({ seen: [seen.trips - 1, seen.rows], off: await set(false), on: await set(true) }).toEqual({
    seen: [1, 0],
    off: [2, 3 + COUNTED],
    on: [2, 3 + COUNTED],
  })
})
