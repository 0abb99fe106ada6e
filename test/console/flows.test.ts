import { beforeAll, describe, expect, it } from 'vitest'
import { hexDump, indented } from '../../src/console/pages/events/payload'
import { duration, money, relative } from '../../src/console/ui/format'
import {
  call,
  countingD1,
  deliver,
  freshProject,
  lossyQueue,
  mint,
  ORIGIN,
  settled,
  signedIn,
  stripeConnection,
  stripeEvent,
} from '../harness'
import { formToken, submit, visit } from './visit'

const NEXT_YEAR = new Date(Date.now() + 400 * 86_400_000).toISOString().slice(0, 10)

/** Signs in by the forms, with the code from the mail. */
async function signInByForm(next?: string) {
  const mails: { text: string }[] = []
  const bindings = { EMAIL: { send: async (mail: any) => void mails.push(mail) } as any, SIGN_IN_DELIVERY: 'email' }
  const email = `person-${Math.random().toString(36).slice(2)}@example.com`
  const asked = await visit('/console/sign-in', null, { form: { email, ...(next && { next }) }, bindings })
  const challenge = /name="challenge" value="([^"]+)"/.exec(asked.text)?.[1] ?? ''
  const code = /code is ([0-9A-Z]{8})/.exec(mails[0]?.text ?? '')?.[1] ?? ''
  const kept = /name="next" value="([^"]*)"/.exec(asked.text)?.[1] ?? ''
  const form = { email, challenge, code, next: kept }
  return { form, email, asked, redeem: () => visit('/console/sign-in/code', null, { form }) }
}

describe('signing in', () => {
  it('sets a cookie that is this origin’s alone, and is the same session as the API’s', async () => {
    const { redeem, email } = await signInByForm()
    const answer = await redeem()
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, '/console'])
    const cookie = answer.headers.get('Set-Cookie') ?? ''
    expect(cookie).toMatch(
      /^__Host-session=svc_cs_[0-9a-f]{64}; Max-Age=604800; Path=\/; HttpOnly; Secure; SameSite=Lax$/,
    )
    const token = /svc_cs_[0-9a-f]{64}/.exec(cookie)?.[0] ?? ''
    expect((await call('/auth/sessions/current', { token })).body.user.email).toBe(email)
    expect((await visit('/console', token)).text).toContain(email)
  })

  it('takes a code once, and says so beside the field', async () => {
    const { redeem } = await signInByForm()
    expect((await redeem()).status).toBe(303)
    const again = await redeem()
    expect(again.status).toBe(401)
    expect(again.text).toContain('The code is wrong, spent or expired.')
    expect(again.headers.get('Set-Cookie')).toBeNull()
  })

  it('says what is wrong with an address, and keeps it', async () => {
    const answer = await visit('/console/sign-in', null, { form: { email: 'nobody' } })
    expect(answer.status).toBe(422)
    expect(answer.text).toContain('value="nobody"')
    expect(answer.text).toContain('aria-invalid="true"')
  })

  it.each([
    ['/console/sessions', '/console/sessions'],
    ['/console/p/x?a=b', '/console/p/x?a=b'],
    ['https://evil.example/console', '/console'],
    ['//evil.example/console', '/console'],
    ['/console/../platform/v1/api-keys', '/console'],
    ['/console.evil.example', '/console'],
    ['/console\\@evil.example', '/console'],
    ['\\\\evil.example', '/console'],
    ['javascript:alert(1)', '/console'],
  ])('goes on to %s as %s', async (next, target) => {
    const { redeem } = await signInByForm(next)
    expect((await redeem()).headers.get('Location')).toBe(target)
  })

  it('refuses a form from another site', async () => {
    for (const headers of [{ Origin: 'https://evil.example' }, { 'Sec-Fetch-Site': 'cross-site' }]) {
      const answer = await visit('/console/sign-in', null, { form: { email: 'a@example.com' }, headers })
      expect(answer.status).toBe(403)
    }
    const bare = await call('/console/sign-in', {
      method: 'POST',
      body: new URLSearchParams({ email: 'a@example.com' }),
    })
    expect(bare.status).toBe(403)
  })

  it('is limited as the API is', async () => {
    const headers = { 'CF-Connecting-IP': '2001:db8:ffff::1' }
    const statuses: number[] = []
    for (let i = 0; i < 14; i++) {
      statuses.push(
        (await visit('/console/sign-in/code', null, { form: { challenge: 'x', code: 'y' }, headers })).status,
      )
    }
    expect(statuses).toContain(429)
  })

  it('leaves the plane as it is: a cookie is no credential there', async () => {
    const { project, owner } = await freshProject()
    const headers = { Cookie: `__Host-session=${owner.token}` }
    for (const path of ['/platform/v1/projects', '/platform/v1/api-keys', '/auth/sessions']) {
      expect((await call(path, { project, headers })).body.code).toBe('missing_credentials')
    }
  })

  it('signs out: the token is dead, and the cookie is gone', async () => {
    const { token } = await signedIn()
    const answer = await submit('/console/sign-out', token)
    expect(answer.headers.get('Set-Cookie')).toContain('Max-Age=0')
    expect((await call('/auth/sessions/current', { token })).status).toBe(401)
    const after = await visit('/console/sessions', token)
    expect(after.headers.get('Location')).toBe('/console/sign-in?next=%2Fconsole%2Fsessions')
  })

  it('ends another of one’s sessions, and nobody else’s', async () => {
    const mine = await signedIn()
    const theirs = await signedIn()
    const { body } = await call('/auth/sessions', { token: theirs.token })
    expect((await submit(`/console/sessions/${body.data[0].id}/end`, mine.token)).status).toBe(404)
    expect((await call('/auth/sessions/current', { token: theirs.token })).status).toBe(200)
  })
})

