import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { HOUR, MINUTE } from '../../src/lib/time'
import { stripeEventOf } from '../billing/payloads'
import { type BillingWorld, billingWorld } from '../billing/world'
import { advance, stopClock } from '../clock'
import { visit } from '../console/visit'
import { as } from '../consumers/consumers'
import { call, countingD1, freshKey, type RequestOptions, STORE, STORES } from '../harness'
import { cron, keepHouse, rows } from '../inbox/pipeline'

/* Names are found by their words in any order, each by its first letters, without accents and whatever the case. */

const NAMES = [
  'José Ángel Núñez',
  'Ana García Márquez',
  'Özgür Yıldız',
  'İpek ŞAHİN',
  'Елена Фёдорова',
  'ΟΔΥΣΣΕΥΣ Παπάς',
  'Anna Straße',
  'Łukasz Đoković',
  'Søren Kjær',
  'Seán O’Neil-King',
  'Françoise d\u2019Aubigné',
  'Zoe\u0308 Ｗｉｄｅ',
  '김철수',
  'أحمد',
  '"Quoted", [] {} \\',
  '🦄',
  '!?',
]
const FOUND: [text: string, names: string[]][] = [
  ['jose', ['José Ángel Núñez']],
  ['JOSÉ', ['José Ángel Núñez']],
  ['angel', ['José Ángel Núñez']],
  ['nunez jo', ['José Ángel Núñez']],
  ['nún áng', ['José Ángel Núñez']],
  ['angel nunez jose', ['José Ángel Núñez']],
  ['garcia', ['Ana García Márquez']],
  ['ana marquez', ['Ana García Márquez']],
  ['marquez, ana', ['Ana García Márquez']],
  ['öz', ['Özgür Yıldız']],
  ['oz', ['Özgür Yıldız']],
  ['yildiz', ['Özgür Yıldız']],
  ['YILDIZ', ['Özgür Yıldız']],
  ['ipek sahin', ['İpek ŞAHİN']],
  ['şahin', ['İpek ŞAHİN']],
  ['ЕЛЕНА', ['Елена Фёдорова']],
  ['федоров', ['Елена Фёдорова']],
  ['οδυσ', ['ΟΔΥΣΣΕΥΣ Παπάς']],
  ['οδυσσευς', ['ΟΔΥΣΣΕΥΣ Παπάς']],
  ['παπας', ['ΟΔΥΣΣΕΥΣ Παπάς']],
  ['strasse', ['Anna Straße']],
  ['straße', ['Anna Straße']],
  ['STRAẞE', ['Anna Straße']],
  ['stras', ['Anna Straße']],
  ['lukasz dokovic', ['Łukasz Đoković']],
  ['soren kjaer', ['Søren Kjær']],
  ['oneil', ['Seán O’Neil-King']],
  ["o'neil", ['Seán O’Neil-King']],
  ['king sean', ['Seán O’Neil-King']],
  ['O’Neil-King', ['Seán O’Neil-King']],
  ['daubigne', ['Françoise d’Aubigné']],
  ['zoe wide', ['Zoë Ｗｉｄｅ'.normalize('NFD')]],
  ['zoë', ['Zoë Ｗｉｄｅ'.normalize('NFD')]],
  ['김', ['김철수']],
  ['أحمد', ['أحمد']],
  ['quoted', ['"Quoted", [] {} \\']],
  ['🦄', ['🦄']],
  ['!', ['!?']],
  ['an', ['Ana García Márquez', 'Anna Straße', 'José Ángel Núñez']],
  ['ose', []],
  ['arcia', []],
  ['jose garcia', []],
  ['ana an', ['Ana García Márquez']],
  ['?', []],
  ['%', []],
]

let project: string
let token: string
/** The titles of what a search finds. */
async function find(q: string, type = 'consumer', options: RequestOptions = {}): Promise<string[]> {
  const { status, body, text } = await call(`/platform/v1/search?q=${encodeURIComponent(q)}`, {
    token,
    project,
    ...options,
  })
  expect(status, text).toBe(200)
  const all = body.data as { type: string; title: string }[]
  return all.filter((row) => row.type === type).map(({ title }) => title)
}
/** The ids that the list of consumers in the console finds. */
async function listed(q: string): Promise<string[]> {
  const path = `/console/p/${project}/platform/consumers/csv?q=${encodeURIComponent(q)}`
  const { status, text } = await visit(path, token)
  expect(status).toBe(200)
  return text.match(/\bcsm_\w+/g) ?? []
}

beforeAll(async () => {
  stopClock()
  const made = await freshKey()
  project = made.project
  token = made.owner.token
})
beforeEach(() => stopClock())

