import { describe, expect, it } from 'vitest'
import { GUIDES } from '../../src/console/pages/connections/guides'
import { MINUTE } from '../../src/lib/time'
import { VENDOR_NAMES, VENDORS } from '../../src/vendors'
import { advance, stopClock } from '../clock'
import {
  addMember,
  call,
  countingD1,
  deliver,
  freshProject,
  inStore,
  ORIGIN,
  STRIPE_SECRET,
  settled,
  stripeConnection,
  stripeEvent,
} from '../harness'
import { submit, visit } from './visit'

const pathIn = (project: string) => `/console/p/${project}/platform/billing/connections`

const LOCAL = 'http://localhost:8787'

/** Connects a vendor through the forms. */
async function connect(token: string, project: string, fields: Record<string, string> = {}) {
  const made = await submit(pathIn(project), token, { vendor: 'stripe', name: 'S', livemode: 'true', ...fields })
  const at = made.headers.get('Location') ?? ''
  return { at, id: at.split('/').at(-1) ?? '' }
}

const BARE_MAC = {
  algorithm: 'sha256',
  header: 'x-mac',
  encoding: 'hex',
  signed: '{body}',
  tolerance_s: '300',
  unit: 's',
}

describe('connections in the console', () => {
  it('connects a vendor in its order: the URL first, then the secret, then the first event', async () => {
    const { project, owner } = await freshProject()
    const choose = await visit(`${pathIn(project)}/new`, owner.token)
    for (const name of VENDOR_NAMES) expect(choose.text).toContain(`/new?vendor=${name}"`)
    const { at, id } = await connect(owner.token, project)
    const begun = (await visit(at, owner.token)).text
    expect(begun).toContain(`${ORIGIN}/ingest/${id}`)
    expect(begun).toContain('Enter the signing secret')
    expect(begun).not.toContain('Waiting for the first delivery')
    const wrong = await submit(`${at}/secrets`, owner.token, { signing_secret: 'nonsense-of-mine' })
    expect([wrong.status, wrong.text.includes('starts with whsec_'), wrong.text.includes('nonsense-of-mine')]).toEqual([
      422,
      true,
      false,
    ])
    // A line break that was copied along is not part of the secret.
    expect((await submit(`${at}/secrets`, owner.token, { signing_secret: `${STRIPE_SECRET}\n` })).status).toBe(303)
    expect((await visit(at, owner.token)).text).toContain('Waiting for the first delivery')
    const { body } = await deliver(id, stripeEvent('customer.subscription.created'))
    await settled(project, owner.token, body.event_ids[0])
    const { text } = await visit(at, owner.token)
    expect(text).not.toContain('Receive the first event')
    expect(text).toMatch(
      /Last event.*customer\.<wbr\/>subscription\.<wbr\/>created<\/a> <span class="badge good">processed/s,
    )
  })

  it('asks for the mode, and keeps what was entered', async () => {
    const { project, owner } = await freshProject()
    const form = (await visit(`${pathIn(project)}/new?vendor=gocardless`, owner.token)).text
    expect(form).toContain('Which GoCardless account sends the events?')
    expect(form).toContain('value="GoCardless"')
    expect(form).not.toContain('checked')
    const refused = await submit(pathIn(project), owner.token, { vendor: 'stripe', name: 'Kept', livemode: '' })
    expect([refused.status, refused.text.includes('Choose test or live.')]).toEqual([422, true])
    expect(refused.text).toContain('value="Kept"')
    const unknown = await submit(pathIn(project), owner.token, { vendor: 'acme', name: 'A', livemode: 'true' })
    expect(unknown.status).toBe(422)
    // A vendor that nobody knows is a choice to make.
    expect((await visit(`${pathIn(project)}/new?vendor=constructor`, owner.token)).text).toContain('>Stripe<')
  })

  it('waits for the first delivery: nothing new is a 204, a refusal says what to do, an event shows itself', async () => {
    const { project, owner } = await freshProject()
    const { id } = await stripeConnection(owner.token, project)
    const first = `${pathIn(project)}/${id}/first`
    const page = (await visit(`${pathIn(project)}/${id}`, owner.token)).text
    const asked = /hx-get="([^"]+\/first\?seen=[^"]+)"/.exec(page)?.[1] ?? ''
    expect(asked).toBe(`${first}?seen=nothing`)
    expect((await visit(asked, owner.token)).status).toBe(204)
    await deliver(id, stripeEvent(), { secret: 'whsec_of_another_1' })
    const refused = await visit(asked, owner.token)
    expect(refused.text).toContain('the signature matches no signing secret')
    expect(refused.text).toContain('Copy the secret of this endpoint')
    expect(refused.text).toMatch(/id="said" hx-swap-oob="innerHTML">A delivery was refused/)
    const again = /hx-get="([^"]+)"/.exec(refused.text)?.[1]?.replaceAll('&amp;', '&') ?? ''
    expect((await visit(again, owner.token)).status).toBe(204)
    const { body } = await deliver(id, stripeEvent('invoice.paid', { object: 'invoice', id: 'in_1', status: 'paid' }))
    await settled(project, owner.token, body.event_ids[0])
    const arrived = await visit(again, owner.token)
    expect(arrived.text).toMatch(/invoice\.paid.*processed/s)
    expect(arrived.text).not.toContain('hx-get')
    expect(arrived.text).not.toContain('<html')
  })

  it('adds and removes secrets, renames, changes the mode, disables, enables and deletes', async () => {
    const { project, owner } = await freshProject()
    const { at, id } = await connect(owner.token, project)
    const read = async () =>
      (await call(`/platform/v1/billing/connections/${id}`, { token: owner.token, project })).body
    for (const secret of ['whsec_0123456789', 'whsec_987654329876543210']) {
      await submit(`${at}/secrets`, owner.token, { signing_secret: secret })
    }
    const [first] = (await read()).secrets
    await submit(`${at}/secrets/${first.id}/remove`, owner.token)
    expect((await read()).secrets.map(({ hint }: { hint: string }) => hint)).toEqual(['3210'])
    await submit(at, owner.token, { name: 'Renamed', livemode: 'false' })
    expect(await read()).toMatchObject({ name: 'Renamed', livemode: false, status: 'active' })
    const invalid = await submit(at, owner.token, { name: '', livemode: 'true' })
    expect([invalid.status, (await read()).name]).toEqual([422, 'Renamed'])
    const ask = (await visit(`${at}/disable`, owner.token)).text
    expect(ask).toContain('Every delivery will be refused with status 403')
    expect(ask).toContain('Stripe tries a refused delivery again for up to three days')
    await submit(at, owner.token, { status: 'disabled' })
    expect(await read()).toMatchObject({ name: 'Renamed', status: 'disabled' })
    expect((await visit(at, owner.token)).text).toContain('This connection is disabled and refuses every delivery.')
    await submit(at, owner.token, { status: 'active' })
    expect((await read()).status).toBe('active')
    await submit(`${at}/delete`, owner.token)
    expect((await visit(at, owner.token)).status).toBe(404)
  })

  it('pauses after a question, says what is held and what that means, and resumes', async () => {
    const { project, owner } = await freshProject()
    const { id } = await stripeConnection(owner.token, project)
    const at = `${pathIn(project)}/${id}`
    const seen = async (path = at) =>
      (await visit(path, owner.token)).text.replaceAll(/<[^>]+>|\s+/g, ' ').replaceAll(/ +/g, ' ')
    expect(await seen(`${at}/pause`)).toContain('the oldest first, up to 1,000 a minute')
    expect((await submit(at, owner.token, { status: 'paused' })).status).toBe(303)
    const { body } = await deliver(id, stripeEvent())
    const event = `/console/p/${project}/platform/billing/webhooks/${body.event_ids[0]}`
    for (const path of [at, pathIn(project)]) expect(await seen(path)).toContain(' paused ')
    expect(await seen()).toMatch(
      /Deliveries are recorded but not processed\. 1 event is held until you resume the connection\. Resume/,
    )
    expect(await seen(event)).toContain('The connection is paused, so the event waits.')
    expect((await visit(event, owner.token)).text).not.toContain('hx-trigger="every 2s"')
    expect(await seen(`${event}/replay`)).toContain('Resume the connection first.')
    expect(await seen(`/console/p/${project}/platform/billing/webhooks/health`)).toContain('1 event is held')
    expect(await seen(`/console/p/${project}/platform/billing/webhooks?status=held`)).toContain('held 1 ')
    expect(await seen(`/console/p/${project}`)).toMatch(/Stripe[^.]* is paused\. 1 event is held\./)
    await submit(at, owner.token, { status: 'active' })
    expect(await seen()).toContain('1 event is held , and is being released: the oldest first')
    expect(await seen(event)).toContain('It will be released after')
    expect(await seen(`/console/p/${project}/platform/settings/audit-log`)).toMatch(
      /Changed a connection Status:? Active → Paused/,
    )
  })

  it('suggests a secret where you choose it: the same until it is stored, and never a stored one', async () => {
    const { project, owner } = await freshProject()
    const { at } = await connect(owner.token, project, { vendor: 'lemonsqueezy' })
    const suggested = async () => /id="suggested">([^<]+)</.exec((await visit(at, owner.token)).text)?.[1]
    const secret = (await suggested()) ?? ''
    expect(VENDORS.lemonsqueezy.checkSecret(secret)).toBeNull()
    expect(await suggested()).toBe(secret)
    expect((await submit(`${at}/secrets`, owner.token, { signing_secret: secret })).status).toBe(303)
    const { text } = await visit(at, owner.token)
    expect(text).not.toContain(secret)
    const id = /secrets\/(sec_\w+)\/remove/.exec(text)?.[1]
    await submit(`${at}/secrets/${id}/remove`, owner.token)
    expect(await suggested()).not.toBe(secret)
    const viewer = await addMember(project, 'viewer')
    expect((await visit(at, viewer.token)).text).not.toContain('id="suggested"')
    // Stripe makes up its own.
    const stripe = await connect(owner.token, project)
    expect((await visit(stripe.at, owner.token)).text).not.toContain('id="suggested"')
  })

  it('offers a secret and a command on a local server, which no vendor reaches', async () => {
    const { project, owner } = await freshProject()
    const bindings = { PUBLIC_ORIGIN: '' }
    for (const vendor of VENDOR_NAMES.filter((name) => !['apple', 'braintree', 'paypal'].includes(name))) {
      const { at, id } = await connect(owner.token, project, { vendor })
      const look = async (path = at) => (await visit(`${LOCAL}${path}`, owner.token, { bindings })).text
      const begun = await look()
      const secret = /id="example-secret">([^<]+)</.exec(begun)?.[1] ?? ''
      expect([vendor, VENDORS[vendor].checkSecret(secret)]).toEqual([vendor, null])
      expect(begun.includes(`stripe listen --forward-to ${LOCAL}/ingest/`)).toBe(vendor === 'stripe')
      expect((await visit(at, owner.token)).text).not.toContain('id="example-secret"')
      await submit(`${at}/secrets`, owner.token, { signing_secret: secret })
      const preset = vendor === 'hmac' ? ' --preset github' : ''
      if (preset) await submit(`${at}/verification`, owner.token, { ...BARE_MAC, preset: 'github' })
      const command = `npm run send -- --example --vendor ${vendor}${preset} --connection ${id} --signing-secret &#39;${secret}&#39; --url ${LOCAL}</pre>`
      expect(await look()).toContain(command)
      expect(await look(`${at}/first`)).toContain(command)
    }
  })

  it('does not know a secret that somebody else made up', async () => {
    const { project, owner } = await freshProject()
    const { at } = await connect(owner.token, project)
    await submit(`${at}/secrets`, owner.token, { signing_secret: STRIPE_SECRET })
    const { text } = await visit(`${LOCAL}${at}`, owner.token, { bindings: { PUBLIC_ORIGIN: '' } })
    expect(text).toMatch(
      /id="send">SIGNING_SECRET=&#39;your signing secret&#39;\nnpm run send .* &quot;\$SIGNING_SECRET&quot;/,
    )
    expect((await visit(at, owner.token)).text).not.toContain('id="send"')
  })

  it('says what was refused in a day, when last, and what to do about each cause', async () => {
    const { project, owner } = await freshProject()
    const { id } = await stripeConnection(owner.token, project)
    const page = `${pathIn(project)}/${id}`
    const event = (await deliver(id, stripeEvent())).body.event_ids[0]
    await settled(project, owner.token, event)
    expect((await visit(page, owner.token)).text).toMatch(
      /Refused deliveries, last 24 hours<\/h2><p class="quiet">None/,
    )
    for (const secret of ['whsec_of_another_1', 'whsec_of_another_2']) await deliver(id, stripeEvent(), { secret })
    await deliver(id, stripeEvent(), { headers: { 'Stripe-Signature': 'nonsense' } })
    const { text } = await visit(page, owner.token)
    expect(text).toMatch(
      /The signature matches no signing secret<.*?>2<.*?just now.*?Copy the secret of this endpoint/s,
    )
    expect(text).toMatch(/title="signature_malformed".*?>1<.*?Check that the connection has the right vendor/s)
    const list = (await visit(pathIn(project), owner.token)).text
    expect(list).toMatch(/Refused, 1 h"><a class="error" href="[^"]+#refused">3</)
    const health = `/console/p/${project}/platform/billing/webhooks/health`
    expect((await visit(health, owner.token)).text).toMatch(/title="signature_mismatch".*?>2</s)
  })

  it('says what it accepted and refused in the last hour', async () => {
    stopClock()
    const { project, owner } = await freshProject()
    const { id } = await stripeConnection(owner.token, project)
    const receive = async (accepted: number, refused: number) => {
      for (let n = 0; n < accepted; n++) await deliver(id, stripeEvent('customer.created'))
      for (let n = 0; n < refused; n++) await deliver(id, stripeEvent(), { secret: 'whsec_of_another' })
    }
    const seen = async () => {
      const { text } = await visit(`${pathIn(project)}/${id}`, owner.token)
      return ['Accepted', 'Refused'].map((name) => new RegExp(`${name}, last hour</dt><dd>(\\d+)<`).exec(text)?.[1])
    }
    await receive(1, 2)
    expect(await seen()).toEqual(['1', '2'])
    advance(59 * MINUTE)
    await receive(2, 1)
    expect(await seen()).toEqual(['3', '3'])
    advance(MINUTE)
    expect(await seen()).toEqual(['2', '1'])
  })

  it('reads the list and the page of a connection in one batch each', async () => {
    const { project, owner } = await freshProject()
    const { id } = await stripeConnection(owner.token, project)
    for (const [path, trips] of [
      [pathIn(project), 4],
      // The names of those who added its secrets are read after it: of keys and of people, side by side.
      [`${pathIn(project)}/${id}`, 6],
      [`${pathIn(project)}/${id}/first`, 2],
    ] as const) {
      const { DB, count } = countingD1()
      expect((await visit(path, owner.token, { bindings: inStore(DB) })).status).toBe(200)
      expect([path, count.trips <= trips]).toEqual([path, true])
    }
  })
})

describe('the guides', () => {
  it('are there for every vendor, link to its own site, and name the ingest URL', async () => {
    const { project, owner } = await freshProject()
    expect(Object.keys(GUIDES).sort()).toEqual([...VENDOR_NAMES].sort())
    for (const vendor of VENDOR_NAMES) {
      const { at } = await connect(owner.token, project, { vendor, name: vendor })
      const { status, text } = await visit(at, owner.token)
      expect([vendor, status]).toEqual([vendor, 200])
      expect([vendor, text.match(/<ol class="guide">.*?ingest URL.*?<\/ol>/s) !== null]).toEqual([vendor, true])
      expect(text).toContain(`href="${GUIDES[vendor].docs}" target="_blank" rel="noreferrer"`)
      expect(new URL(GUIDES[vendor].docs).protocol).toBe('https:')
    }
  })
})
