import { beforeAll, describe, expect, it } from 'vitest'
import { MOST_NAMES_LOOKED_AT } from '../../src/db/limits'
import { keysOf } from '../../src/lib/names'
import { insertObjects } from '../billing/rows'
import { as } from '../consumers/consumers'
import { insertLink } from '../consumers/rows'
import {
  call,
  countingD1,
  DIRECTORY,
  freshEmail,
  freshKey,
  freshProject,
  mint,
  type RequestOptions,
  STORE,
  STORES,
  signedIn,
} from '../harness'
import { newWorld, type World } from '../routes/world'

const PADDLE_CUSTOMER = 'ctm_01hv8x29kz0t586xy6zn1a62ny'
const PADDLE_SUBSCRIPTION = 'sub_01hv8x29kz0t586xy6zn1a62ny'

let world: World
let email: string
beforeAll(async () => {
  world = await newWorld()
  const { project, consumer, erased, member } = world
  email = `grace.${freshEmail()}`
  await STORE.batch([
    STORE.prepare("UPDATE consumers SET name = 'Grace Hopper', name_keys = ?, email = ? WHERE id = ?").bind(
      JSON.stringify(keysOf('Grace Hopper')),
      email,
      consumer,
    ),
    STORE.prepare("UPDATE consumers SET metadata = '{}' WHERE id = ?").bind(erased),
  ])
  await DIRECTORY.prepare("UPDATE users SET email = 'colleague.' || email WHERE id = ?").bind(member.user).run()
  await insertLink(project, 'cus_sample')
  // Ids of Paddle look like ours.
  await insertLink(project, PADDLE_CUSTOMER)
  await insertObjects(project, 'subscription', [PADDLE_SUBSCRIPTION])
})

/** Searches as the owner, or as somebody else. @returns what is found, in one line each */
async function search(q: string, options: RequestOptions = {}) {
  const path = `/platform/v1/search?q=${encodeURIComponent(q)}`
  const { status, body, text } = await call(path, { token: world.owner.token, project: world.project, ...options })
  if (status !== 200) throw new Error(text)
  return (body.data as { type: string; id: string }[]).map(({ type, id }) => `${type} ${id}`)
}

const FOUND: [what: string, text: () => string, first: () => string][] = [
  ['the id of a consumer', () => world.consumer, () => `consumer ${world.consumer}`],
  ['the id of an erased consumer', () => world.erased, () => `consumer ${world.erased}`],
  ['an external id', () => 'sample', () => `consumer ${world.consumer}`],
  ['an external id with its mark', () => 'ext:sample', () => `consumer ${world.consumer}`],
  ['the beginning of an external id', () => 'samp', () => `consumer ${world.consumer}`],
  ['a name', () => 'Grace Hopper', () => `consumer ${world.consumer}`],
  ['the beginning of a name, in any case', () => 'gRACE h', () => `consumer ${world.consumer}`],
  ['a last name before the first', () => 'hopper gra', () => `consumer ${world.consumer}`],
  ['as many words as a text can have', () => 'hopper gra '.padEnd(199, 'h g '), () => `consumer ${world.consumer}`],
  ['an email address, in any case', () => email.toUpperCase(), () => `consumer ${world.consumer}`],
  ['the beginning of an email address', () => 'grace.', () => `consumer ${world.consumer}`],
  ['a customer of a vendor', () => 'cus_sample', () => 'customer cus_sample'],
  ['the beginning of a last name', () => 'hOPP', () => `consumer ${world.consumer}`],
  ['a subscription', () => 'sub_sample', () => 'subscription sub_sample'],
  ['a subscription of Paddle’s', () => PADDLE_SUBSCRIPTION, () => `subscription ${PADDLE_SUBSCRIPTION}`],
  ['a customer of Paddle’s', () => PADDLE_CUSTOMER, () => `customer ${PADDLE_CUSTOMER}`],
  ['an invoice', () => 'in_samp', () => 'invoice in_sample'],
  ['a payment method', () => 'pm_sample', () => 'payment_method pm_sample'],
  ['a purchase', () => 'pi_sample', () => 'purchase pi_sample'],
  ['the id of an event', () => world.event, () => `event ${world.event}`],
  ['the id of a replay', () => world.replay, () => `replay ${world.replay}`],
  ['the id of a plan', () => world.plan, () => `plan ${world.plan}`],
  ['a feature', () => 'sea', () => 'feature seats'],
  ['the id of a grant', () => world.grant, () => `grant ${world.grant}`],
  ['the id of a device', () => world.device, () => `device ${world.device}`],
  ['the id of an API key', () => world.key.id, () => `api_key ${world.key.id}`],
  ['the part of a secret that is shown', () => world.key.key_prefix.slice(0, 11), () => `api_key ${world.key.id}`],
  ['the id of a connection', () => world.connection.id, () => `connection ${world.connection.id}`],
  ['a part of the name of a connection', () => 'mac', () => `connection ${world.signed}`],
  ['the id of an import', () => world.running, () => `import ${world.running}`],
  ['the id of a webhook endpoint', () => world.endpoint.id, () => `webhook_endpoint ${world.endpoint.id}`],
  ['the id of a member', () => world.member.user, () => `member ${world.member.user}`],
  ['a part of the address of a member', () => 'colleague', () => `member ${world.member.user}`],
  ['the id of an invitation', () => world.invitation.id, () => `invitation ${world.invitation.id}`],
  ['the address of an invitation', () => world.invitation.email, () => `invitation ${world.invitation.id}`],
  ['the id of a domain', () => world.domain, () => `domain ${world.domain}`],
  ['the id of a connection for single sign-on', () => world.sso.id, () => `sso_connection ${world.sso.id}`],
  ['the id of a project', () => world.project, () => `project ${world.project}`],
]