describe('names of consumers', () => {
  const ids = new Map<string, string>()
  beforeAll(async () => {
    for (const [i, name] of NAMES.entries()) {
      const { status, body } = i % 2 ? await api().put(`u${i}`, { name }) : await api().create({ name })
      expect(status).toBe(201)
      ids.set(name, body.id)
    }
  })
  const api = () => as(project, token)

  it.each(FOUND)('%s finds %j, in the list too', async (text, names) => {
    expect((await find(text)).sort()).toEqual([...names].sort())
    expect((await listed(text)).sort()).toEqual(names.map((name) => ids.get(name)).sort())
  })

  it('follow a change, also one that only adds an accent, and end with an erasure', async () => {
    const { id } = (await api().put('changes', { name: 'Wilhelm Tell' })).body
    expect(await find('tell wil')).toEqual(['Wilhelm Tell'])
    await api().put('changes', { name: 'Wîlhelm Téll' })
    expect(await find('tell wil')).toEqual(['Wîlhelm Téll'])
    await api().patch(id, { name: 'Walter Fürst' })
    expect([await find('tell'), await find('furst')]).toEqual([[], ['Walter Fürst']])
    await api().put('changes', { name: 'Walter' })
    expect([await find('furst'), await find('walt')]).toEqual([[], ['Walter']])
    await api().put('changes', { name: null })
    expect(await find('walt')).toEqual([])
    await api().put('changes', { name: 'Gertrud Stauffacher' })
    const { id: other } = (await api().put('survives', { name: 'Arnold Melchtal' })).body
    await api().merge(id, other)
    expect([await find('stauffacher'), await find('melchtal')]).toEqual([['Gertrud Stauffacher'], ['Arnold Melchtal']])
    await api().erase(other)
    expect([await find('stauffacher'), await find('melchtal')]).toEqual([[], []])
    expect(await rows('SELECT name FROM consumer_names WHERE consumer_id IN (?, ?)', id, other)).toEqual([])
    expect(await rows('SELECT name_keys FROM consumers WHERE id IN (?, ?)', id, other)).toEqual([
      { name_keys: null },
      { name_keys: null },
    ])
  })

  it('are found by their first letters until the cron has written their keys, then by all words', async () => {
    const { id } = (await api().put('former', { name: 'Tomáš Garrigue Masaryk' })).body
    // The previous version writes names without keys.
    const written = (name: string | null) => rows('UPDATE consumers SET name = ? WHERE id = ?', name, id)
    await written('Edvard Beneš')
    expect([await find('masaryk'), await find('edvard b'), await find('benes')]).toEqual([[], ['Edvard Beneš'], []])
    expect(await listed('edvard b')).toEqual([id])
    await keepHouse()
    expect([await find('benes'), await find('edvard b')]).toEqual([['Edvard Beneš'], ['Edvard Beneš']])
    await written(null)
    expect(await rows('SELECT name FROM consumer_names WHERE consumer_id = ?', id)).toEqual([])
    const columns = 'project_id, id, name, metadata, state, revision, created_at, updated_at'
    const many = `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
      INSERT INTO consumers (${columns}) SELECT ?, 'csm_former' || i, 'Jan Žižka ' || i, '{}', 'active', 1, 1, 1 FROM n`
    await STORE.prepare(many).bind(project).run()
    advance(HOUR)
    await keepHouse()
    expect(await rows('SELECT id FROM consumers WHERE name IS NOT NULL AND name_keys IS NULL')).toEqual([])
    expect(await find('zizka 1200')).toEqual(['Jan Žižka 1200'])
  })

  it.each(['a.b.c.d.e.f.g.h.i@j.k', 'one two three', '1 2 3 4 5 6 7 8 9 10 11 12'])(
    'are looked for by many words, on the page of the list too: %s',
    async (q) => {
      const { status } = await visit(`/console/p/${project}/platform/consumers?q=${encodeURIComponent(q)}`, token)
      expect([status, await find(q)]).toEqual([200, []])
    },
  )

  it('take a limited number of rows, however many words they have', async () => {
    const letters = Array.from({ length: 50 }, (_, i) => String.fromCodePoint(i < 33 ? 0x10d0 + i : 0x540 + i)) // Georgian, Armenian
    const { id } = (await api().put('long', { name: letters.join(' ') })).body
    const [{ n } = { n: 0 }] = await rows<{ n: number }>(
      'SELECT count(*) AS n FROM consumer_names WHERE consumer_id = ?',
      id,
    )
    expect(n).toBe(10)
    expect([await find(letters[9] as string), await find(letters[10] as string)]).toEqual([[letters.join(' ')], []])
    expect(await find(letters.join(' '))).toEqual([letters.join(' ')])
    expect(await find('x'.repeat(30))).toEqual([])
    await api().put('long', { name: `${'x'.repeat(30)}y` })
    expect(await find('x'.repeat(30))).toEqual([`${'x'.repeat(30)}y`])
  })
})

