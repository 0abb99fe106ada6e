import { beforeAll, describe, expect, it } from 'vitest'
import { billingWorld } from '../billing/world'
import { as } from '../consumers/consumers'
import { checkout, ofCustomer } from '../consumers/events'
import { addMember, countingD1, inStore, STORE } from '../harness'
import { told } from './member-pages'
import { submit, type Visit, visit } from './visit'

/** A project with events, its calls, and its pages of consumers. */
async function newPlace() {
  const world = await billingWorld()
  const { project } = world
  const token = world.owner.token
  const at = (rest = '') => `/console/p/${project}/platform/consumers${rest}`
  const ofBilling = (rest: string) => `/console/p/${project}/platform/billing/customers/stripe/${rest}`
  const page = (path: string, options: Visit = {}) => visit(path, token, options)
  const send = (path: string, fields: Record<string, string> = {}) => told(submit(path, token, fields))
  return {
    ...world,
    token,
    at,
    ofBilling,
    page,
    send,
    api: as(project, token),
  }
}
type Place = Awaited<ReturnType<typeof newPlace>>
const done = (path: string, notice: string) => ({ status: 303, location: `${path}?done=${notice}`, wrong: [] })
const rowsOf = (text: string) => [...text.matchAll(/consumers\/(csm_\w+)">/g)].map(([, id]) => id)

describe('the list of consumers', () => {
  let here: Place
  let ids: Record<string, string>
  beforeAll(async () => {
    here = await newPlace()
    const put = async (externalId: string, email: string, name?: string) =>
      (await here.api.put(externalId, { email, ...(name && { name }) })).body.id
    ids = {
      ada: await put('user_1', 'ada@example.com', 'Ada Lovelace'),
      other: await put('user_2', 'ada@example.com'),
      grace: await put('user_3', 'grace@example.com'),
      // Its external id is the email address of another one.
      named: await put('grace2@example.com', 'named@example.com'),
      grace2: await put('user_4', 'grace2@example.com'),
    }
    await here.api.block(ids.grace as string)
  })
  const idsOf = (...names: string[]) => names.map((name) => ids[name])

  it.each([
    ['user_1', 'ada'],
    ['ext:user_1', 'ada'],
    [' Grace@Example.com ', 'grace'],
    ['ADA love', 'ada'],
    ['love', 'ada'],
    ['named@', 'named'],
    ['ext:user_4', 'grace2'],
  ])('leads from %j to the one consumer that it means', async (q, name) => {
    const answer = await here.page(here.at(`?q=${encodeURIComponent(q)}`))
    expect([answer.status, answer.headers.get('Location')]).toEqual([303, here.at(`/${ids[name]}`)])
  })

  it.each([
    ['?q=ada@example.com', ['other', 'ada']],
    ['?q=grace2@example.com', ['named', 'grace2']],
    ['?state=blocked', ['grace']],
    ['?q=grace@example.com&state=blocked', ['grace']],
    ['?q=grace@example.com&state=active', []],
    ['?q=user', ['grace2', 'grace', 'other', 'ada']],
    ['?q=user&order=asc', ['ada', 'other', 'grace', 'grace2']],
    ['?q=user&state=active', ['grace2', 'other', 'ada']],
    ['?q=gra', ['grace2', 'named', 'grace']],
    ['?q=User', []],
    ['?q=ovelace', []],
    ['?q=%25da', []],
    ['?q=%00', []],
    ['', ['grace2', 'named', 'grace', 'other', 'ada']],
    // What is named by its id counts only in the state that is asked for.
    ['?q=user_3&state=active', []],
    ['?q=user_1&state=blocked', []],
    ['?q=grace2@example.com&state=blocked', []],
    ['?q=grace2@example.com&state=active', ['named', 'grace2']],
  ])('lists for %j', async (query, names) => {
    const { status, text } = await here.page(here.at(query))
    expect([status, rowsOf(text)]).toEqual([200, idsOf(...names)])
  })

  /** Puts consumers into a project: `zed100` and on, of whom the newest were merged into the first. */
  async function crowded({ n, merged = 0, ids = 0 }: { n: number; merged?: number; ids?: number }) {
    const crowd = await newPlace()
    const numbers = 'WITH RECURSIVE t(n) AS (SELECT 100 UNION ALL SELECT n + 1 FROM t WHERE n < ?2)'
    const last = 99 + n
    await STORE.prepare(
      `${numbers} INSERT INTO consumers (project_id, id, name, email, metadata, state, merged_into, revision, created_at, updated_at)
       SELECT ?1, 'csm_crowd' || n, 'Zed ' || n, 'zed' || n || '@example.com', '{}', iif(n > ?3, 'merged', 'active'),
         iif(n > ?3, 'csm_crowd100', NULL), 1, 1, 1 FROM t`,
    )
      .bind(crowd.project, last, last - merged)
      .run()
    await STORE.prepare(
      `${numbers} INSERT INTO consumer_ids (project_id, external_id, consumer_id, position, created_at)
       SELECT ?1, 'own_' || n, iif(n < ?2, 'csm_crowd100', 'csm_crowd101'), n, 1 FROM t`,
    )
      .bind(crowd.project, 99 + ids)
      .run()
    return crowd
  }

  it('says that a beginning matches more than it lists, and reads few rows for it', async () => {
    const crowd = await crowded({ n: 900 })
    const { DB, count } = countingD1()
    const { text } = await crowd.page(crowd.at('?q=zed'), { bindings: inStore(DB) })
    expect(rowsOf(text)).toHaveLength(30)
    expect(text).toContain('Only the first matches are listed. Enter more letters to find others.')
    expect(count.rows_read).toBeLessThan(2_500)
    expect((await crowd.page(crowd.at('?q=zed&state=blocked'))).text).toContain('None of the first matches is blocked.')
    expect((await crowd.page(crowd.at('/csv?q=zed'))).text).toContain('more may match. Narrow the search')
    const few = await crowd.page(crowd.at('?q=zed 10'))
    expect(rowsOf(few.text)).toHaveLength(10)
    expect(few.text).not.toContain('Only the first')
    const typed = await crowd.page(crowd.at('/csm_crowd100/merge?into=zed'))
    expect(typed.text).toContain('Only the first 10 are listed.')
  })

  it('finds the others beside a consumer with many ids', async () => {
    const crowd = await crowded({ n: 2, ids: 101 })
    expect(rowsOf((await crowd.page(crowd.at('?q=own_'))).text)).toEqual(['csm_crowd101', 'csm_crowd100'])
  })

  it('chooses among those that were not merged, however many were', async () => {
    const crowd = await crowded({ n: 30, merged: 25 })
    const { text } = await crowd.page(crowd.ofBilling('').replace('customers/stripe/', 'subscriptions?q=zed'))
    expect([...text.matchAll(/consumer=csm_crowd(\d+)"/g)].map(([, n]) => n)).toEqual([
      '104',
      '103',
      '102',
      '101',
      '100',
    ])
  })

  it('explains the first call where there is no consumer', async () => {
    const { at, page } = await newPlace()
    expect((await page(at())).text).toContain('curl -X PUT')
  })
})

describe('a consumer', () => {
  let here: Place
  let id: string
  beforeAll(async () => {
    here = await newPlace()
    id = (await here.api.put('user_1', { email: 'ada@example.com', metadata: { b: 'two', a: 'one\nline' } })).body.id
    const { data, ...event } = ofCustomer('cus_said', 'user_1')
    const own = { ...event, data: { object: { ...data.object, name: 'Ada at Stripe' } } }
    const [said] = await here.deliver(own, checkout('cus_hint', 'user_1'), {
      ...ofCustomer('sub', null),
      type: 'customer.subscription.created',
      data: { object: SUBSCRIPTION },
    })
    await here.api.pin('cus_pinned', id)
    expect(said).toMatch(/^evt_/)
  })

  it('has a page with its customers, what links each one, and what they pay for; its cost does not grow', async () => {
    const { DB, count } = countingD1()
    const { status, text } = await visit(here.at(`/${id}?tab=billing`), here.token, { bindings: { DB } })
    const words = text.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
    expect(status).toBe(200)
    expect(words).toMatch(/cus_hint Stripe By a checkout or subscription, in \S+ Change/)
    expect(words).toMatch(/Ada at Stripe cus_said Stripe By its metadata, in customer\.\w+ Change/)
    expect(words).toContain('cus_pinned Stripe Set manually Unpin')
    expect(words).toMatch(/Subscriptions Plan .* active .*sub_9/)
    const events = (await here.page(here.at(`/${id}?tab=events`))).text
    expect([events.includes('>cus_said<'), events.includes('cus_unlinked')]).toEqual([true, false])
    expect(await here.page(here.at('/ext:user_1'))).toMatchObject({ status: 200 })
    expect(await here.page(here.at('/user_1'))).toMatchObject({ status: 404 })
    // The session; the consumer; its customers' objects; the frame's projects, their modes.
    expect(count.trips).toBe(5)
  })

  it('is edited: what is left is kept, what is cleared goes, and a page that is out of date says so', async () => {
    const path = here.at(`/${id}/edit`)
    const { text } = await here.page(path)
    expect(text).toContain('one\nline</textarea>')
    const etag = /name="etag" value="([^"]+)"/.exec(text)?.[1]?.replaceAll('&quot;', '"') ?? ''
    const pairs = (of: [string, string][]) => of.flatMap(([key, value]) => [`key=${key}`, `value=${value}`]).join('&')
    const form = (extra: Record<string, string>, of: [string, string][]) => {
      const sent = new URLSearchParams(pairs(of))
      for (const [name, value] of Object.entries(extra)) sent.set(name, value)
      return sent
    }
    const save = async (extra: Record<string, string>, of: [string, string][]) => {
      const fields = form({ name: '', email: '', etag, ...extra }, of)
      fields.set('form_token', /name="form_token" value="(\w+)"/.exec(text)?.[1] ?? '')
      return told(visit(path, here.token, { form: fields }))
    }
    const entries: [string, string][] = [
      ['a', 'one%0D%0Aline'],
      ['', ''],
      ['c', ''],
    ]
    const refused = await save({ email: 'no' }, [['', 'lost']])
    expect(refused.wrong).toEqual(['Must have a key for every value.'])
    expect(
      (
        await save({}, [
          ['a', '1'],
          ['a', '2'],
        ])
      ).wrong,
    ).toEqual(['Must not have the same key twice.'])
    expect((await save({ email: 'no' }, [])).wrong).toEqual(['Must be a valid email address.'])
    expect(await save({ name: 'Ada', external_id: 'user_one' }, entries)).toEqual(
      done(here.at(`/${id}`), 'consumer_changed'),
    )
    const { body } = await here.api.get(id)
    expect(body).toMatchObject({
      name: 'Ada',
      email: null,
      metadata: { a: 'one\nline', c: '' },
      external_ids: ['user_1', 'user_one'],
    })
    expect((await save({ name: 'Late' }, entries)).wrong[0]).toContain('has changed since you opened this form')
    expect((await here.api.get(id)).body.name).toBe('Ada')
  })

  it('is created, blocked, unblocked, and refused where an id is taken', async () => {
    const taken = await here.send(here.at(), { external_id: 'user_1' })
    expect([taken.status, taken.wrong[0]]).toEqual([409, expect.stringContaining('Another consumer')])
    expect((await here.send(here.at(), { external_id: 'a b' })).status).toBe(422)
    const { location } = await here.send(here.at(), { external_id: 'user_5', email: 'New@Example.com' })
    const path = location?.replace('?done=consumer_created', '') ?? ''
    const csm = path.split('/').at(-1) ?? ''
    expect((await here.api.get('ext:user_5')).body).toMatchObject({ id: csm, email: 'new@example.com' })
    expect(await here.send(`${path}/block`, { reason: 'x'.repeat(201) })).toMatchObject({ status: 422 })
    expect(await here.send(`${path}/block`, { reason: ' fraud <b> ' })).toEqual(done(path, 'consumer_blocked'))
    expect((await here.page(path)).text).toContain('This consumer is blocked: “fraud &lt;b&gt;”')
    expect(await here.send(`${path}/unblock`)).toEqual(done(path, 'consumer_unblocked'))
    expect((await here.api.get(csm)).body).toMatchObject({ state: 'active', blocked_reason: null })
    // The newest first, with who did it.
    expect((await here.page(`${path}?tab=history`)).text).toMatch(/Unblocked a consumer.*Blocked a consumer/s)
  })

  it('is merged after a question that names what moves, and then leads to the survivor', async () => {
    const into = (await here.api.put('user_6', { email: 'six@example.com' })).body.id
    await here.api.put('user_7', { email: 'six@example.com' })
    const ask = async (text: string) => (await here.page(here.at(`/${id}/merge?into=${encodeURIComponent(text)}`))).text
    expect(await ask('user_1')).toContain('This is the same consumer')
    expect(await ask('nobody')).toContain('No consumer matches')
    expect(await ask('six@example.com')).toContain('Several consumers match')
    const question = await ask('user_6')
    expect(question).toContain(
      'The IDs <code>user_1</code>, <code>user_one</code>. API calls that use them then reach six@example.com.',
    )
    expect(question).toContain('3 customers at your vendors')
    expect(question).toContain(`name="into" value="${into}"`)
    expect(await here.send(here.at(`/${id}/merge`), { into })).toEqual(done(here.at(`/${into}`), 'consumer_merged'))
    expect((await here.page(here.at(`/${into}?tab=history`))).text).toMatch(/Merged a consumer/)
    const { text } = await here.page(here.at(`/${id}`))
    expect(text).toContain(`was merged into <a href="${here.at(`/${into}`)}">`)
    expect(text).not.toContain('/edit"')
    expect(await ask('user_6')).toContain('<h1>')
    expect(await here.send(here.at(`/${id}/merge`), { into })).toMatchObject({ status: 409 })
    expect((await here.page(here.at(`/${id}/edit`))).status).toBe(409)
  })

  it('has no actions for a viewer', async () => {
    const { token } = await addMember(here.project, 'viewer')
    for (const path of [here.at('/ext:user_6'), here.at('/unlinked'), here.ofBilling('cus_said')]) {
      const { status, text } = await visit(path, token)
      expect([status, /\/(edit|block|merge|unpin|consumer)["?]/.test(text)]).toEqual([200, false])
    }
  })
})

const SUBSCRIPTION = { id: 'sub_9', object: 'subscription', customer: 'cus_said', status: 'active' }
