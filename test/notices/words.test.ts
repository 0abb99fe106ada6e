import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { iso, MINUTE } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { call, freshKey, freshProject, mailbox, mint, ORIGIN, STORE } from '../harness'
import { cron, keepHouse } from '../inbox/pipeline'
import { insertNotice } from './world'

/* What the list, the emails and the console say of each kind of notice, word for word. */

const NOON = Date.parse('2026-11-27T12:00:00Z')
let world: Awaited<ReturnType<typeof freshKey>>
beforeAll(async () => {
  stopClock(NOON)
  await keepHouse() // so that no minute of this hour closes a notice
  world = await freshKey()
})
beforeEach(async () => {
  stopClock(NOON)
  await STORE.prepare('UPDATE notices SET mail_due_at = NULL').run()
})

const KEY = { object: 'api_key', name: 'worker', key_prefix: 'svc_v1_1234…abcd', secret: 'current' }
const FOUND = 'https://github.com/octocat/hello/blob/1/.env'
const HOOK = { url: 'https://a.example/hook', change: 7, status: 500, error: null, answer: 'out of order' }
const WORDS: [kind: string, object: string, facts: object, title: string, says: string, page: string][] = [
  [
    'key_exposed',
    'key_1',
    { ...KEY, ended: true, source: 'commit', url: FOUND },
    'An API key was exposed',
    `The API key worker (svc_v1_1234…abcd) was reported as exposed: others could read its secret. It was revoked. If someone may have used it, also revoke the keys that were rotated with it. It was found at ${FOUND}.`,
    'platform/settings/api-keys/key_1',
  ],
  [
    'key_exposed',
    'key_2',
    { ...KEY, ended: false, source: null, url: null, earlier: 'svc_v1_a…b svc_v1_c…d' },
    'An API key was exposed',
    'The API key worker (svc_v1_1234…abcd) was reported as exposed: others could read its secret. Other secrets were reported earlier: svc_v1_a…b, svc_v1_c…d. It still works, because of the project’s setting for exposed secrets. Replace it.',
    'platform/settings/api-keys/key_2',
  ],
  [
    'key_exposed',
    'dev_1',
    { object: 'device', consumer: 'csm_1', token_prefix: 'svc_dv_1…2', ended: true, source: null, url: null },
    'A device token was exposed',
    'The device dev_1 (svc_dv_1…2) was reported as exposed: others could read its secret. It was revoked.',
    'platform/consumers/csm_1',
  ],
  [
    'key_exposed',
    'dev_2',
    { object: 'device', consumer: 'csm_1', token_prefix: null, ended: false, source: null, url: null },
    'A device token was exposed',
    'The device dev_2 was reported as exposed: others could read its secret. It still works, because of the project’s setting for exposed secrets. Replace it.',
    'platform/consumers/csm_1',
  ],
  [
    'key_expiring',
    'key_3',
    {
      ...{ name: 'worker', key_prefix: 'svc_v1_1…2', expires_at: '2026-12-01T00:00:00Z', days: 7 },
      ...{ last_used_at: '2026-11-26T00:00:00Z', country: 'NO', user_agent: 'curl' },
    },
    'An API key is about to expire',
    'The API key worker (svc_v1_1…2) expires at 2026-12-01T00:00:00Z, and was last used at 2026-11-26T00:00:00Z from NO by curl. Create a new key and deploy it to your servers before then.',
    'platform/settings/api-keys/key_3',
  ],
  [
    'key_expiring',
    'key_4',
    {
      ...{ name: 'worker', key_prefix: 'svc_v1_1…2', expires_at: '2026-12-01T00:00:00Z', days: 1 },
      ...{ last_used_at: '2026-11-26T00:00:00Z', country: null, user_agent: null },
    },
    'An API key is about to expire',
    'The API key worker (svc_v1_1…2) expires at 2026-12-01T00:00:00Z, and was last used at 2026-11-26T00:00:00Z. Create a new key and deploy it to your servers before then.',
    'platform/settings/api-keys/key_4',
  ],
  [
    'connection_degraded',
    'con_1',
    { name: 'Stripe', refused: 20 },
    'A connection refuses every delivery',
    'The connection Stripe refused 20 deliveries in 15 minutes, and accepted none. Check its signing secrets.',
    'platform/billing/connections/con_1',
  ],
  [
    'events_failing',
    'con_2',
    { name: 'Stripe', failed: 10 },
    'Events are failing',
    '10 events from the connection Stripe, received within one hour, could not be processed.',
    'platform/billing/connections/con_2',
  ],
  [
    'format_changed',
    'con_3',
    {
      ...{ name: 'Stripe', version: 'v2', fields: 'subscription.latest_invoice, b, c, d, e', vanished: 7 },
      ...{ words: 'subscription status hibernating', unknown: 1 },
    },
    'The format of a vendor’s events has changed',
    'Events from the connection Stripe have changed (version v2). They no longer have values in: subscription.latest_invoice, b, c, d, e, and 2 more. They contain a value that this service does not recognize: subscription status hibernating. The connection’s page compares them with earlier ones.',
    'platform/billing/connections/con_3#format',
  ],
  [
    'format_changed',
    'con_4',
    {
      ...{ name: 'Stripe', version: null, fields: 'a, b, c, d, e', vanished: 5 },
      ...{ words: 'f, g, h, i, j', unknown: 5 },
    },
    'The format of a vendor’s events has changed',
    'Events from the connection Stripe have changed. They no longer have values in: a, b, c, d, e. They contain 5 values that this service does not recognize: f, g, h, i, j. The connection’s page compares them with earlier ones.',
    'platform/billing/connections/con_4#format',
  ],
  [
    'connection_silent',
    'con_3',
    { name: 'Stripe', since: '2026-11-27T05:00:00Z' },
    'A connection has gone silent',
    'The connection Stripe has accepted no deliveries since 2026-11-27T05:00:00Z. It has not been quiet for this long at this time of the week before. Check in the vendor’s dashboard that its webhook endpoint still exists and is enabled.',
    'platform/billing/connections/con_3',
  ],
  [
    'renewals_missing',
    'paddle',
    { vendor: 'paddle', overdue: 4, due: 20 },
    'Renewals are missing',
    '4 of the 20 paddle subscriptions that should have renewed in the last week are overdue: we have received nothing about them since their period ended. They will soon lose access. Check whether their events were sent, and resend or import what is missing.',
    'platform/billing/subscriptions?overdue=true',
  ],
  [
    'endpoint_failing',
    'whe_1',
    { ...HOOK, failing_since: '2026-11-27T10:00:00.000Z' },
    'A webhook endpoint is failing',
    'https://a.example/hook: when change 7 was sent, the response was 500: “out of order”. No delivery to it has succeeded since 2026-11-27T10:00:00.000Z.',
    'platform/webhook-endpoints/whe_1',
  ],
  [
    'endpoint_disabling',
    'whe_2',
    { ...HOOK, change: 0, status: null, error: 'timeout', answer: '', failing_since: '2026-11-27T10:00:00.000Z' },
    'A webhook endpoint will be disabled',
    'https://a.example/hook: when the message about missing changes was sent, there was no response (timeout). No delivery to it has succeeded since 2026-11-27T10:00:00.000Z. If this continues, it will be disabled within a day, and no more changes will be sent to it.',
    'platform/webhook-endpoints/whe_2',
  ],
  [
    'endpoint_disabled',
    'whe_3',
    { ...HOOK, answer: '', failing_since: null },
    'A webhook endpoint was disabled',
    'https://a.example/hook: when change 7 was sent, the response was 500. We send no more changes to it until you enable it.',
    'platform/webhook-endpoints/whe_3',
  ],
]