describe('API keys, by forms alone', () => {
  let project: string
  let token: string
  let keys: string
  beforeAll(async () => {
    const made = await freshProject()
    project = made.project
    token = made.owner.token
    keys = `/console/p/${project}/platform/settings/api-keys`
  })
  const mintByForm = async (fields: Record<string, string>) => {
    const form = new URLSearchParams({ form_token: await formToken(token), scope: 'billing:read', ...fields })
    form.append('scope', 'api_keys:read')
    return visit(keys, token, { form })
  }
  const secretIn = (text: string) => /svc_v1_[0-9a-f]{96}/.exec(text)?.[0] ?? ''

  it('teaches where there is none', async () => {
    const { text } = await visit(keys, token)
    expect(text).toContain(`curl ${ORIGIN}/platform/v1/projects`)
  })

  it('mints, rotates and revokes; the secret is in one answer alone', async () => {
    const minted = await mintByForm({ name: 'By form', expires: '30' })
    expect(minted.status).toBe(201)
    const first = secretIn(minted.text)
    const listed = await call('/platform/v1/api-keys', { token, project })
    const [key] = listed.body.data
    expect(key).toMatchObject({ name: 'By form', scopes: ['billing:read', 'api_keys:read'] })
    expect(Date.parse(key.expires_at) - Date.now()).toBeGreaterThan(29 * 86_400_000)
    const list = await visit(keys, token)
    expect(list.text).toContain('By form')
    expect(list.text).not.toContain(first)

    expect((await call('/platform/v1/api-keys', { token: first, project })).status).toBe(200)
    const question = await visit(`${keys}/${key.id}/rotate`, token)
    expect(question.text).toContain('It was last used')
    const rotated = await submit(`${keys}/${key.id}/rotate`, token)
    const second = secretIn(rotated.text)
    expect((await call('/platform/v1/api-keys', { token: first, project })).body.code).toBe('key_rotated')
    expect((await call('/platform/v1/api-keys', { token: second, project })).status).toBe(200)

    const revoked = await submit(`${keys}/${key.id}/revoke`, token)
    expect(revoked.headers.get('Location')).toBe(`${keys}?done=key_revoked`)
    expect((await call('/platform/v1/api-keys', { token: second, project })).body.code).toBe('key_revoked')
    const { body } = await call('/platform/v1/audit-log', { token, project })
    expect(body.data.map((row: any) => row.action)).toEqual(
      expect.arrayContaining(['api_key.minted', 'api_key.rotated', 'api_key.revoked']),
    )
  })

  it.each([
    ['a date alone', { on: NEXT_YEAR }, `${NEXT_YEAR}T23:59:59.999Z`, `${NEXT_YEAR} 23:59:59 UTC`],
    ['a chosen date', { expires: 'date', on: NEXT_YEAR }, `${NEXT_YEAR}T23:59:59.999Z`, `${NEXT_YEAR} 23:59:59 UTC`],
    ['no date', { expires: '', on: '' }, null, 'never expires'],
  ])('takes %s as the end of a key, and says it beside the secret', async (_, fields, expires_at, said) => {
    const minted = await mintByForm({ name: 'Ends', ...fields })
    expect([minted.status, minted.text.includes(said)]).toEqual([201, true])
    const { body } = await call('/platform/v1/api-keys/self', { token: secretIn(minted.text), project })
    expect(body.key.expires_at).toBe(expires_at)
  })

  it.each([
    [{ name: '' }, 'must not be empty'],
    [{ name: 'x'.repeat(101) }, 'at most 100 characters'],
    [{ name: 'Kept', scope: 'everything' }, 'Choose at least one scope'],
    [{ name: 'Kept', expires: 'date', on: '' }, 'Pick the date'],
    [{ name: 'Kept', expires: 'date', on: '2001-01-01' }, 'must be in the future'],
    [{ name: 'Kept', expires: '-5' }, 'must be in the future'],
    [{ name: 'Kept', expires: '', on: '2001-01-01' }, 'must be in the future'],
    [{ name: 'Kept', expires: '', on: 'soon' }, 'Pick the date'],
    [{ name: 'Kept', expires: '30', on: '2001-01-01' }, 'Clear the date'],
  ])('says what is wrong with %o, and keeps what was entered', async (fields, message) => {
    const answer = await mintByForm(fields)
    expect(answer.status).toBe(422)
    expect(answer.text.toLowerCase()).toContain(message.toLowerCase())
    expect(answer.text).toContain(`value="${fields.name}"`)
    expect(secretIn(answer.text)).toBe('')
  })
})