describe('a search', () => {
  it.each(FOUND)('finds %s first', async (_, text, first) => {
    expect((await search(text()))[0]).toBe(first())
  })

  it('finds a name by any of its words', async () => {
    const { body } = await as(world.project, world.owner.token).put('middle', {
      name: 'Ada Augusta King-Noel Lovelace',
    })
    const found = [`consumer ${body.id}`]
    for (const text of [
      'ada lovelace',
      'Augusta LOVE',
      'lovelace augusta',
      'ada noel lovelace',
      'lovelace ada king',
      'augusta king',
      'noel',
    ])
      expect([text, await search(text)]).toEqual([text, found])
    for (const text of ['grace lovelace', 'lovelace hopper', 'ugusta king'])
      expect([text, await search(text)]).toEqual([text, []])
  })

  it('finds a plan by a vendor’s id of its price or product', async () => {
    const prices = [{ vendor: 'stripe', ref: 'price_found' }]
    const json = { key: 'found', name: 'Found', rank: 1, state: 'active', features: {}, prices }
    const { body } = await call('/platform/v1/billing/plans', {
      method: 'POST',
      json,
      token: world.owner.token,
      project: world.project,
    })
    expect(await search('price_found')).toEqual([`plan ${body.id}`])
    expect(await search('price_foun')).toEqual([])
  })

  it('finds events by the vendor’s id and by an object that they are about, newest first', async () => {
    const { body } = await call(`/platform/v1/billing/webhooks/${world.event}`, {
      token: world.owner.token,
      project: world.project,
    })
    expect(await search(body.vendor_event_id)).toEqual([`event ${world.event}`])
    await STORE.prepare('INSERT OR IGNORE INTO refs (project_id, ref, event_id) VALUES (?, ?, ?)')
      .bind(world.project, 'ref_sample', world.event)
      .run()
    expect(await search('ref_sample')).toEqual([`event ${world.event}`])
  })

  it('finds what a request has changed', async () => {
    const { headers } = await call('/platform/v1/api-keys', {
      method: 'POST',
      token: world.owner.token,
      project: world.project,
      json: { name: 'searched' },
    })
    const request = headers.get('X-Request-Id') ?? ''
    const [entry, ...others] = await search(request)
    expect([entry?.split(' ')[0], others]).toEqual(['audit_entry', []])
    expect(await search(entry?.split(' ')[1] ?? '')).toEqual([entry])
  })

  it('finds the other projects of a user, and of nobody else', async () => {
    const { project, owner } = await freshProject('Lighthouse')
    const { project: own, owner: other } = await freshProject('Lighthouse')
    expect(await search('light', { project, token: owner.token })).toEqual([`project ${project}`])
    expect(await search('light', { project: own, token: other.token })).toEqual([`project ${own}`])
    expect(await search(project, { project: own, token: other.token })).toEqual([])
  })

  it('says what it finds', async () => {
    const { body } = await call('/platform/v1/search?q=grace', { token: world.owner.token, project: world.project })
    expect(body).toEqual({
      data: [
        {
          type: 'consumer',
          id: world.consumer,
          title: 'Grace Hopper',
          detail: email,
          vendor: null,
          consumer_id: null,
          livemode: null,
        },
      ],
      complete: true,
    })
  })

  it.each(['%', '_', "' OR 1=1 --", 'csm_', '\u{10ffff}', 'g%race', 'nobody at all'])(
    'takes %s as a text, which names nothing',
    async (text) => {
      expect(await search(text)).toEqual([])
    },
  )

  it.each([
    ['nothing', '', 'required'],
    ['white space', '%20', 'required'],
    ['a control character', 'a%00b', 'malformed'],
    ['201 characters', 'x'.repeat(201), 'out_of_range'],
    ['a secret', 'svc_v1_'.padEnd(103, 'a'), 'malformed'],
    ['a signing secret', 'whsec_abc', 'malformed'],
    ['a token of a device', 'svc_dv_'.padEnd(71, 'a'), 'malformed'],
  ])('refuses %s', async (_, text, code) => {
    const { status, body } = await call(`/platform/v1/search?q=${text}`, {
      token: world.owner.token,
      project: world.project,
    })
    expect([status, body.errors[0].pointer, typeof code]).toEqual([422, '/q', 'string'])
  })
})

