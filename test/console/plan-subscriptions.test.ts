import { expect, it } from 'vitest'
import { insertObjects } from '../billing/rows'
import { addMember, call, countingD1, freshProject, inStore, STORE } from '../harness'
import { visit } from './visit'

type Of = { status?: string; livemode?: boolean; items: { price?: string; product?: string }[] }

/** A project with these subscriptions, and two plans: `pro` has a price and a product, `free` has none. */
async function world(subscriptions: Of[]) {
  const { project, owner } = await freshProject()
  const ids = subscriptions.map((_, n) => `sub_${n}`)
  await insertObjects(project, 'subscription', ids)
  const set = STORE.prepare(
    `UPDATE billing_objects SET status = ?3, candidates = json_set(candidates, '$[0].body.items', json(?4), '$[0].body.livemode', json(?5))
     WHERE project_id = ?1 AND vendor_id = ?2`,
  )
  const changes = subscriptions.map(({ status = 'active', livemode = true, items }, n) =>
    set.bind(project, ids[n], status, JSON.stringify(items), JSON.stringify(livemode)),
  )
  if (changes.length > 0) await STORE.batch(changes)
  const create = async (key: string, refs: string[]) => {
    const json = { key, name: key, features: {}, prices: refs.map((ref) => ({ vendor: 'stripe', ref })) }
    return (await call('/platform/v1/billing/plans', { method: 'POST', token: owner.token, project, json })).body.id
  }
  const at = `/console/p/${project}/platform/billing/plans`
  const plans = { pro: await create('pro', ['price_1', 'price_2', 'prod_1']), free: await create('free', []) }
  const words = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
  return { project, owner, at, plans, words }
}

it('a plan says how many subscriptions with one of its prices are not over, and how many of test mode', async () => {
  const pro = { price: 'price_1', product: 'prod_1' }
  const { owner, project, at, plans, words } = await world([
    { items: [pro] },
    { items: [pro, { price: 'price_2' }], status: 'past_due' },
    { items: [{ price: 'price_other', product: 'prod_1' }], status: 'trialing' },
    { items: [pro], livemode: false },
    { items: [pro], status: 'canceled' },
    { items: [{ price: 'price_other' }] },
    { items: [] },
  ])
  const text = words((await visit(at, owner.token)).text)
  expect(text).toMatch(/ pro pro .* 3 1 in test mode 0 just now /)
  expect(text).toMatch(/ free free Active 0 – 0 0 just now /i)
  expect(words((await visit(`${at}/${plans.pro}`, owner.token)).text)).toContain(
    ' Subscriptions 3 1 in test mode Active, trialing or past due. ',
  )
  const { token } = await addMember(project, 'viewer')
  expect((await visit(at, token)).text.includes('>Subscriptions</th>')).toBe(true)
})

it('of more subscriptions than are looked at, a plan says that it may have more', async () => {
  const { owner, project, at, plans, words } = await world([{ items: [{ price: 'price_1' }] }])
  const { results } = await STORE.prepare(
    "SELECT name FROM pragma_table_xinfo('billing_objects') WHERE hidden = 0",
  ).all()
  const names = results.map(({ name }) => name as string)
  const copied = names.map((name) => (name === 'vendor_id' ? "printf('sub_more_%05d', n.v)" : `r.${name}`))
  await STORE.prepare(
    `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 1500)
     INSERT INTO billing_objects (${names.join()}) SELECT ${copied.join()}
     FROM (SELECT * FROM billing_objects WHERE project_id = ?1 AND vendor_id = 'sub_0') r, n`,
  )
    .bind(project)
    .run()
  const { DB, count } = countingD1()
  const { text } = await visit(`${at}/${plans.pro}`, owner.token, { bindings: inStore(DB) })
  expect(words(text)).toContain(' Subscriptions 1,000+ Active, trialing or past due. ')
  expect(words((await visit(`${at}/${plans.free}`, owner.token)).text)).toContain(' Subscriptions 0+ Active')
  expect(count.rows_read).toBeLessThan(12_000)
})