const list = (query = '', token = world.secret, project = world.project) =>
  call(`/platform/v1/notices${query}`, { project, token })

describe.each(WORDS)('%s of %s', (kind, object_id, facts, title, says) => {
  it('is listed with its facts and what they mean', async () => {
    const id = await insertNotice(world.project, {
      ...{ kind, object_id, facts: JSON.stringify(facts), mail_due_at: null },
      ...{ opened_at: NOON - MINUTE, mailed_at: NOON - 1 },
    })
    const { body } = await list(`?kind=${kind}`)
    expect(body.data.find((one: { id: string }) => one.id === id)).toEqual({
      ...{ id, kind, object_id, title, description: says, facts },
      ...{ opened_at: iso(NOON - MINUTE), closed_at: null, mailed_at: iso(NOON - 1) },
    })
  })
})

describe('an email', () => {
  /** The email about these notices, the first of which was opened first. */
  async function mailOf(name: string, ...all: Record<string, string>[]) {
    const { project } = await freshProject(name)
    for (const fields of all) {
      await insertNotice(project, fields)
      advance(1) // ids of one millisecond have no order
    }
    const { EMAIL, mails } = mailbox()
    await cron({ EMAIL, SIGN_IN_DELIVERY: 'email' })
    const [mail, another] = mails
    if (!mail || another) throw new Error(`there must be one email: ${mails.length}`)
    return { ...mail, home: `${ORIGIN}/console/p/${project}` }
  }
  const exposed = (facts: object) => ({ kind: 'key_exposed', facts: JSON.stringify({ ...KEY, ended: true, ...facts }) })

  it('about one notice has the time, what it means, and links to the pages where something can be done', async () => {
    const [kind, object_id, facts, title, says, page] = WORDS[0] as (typeof WORDS)[number]
    const { subject, text, home } = await mailOf('Acme', { kind, object_id, facts: JSON.stringify(facts) })
    expect([subject, text]).toEqual([
      title,
      `This is about the project “Acme”.\n\n${title} (2026-11-27 12:00 UTC)\n${says}\n${home}/${page}\n\nSee all notices, and choose which of these emails you get: ${home}/platform/notices\n`,
    ])
  })

  it('about several has each kind in the same words, in the order in which they were opened', async () => {
    const all = WORDS.map(([kind, object_id, facts]) => ({ kind, object_id, facts: JSON.stringify(facts) }))
    const { subject, text, home } = await mailOf('evil.example', ...all)
    const parts = WORDS.map(([, , , title, says, page]) => `${title} (2026-11-27 12:00 UTC)\n${says}\n${home}/${page}`)
    expect(subject).toBe(`${WORDS.length} notices about your project`)
    expect(text).toBe(
      `This is about one of your projects.\n\n${parts.join('\n\n')}\n\nSee all notices, and choose which of these emails you get: ${home}/platform/notices\n`,
    )
  })

  it('names where a secret was found only if that is at GitHub', async () => {
    const urls = [
      [FOUND, true],
      ['https://gist.github.com/octocat/1', true],
      ['https://evil.example/github.com/a', false],
      ['https://github.com.evil.example/a', false],
      ['https://github.com/a?b=c', false],
      ['http://github.com/a', false],
      ['https://xgist.github.com/a', false],
      ['https://github.com/', false],
      ['x https://github.com/a', false],
      ['https://evil.example/?https://github.com/a', false],
    ] as const
    const { text } = await mailOf('Acme', ...urls.map(([url], n) => exposed({ name: `key${n}.`, url })))
    const said = text.split('An API key was exposed').slice(1)
    expect(said.map((part) => / It was found at (.+)\.\n/.exec(part)?.[1] ?? null)).toEqual(
      urls.map(([url, isShown]) => (isShown ? url : null)),
    )
    expect(text).not.toContain('evil')
  })

  it('leaves out each text that was chosen and is an address, and keeps the address of the endpoint', async () => {
    const expiring = {
      name: 'a',
      key_prefix: 'b',
      expires_at: 'c',
      last_used_at: 'd',
      country: 'NO',
      user_agent: 'x.yz',
    }
    const of = (kind: string, facts: object) => ({ kind, facts: JSON.stringify(facts) })
    const { text } = await mailOf(
      'Acme',
      ...['see www.evil', 'evil.example', 'evil．example'].map((name) => exposed({ name, url: null })),
      of('endpoint_disabled', { ...HOOK, answer: 'go to evil.example' }),
      of('endpoint_disabled', { ...HOOK, status: null, error: 'evil.example', answer: '' }),
      of('key_expiring', expiring),
      of('renewals_missing', { vendor: 'evil.example', overdue: 1, due: 2 }),
      of('format_changed', { name: 'a', version: '1.evil', fields: 'b', vanished: 1, words: 'x.evil', unknown: 2 }),
    )
    expect(text.match(/The API key {2}\(svc_v1_1234…abcd\) was reported/g)).toHaveLength(3)
    expect(text).toContain(`${HOOK.url}: when change 7 was sent, the response was 500. We send no more`)
    expect(text).toContain(`${HOOK.url}: when change 7 was sent, there was no response (). We send no more`)
    expect(text).toContain('last used at d from NO. Create')
    expect(text).toContain(
      'have changed. They no longer have values in: b. They contain 2 values that this service does not recognize. The',
    )
    expect(text).not.toMatch(/evil|x\.yz|more\./)
  })
})