describe('what a caller may not read', () => {
  it('is not found in another project', async () => {
    const { project, owner, secret } = await freshKey()
    for (const [, text] of FOUND)
      for (const token of [owner.token, secret]) {
        const mine = (row: string) => row === `project ${project}`
        expect([text(), (await search(text(), { project, token })).filter((row) => !mine(row))]).toEqual([text(), []])
      }
  })

  it('is not found without its scope', async () => {
    const { secret } = await mint(world.owner.token, world.project, { scopes: ['catalog:read'] })
    const found = new Set<string>()
    for (const [, text] of FOUND)
      for (const row of await search(text(), { token: secret })) found.add(row.split(' ')[0] ?? '')
    expect([...found].sort()).toEqual(['feature', 'plan'])
  })

  it('is no name of a consumer without its scope', async () => {
    const { token } = world.owner
    await as(world.project, token).pin('cus_of_grace', world.consumer)
    const readers = { none: ['billing:read'], both: ['billing:read', 'consumers:read'] }
    const titleFor = async (scopes: string[]) => {
      const { secret } = await mint(token, world.project, { scopes })
      return (await call('/platform/v1/search?q=cus_of_grace', { token: secret, project: world.project })).body.data[0]
        ?.title
    }
    expect([await titleFor(readers.none), await titleFor(readers.both)]).toEqual(['cus_of_grace', 'Grace Hopper'])
  })

  it('is found of a grant with the name of its consumer, or without it', async () => {
    const found = async (scopes: string[]) => {
      const { secret } = await mint(world.owner.token, world.project, { scopes })
      return (await call(`/platform/v1/search?q=${world.grant}`, { token: secret, project: world.project })).body.data
    }
    const { consumer: consumer_id, grant: id } = world
    const of = { type: 'grant', id, title: 'sso', vendor: null, consumer_id, livemode: null }
    expect(await found(['entitlements:read'])).toEqual([{ ...of, detail: null }])
    expect(await found(['entitlements:read', 'consumers:read'])).toEqual([{ ...of, detail: 'Grace Hopper' }])
  })

  it('is not found by somebody who is no member', async () => {
    const { token } = await signedIn()
    const { status } = await call('/platform/v1/search?q=sample', { token, project: world.project })
    expect(status).toBe(403)
  })
})

describe('the cost of a search', () => {
  it('is one trip to each database, and few rows among many consumers', async () => {
    const { project, secret } = await freshKey()
    await STORE.prepare(
      `INSERT INTO consumers (project_id, id, name, email, metadata, state, revision, created_at, updated_at)
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)
        SELECT ?, printf('csm_%026d', i), 'Name ' || i, 'name' || i || '@example.com', '{}', 'active', 1, 1, 1 FROM n`,
    )
      .bind(project)
      .run()
    await search('name', { project, token: secret }) // the key is known from here on
    for (const text of ['name', 'Name 99999', 'name77777@example.com', 'n', 'nobody', '99999 name', '9 name']) {
      const { DB, count } = countingD1()
      await search(text, { project, token: secret, bindings: { DB } })
      const most = text.endsWith(' name') ? 60 + 6 * MOST_NAMES_LOOKED_AT : 60
      expect([text, count.trips, count.rows_read <= most]).toEqual([text, STORES.length === 1 ? 1 : count.trips, true])
    }
  })
})