it('the numbers lead to the subscriptions of the plan, in that mode, and the list keeps the plan', async () => {
  const pro = { items: [{ price: 'price_1' }] }
  const { owner, project, at, plans } = await world([
    ...Array<Of>(51).fill(pro),
    { ...pro, livemode: false },
    { ...pro, status: 'canceled' },
    { items: [{ price: 'price_other' }] },
  ])
  const json = { name: 'Pro <1>' }
  await call(`/platform/v1/billing/plans/${plans.pro}`, { method: 'PATCH', token: owner.token, project, json })
  const look = async (path: string) => (await visit(path, owner.token)).text
  const list = `/console/p/${project}/platform/billing/subscriptions`
  for (const page of [at, `${at}/${plans.pro}`]) {
    const text = await look(page)
    expect(text).toContain(`<a href="${list}?plan=${plans.pro}&amp;livemode=true">51</a>`)
    expect(text).toContain(`<a href="${list}?plan=${plans.pro}&amp;livemode=false">1</a> in test mode`)
  }
  const idsIn = (text: string) => new Set(text.match(/sub_\d+(?=\?vendor)/g))

  const query = `?plan=${plans.pro}&livemode=true`
  const shown = await look(list + query)
  expect(idsIn(shown).size).toBe(50)
  expect(idsIn(shown)).not.toContain('sub_51')
  expect(idsIn(shown)).not.toContain('sub_53')
  const without = '<a href="?livemode=true" aria-label="Remove the filter Plan: Pro &lt;1&gt;">'
  for (const part of [without, '>Plan: Pro &lt;1&gt;</span></summary>']) expect(shown).toContain(part)
  const kept = query.replace('&', '&amp;')
  for (const part of [`${kept}&amp;order=asc"`, `${kept}&amp;status=active"`, `subscriptions/csv${kept}"`])
    expect(shown).toContain(part)
  const next = /href="(\?[^"]+)" rel="next"/.exec(shown)?.[1]?.replaceAll('&amp;', '&') ?? ''
  expect(next).toContain(`plan=${plans.pro}&`)
  expect(new Set([...idsIn(shown), ...idsIn(await look(list + next))]).size).toBe(52)

  const file = await look(`${list}/csv${query}`)
  expect(file.match(/^sub_/gm)).toHaveLength(52)
  expect(file).not.toMatch(/^sub_5[13],/m)
})

it('a list of subscriptions takes the key of a plan and says what is no plan; other lists have no such filter', async () => {
  const { owner, project, plans } = await world([{ items: [{ price: 'price_1' }] }, { items: [] }])
  const at = `/platform/v1/billing/plans/${plans.free}`
  const json = { name: 'Free of charge', state: 'archived' }
  await call(at, { method: 'PATCH', token: owner.token, project, json })
  const look = async (path: string) => (await visit(`/console/p/${project}/platform/billing/${path}`, owner.token)).text
  const byKey = await look('subscriptions?plan=pro')
  expect([byKey.includes('sub_0?'), byKey.includes('sub_1?')]).toEqual([true, false])
  expect(byKey).toContain(`<a href="?plan=${plans.pro}" aria-current="true">pro</a>`)
  expect(byKey).toContain(`<a href="?plan=${plans.free}">Free of charge (archived)</a>`)
  const unknown = await look('subscriptions?plan=gold')
  for (const part of ['No subscriptions match this search.', 'Remove the filter Plan: gold'])
    expect(unknown).toContain(part)
  expect(await look('subscriptions?plan=free')).toContain('Remove the filter Plan: Free of charge')
  await insertObjects(project, 'invoice', ['in_1'])
  const invoices = await look('invoices?plan=pro')
  expect([invoices.includes('in_1'), invoices.includes('Plan:')]).toEqual([true, false])
})

it('many plans are the options of a form that keeps the other filters, and 100 with long names fit the page', async () => {
  const { owner, project, plans } = await world(Array<Of>(51).fill({ items: [{ price: 'price_1' }] }))
  const at = `/console/p/${project}/platform/billing/subscriptions`
  const look = async (query: string) => (await visit(at + query, owner.token)).text
  // With the two of its own, 8 and 100.
  const addPlans = async (from: number, to: number) => {
    const keys = Array.from({ length: to - from }, (_, n) => `plan_${from + n}`)
    const named = keys.map((key) => ({ key, name: key.padEnd(100, ' of a long name'), features: {} }))
    for (const json of named)
      await call('/platform/v1/billing/plans', { method: 'POST', token: owner.token, project, json })
  }
  await addPlans(2, 8)
  expect(await look('?status=active')).not.toContain('<select')
  await addPlans(8, 100)
  const text = await look(`?status=active&order=asc&created_within=30d&plan=${plans.pro}`)
  const form = [...text.matchAll(/<form action="([^"]+)">(.*?)<\/form>/gs)].find(([form]) => form.includes('<select'))
  expect(form?.[1]).toBe(at)
  const sent = ['status', 'order', 'created_within'].map((name) => `<input type="hidden" name="${name}"`)
  for (const part of sent) expect(form?.[2]).toContain(part)
  expect(form?.[2]).not.toContain('name="plan" value')
  expect(form?.[2]?.match(/<option/g)).toHaveLength(101)
  expect(form?.[2]).toContain(`<option value="${plans.pro}" selected="">pro</option>`)
  expect(new TextEncoder().encode(text).byteLength).toBeLessThan(60_000)
})