describe('the list', () => {
  it('shows each kind to whoever may read its object, and to no other', async () => {
    const { project, owner } = await freshProject()
    for (const [kind, object_id, facts] of WORDS) {
      const row = { kind, object_id, facts: JSON.stringify(facts), mail_due_at: null }
      await insertNotice(project, row)
    }
    const by = {
      'api_keys:read': ['key_expiring', 'key_exposed'],
      'connections:read': ['connection_degraded', 'connection_silent', 'events_failing', 'format_changed'],
      'webhooks:read': ['endpoint_disabled', 'endpoint_disabling', 'endpoint_failing'],
      'billing:read': ['renewals_missing'],
    }
    for (const [scope, kinds] of Object.entries(by)) {
      const { secret } = await mint(owner.token, project, { scopes: [scope] })
      const { body } = await list('?limit=100', secret, project)
      const seen = new Set(body.data.map(({ kind }: { kind: string }) => kind))
      expect([scope, [...seen].sort()]).toEqual([scope, kinds])
    }
  })

  it('has the newest first, page by page, of its project alone, open or closed', async () => {
    const { project, owner } = await freshProject()
    const beside = await freshProject()
    await insertNotice(beside.project, { mail_due_at: null })
    const ids: string[] = []
    for (let n = 0; n < 5; n++) {
      stopClock(NOON + n)
      ids.unshift(await insertNotice(project, { mail_due_at: null, closed_at: n % 2 === 0 ? null : NOON }))
    }
    const walk = async (query: string) => {
      const found: string[] = []
      for (let cursor = ''; ; ) {
        const { body } = await list(`?limit=2${query}${cursor}`, owner.token, project)
        found.push(...body.data.map(({ id }: { id: string }) => id))
        if (!body.has_more) return found
        cursor = `&cursor=${body.next_cursor}`
      }
    }
    expect(await walk('')).toEqual(ids)
    expect(await walk('&open=true')).toEqual([ids[0], ids[2], ids[4]])
    expect(await walk('&open=false')).toEqual([ids[1], ids[3]])
    const { body } = await list('?limit=2', owner.token, project)
    const other = await list(`?limit=2&open=true&cursor=${body.next_cursor}`, owner.token, project)
    expect([other.status, other.body.code]).toEqual([400, 'invalid_cursor'])
    expect((await list('?open=maybe', owner.token, project)).status).toBe(422)
    expect((await list('?kind=unheard_of', owner.token, project)).status).toBe(422)
  })
})