describe('names of customers', () => {
  let world: BillingWorld
  beforeAll(async () => {
    world = await billingWorld()
    project = world.project
    token = world.token
  })
  const said = (id: string, name: string | null, at: number) =>
    world.deliver(
      stripeEventOf('customer.updated', { id, object: 'customer', name, email: `${id}@example.com` }, { at }),
    )

  it('are found in the same way', async () => {
    for (const [i, name] of NAMES.entries()) await said(`cus_named${i}`, name, 1_000)
    for (const [text, names] of FOUND)
      expect([text, (await find(text, 'customer')).sort()]).toEqual([text, [...names].sort()])
  })

  it('follow a change, and end with an erasure', async () => {
    await said('cus_changes', 'Wilhelm Tell', 2_000)
    await said('cus_changes', 'Walter Fürst', 3_000)
    expect([await find('tell', 'customer'), await find('furst', 'customer')]).toEqual([[], ['Walter Fürst']])
    const consumers = as(project, token)
    const { id } = (await consumers.put('walter')).body
    await consumers.pin('cus_changes', id)
    await consumers.erase(id)
    advance(MINUTE)
    await cron({ EVENTS: world.queue.EVENTS })
    expect(await find('furst', 'customer')).toEqual([])
    expect(await rows("SELECT name FROM customer_names WHERE customer = 'cus_changes'")).toEqual([])
    const kept = "SELECT 1 FROM billing_objects WHERE vendor_id = 'cus_changes' AND name_keys IS NOT NULL"
    expect(await rows(kept)).toEqual([])
  })

  it('are found by their first letters until the cron has written their keys, then by all words', async () => {
    await said('cus_former', 'Tomáš Garrigue Masaryk', 4_000)
    const written = `UPDATE billing_objects SET candidates = json_set(candidates, '$[0].body.name', 'Edvard Beneš') WHERE vendor_id = ?`
    await rows(written, 'cus_former')
    const now = async () => [
      await find('masaryk', 'customer'),
      await find('edvard', 'customer'),
      await find('benes', 'customer'),
    ]
    expect(await now()).toEqual([[], ['Edvard Beneš'], []])
    advance(HOUR)
    await keepHouse()
    expect(await now()).toEqual([[], ['Edvard Beneš'], ['Edvard Beneš']])
  })
})

it('reads few rows among 100,000 names with a word in common, in a trip', async () => {
  const { project, secret } = await freshKey()
  const range = 'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000)'
  const key = (i: string) => `printf('csm_%026d', ${i})`
  const both = (table: string, columns: string, id: (word: string) => string) =>
    ['maria', 'garcia'].map((word) =>
      STORE.prepare(`${range} INSERT INTO ${table} (project_id, name, ${columns}) SELECT ?, ${id(word)} FROM n`).bind(
        project,
      ),
    )
  const nameOf = (word: string) => (word === 'maria' ? "'maria n' || i || ' garcia'" : "'garcia maria n' || i")
  await STORE.batch([
    STORE.prepare(
      `${range} INSERT INTO consumers (project_id, id, name, name_keys, metadata, state, revision, created_at, updated_at)
        SELECT ?, ${key('i')}, 'María N' || i || ' García', json_array('María N' || i || ' García'), '{}', 'active', 1, 1, 1 FROM n`,
    ).bind(project),
    ...both('consumer_names', 'consumer_id', (word) => `${nameOf(word)}, ${key('i')}`),
    ...both('customer_names', 'vendor, customer', (word) => `${nameOf(word)}, 'stripe', 'cus_' || i`),
  ])
  await find('m', 'consumer', { project, token: secret }) // the key is known from here on
  for (const [text, most] of [
    ['m', 250],
    ['maria', 250],
    ['MARÍA GARCÍA', 1_200],
    ['garcia n99999', 1_200],
    ['garcia maria n99999', 1_200],
  ] as const) {
    const { DB, count } = countingD1()
    const found = await find(text, 'consumer', { project, token: secret, bindings: { DB } })
    expect([text, found.length > 0, count.rows_read < most]).toEqual([text, text !== 'garcia n99999', true])
    if (STORES.length === 1) expect(count.trips).toBe(1)
  }
})