describe('webhooks, by forms alone', () => {
  it('connects a vendor, adds and removes secrets, renames, disables and deletes', async () => {
    const { project, owner } = await freshProject()
    const connections = `/console/p/${project}/platform/billing/connections`
    const wrong = await submit(connections, owner.token, {
      vendor: 'stripe',
      name: 'Kept',
      livemode: 'true',
      signing_secret: 'nonsense',
    })
    expect([wrong.status, wrong.text.includes('value="Kept"'), wrong.text.includes('nonsense')]).toEqual([
      422,
      true,
      false,
    ])
    const made = await submit(connections, owner.token, {
      vendor: 'stripe',
      name: 'S',
      livemode: 'true',
      signing_secret: 'whsec_0123456789',
    })
    const at = made.headers.get('Location') ?? ''
    const id = at.split('/').at(-1) ?? ''
    expect((await visit(at, owner.token)).text).toContain(`${ORIGIN}/ingest/${id}`)
    await submit(`${at}/secrets`, owner.token, { signing_secret: 'whsec_987654329876543210' })
    const read = async () =>
      (await call(`/platform/v1/billing/connections/${id}`, { token: owner.token, project })).body
    const [first] = (await read()).secrets
    await submit(`${at}/secrets/${first.id}/remove`, owner.token)
    expect((await read()).secrets.map(({ hint }: any) => hint)).toEqual(['3210'])
    await submit(at, owner.token, { name: 'Renamed' })
    await submit(at, owner.token, { status: 'disabled' })
    expect(await read()).toMatchObject({ name: 'Renamed', status: 'disabled' })
    await submit(`${at}/delete`, owner.token)
    expect((await visit(at, owner.token)).status).toBe(404)
  })

  it('says what each vendor calls its secret, and names vendors as they write themselves', async () => {
    const { project, owner } = await freshProject()
    const connections = `/console/p/${project}/platform/billing/connections`
    const form = (await visit(`${connections}/new`, owner.token)).text
    for (const said of ['public_key:private_key', 'user:password', '>Standard Webhooks<', '>RevenueCat<', '>Stripe<']) {
      expect(form).toContain(said)
    }
    const fields = { vendor: 'gocardless', name: 'Debits', livemode: 'false', signing_secret: 'a-secret-of-theirs' }
    const at = (await submit(connections, owner.token, fields)).headers.get('Location') ?? ''
    const { text } = await visit(at, owner.token)
    expect(text).toContain('Give this address to GoCardless')
    expect(text).toContain('A GoCardless webhook endpoint secret is')
    expect(text).not.toContain('public_key')
    expect((await visit(connections, owner.token)).text).toContain('>GoCardless<')
  })

  it('leads from an event to its customer and subscription, and says by name who replayed it', async () => {
    const { project, owner } = await freshProject()
    const connection = await stripeConnection(owner.token, project)
    const object = { id: 'sub_1', object: 'subscription', customer: 'cus_1', status: 'active' }
    const event = (await deliver(connection.id, stripeEvent('customer.subscription.updated', object))).body.event_ids[0]
    await settled(project, owner.token, event)
    const parent = { type: 'subscription_details', subscription_details: { subscription: 'sub_2' } }
    const invoice = { id: 'in_1', object: 'invoice', customer: 'cus_1', parent, status: 'open' }
    const other = (await deliver(connection.id, stripeEvent('invoice.created', invoice))).body.event_ids[0]
    await settled(project, owner.token, other)
    const { secret } = await mint(owner.token, project, { name: 'Nightly <job>' })
    for (const token of [secret, owner.token]) {
      await call(`/platform/v1/billing/webhooks/${event}/replay`, { method: 'POST', token, project })
      await settled(project, owner.token, event)
    }
    const events = `/console/p/${project}/platform/billing/webhooks`
    const subscriptions = `/console/p/${project}/platform/billing/subscriptions`
    const { text } = await visit(`${events}/${event}`, owner.token)
    expect(text).toContain(`href="${subscriptions}?customer=cus_1"`)
    expect(text).toContain(`href="${subscriptions}/sub_1?vendor=stripe"`)
    expect(text).toContain('Nightly &lt;job&gt;')
    expect(text).toContain(`<td data-label="By">${owner.email}`)
    expect(text).not.toMatch(/>\d{4}-\d\d-\d\dT/)
    // A subscription that no event has told of has no page to lead to.
    const without = (await visit(`${events}/${other}`, owner.token)).text
    expect(without).toContain('<dd>sub_2</dd>')
    expect(without).not.toContain('sub_2?vendor')
  })

  it('searches as the API does, and replays what it finds', async () => {
    const { project, owner } = await freshProject()
    const connection = await stripeConnection(owner.token, project)
    const ids: string[] = []
    for (const type of ['invoice.paid', 'invoice.paid', 'customer.created']) {
      const { body } = await deliver(connection.id, stripeEvent(type))
      await settled(project, owner.token, body.event_ids[0])
      ids.push(body.event_ids[0])
    }
    const events = `/console/p/${project}/platform/billing/webhooks`
    const rows = (text: string) => [...text.matchAll(/<tr id="(evt_\w+)"/g)].map(([, id]) => id)
    expect(rows((await visit(events, owner.token)).text)).toEqual(ids.toReversed())
    const search = '?event_type=invoice.*&vendor=stripe&status=processed&received_after=2020-01-01T00:00&ref='
    expect(rows((await visit(events + search, owner.token)).text)).toEqual([ids[1], ids[0]])
    const asc = await visit(`${events}?order=asc`, owner.token)
    expect(rows(asc.text)).toEqual(ids)
    expect(asc.text).not.toContain('hx-get')
    const wrong = await visit(`${events}?error=x&livemode=maybe`, owner.token)
    expect([wrong.status, wrong.text.includes('id="error-wrong"')]).toEqual([422, true])

    const question = await visit(`${events}/replay${search}`, owner.token)
    expect(question.text).toContain('Replay 2 events?')
    const done = await submit(`${events}/replay`, owner.token, { search: 'event_type=invoice.paid' })
    const progress = done.headers.get('Location') ?? ''
    expect(progress).toContain('/replays/rpl_')
    expect((await visit(progress, owner.token)).text).toContain('0 of 2 events processed again')
    const again = await submit(`${events}/replay`, owner.token, { search: 'event_type=invoice.paid' })
    expect(again.headers.get('Location')).toContain('done=nothing_to_replay')
  })

  it('polls for what is new and for what has changed, and for nothing else', async () => {
    const { project, owner } = await freshProject()
    const connection = await stripeConnection(owner.token, project)
    const lost = { bindings: { EVENTS: lossyQueue().EVENTS } }
    const first = (await deliver(connection.id, stripeEvent(), lost)).body.event_ids[0]
    const live = `/console/p/${project}/platform/billing/webhooks/live`
    const poll = (query: string) => visit(`${live}?${query}`, owner.token, { headers: { 'HX-Request': 'true' } })
    expect((await poll(`newest=${first}&open=${first}:received`)).status).toBe(204)
    const changed = await poll(`newest=${first}&open=${first}:processing`)
    expect(changed.text).toContain(`id="${first}"`)
    expect(changed.text).toContain('hx-swap-oob="true"')
    expect(changed.headers.get('X-New-Rows')).toBe('0')
    const second = (await deliver(connection.id, stripeEvent('invoice.paid'), lost)).body.event_ids[0]
    const fresh = await poll(`newest=${first}`)
    expect(fresh.text).toContain(`id="${second}"`)
    expect(fresh.text).not.toContain(`id="${first}"`)
    expect(fresh.headers.get('X-New-Rows')).toBe('1')
    expect((await poll(`newest=${first}&event_type=customer.*`)).text).not.toContain(second)
    expect((await poll('newest=')).headers.get('X-New-Rows')).toBe('2')
    const { DB, count } = countingD1()
    await visit(`${live}?newest=${second}`, owner.token, { bindings: { ...lost.bindings, DB } })
    expect(count.trips).toBeLessThanOrEqual(2)
    expect(count.rows_read).toBeLessThanOrEqual(5)
    const out = await visit(live, null, { headers: { 'HX-Request': 'true', 'HX-Current-URL': `${ORIGIN}/console/x` } })
    expect([out.status, out.headers.get('HX-Redirect')]).toEqual([401, '/console/sign-in?next=%2Fconsole%2Fx'])
  })

  it('stays below 60 KB for 50 rows', async () => {
    const { project, owner } = await freshProject()
    const connection = await stripeConnection(owner.token, project)
    for (let i = 0; i < 51; i++) {
      const event = stripeEvent('customer.subscription.trial_will_end', { id: `sub_${'x'.repeat(30)}${i}` })
      await deliver(connection.id, event, { bindings: { EVENTS: lossyQueue().EVENTS } })
    }
    const { text } = await visit(`/console/p/${project}/platform/billing/webhooks`, owner.token)
    expect(text.match(/<tr id="evt_/g)).toHaveLength(50)
    expect(text).toContain('Next page')
    expect(text.length).toBeLessThan(60_000)
  })
})

describe('what is shown', () => {
  it('is JSON as the vendor wrote it, with its lines broken', () => {
    const text = '{"a":12345678901234567890,"b":[1.0,{ }],"c":"x\\u00e9, {y}: [z] \\" ","d":[]}'
    const shown = indented(text) ?? ''
    expect(shown).toContain('12345678901234567890')
    expect(shown).toContain('1.0')
    expect(shown).toContain('"x\\u00e9, {y}: [z] \\" "')
    expect(JSON.parse(shown)).toEqual(JSON.parse(text))
    expect(indented('{"a":')).toBeNull()
    expect(indented(JSON.stringify(Array(1000).fill(1)), 100)?.length).toBeLessThan(120)
  })

  it('is bytes as they came', () => {
    expect(hexDump(new Uint8Array([0, 65, 255]))).toMatch(/^000000 {2}00 41 ff +\.A\.$/)
  })

  it('is times, amounts and durations in few characters', () => {
    const now = Date.UTC(2026, 0, 2)
    expect([0, -90_000, -7_200_000, 3 * 86_400_000].map((ms) => relative(now + ms, now))).toEqual([
      'just now',
      '1 min ago',
      '2 h ago',
      'in 3 d',
    ])
    expect([0.84, 120, 1300, 150_000, 10_800_000].map(duration)).toEqual([
      '0.8 ms',
      '120 ms',
      '1.3 s',
      '2.5 min',
      '3 h',
    ])
    expect(money({ value: 1900, currency: 'EUR' })).toBe('EUR 19.00')
    expect(money({ value: 1900, currency: 'JPY' })).toBe('JPY 1,900')
    expect(money({ value: 1900, currency: '<b>' })).toBe('1900 <b>')
  })
})
