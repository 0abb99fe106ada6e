import { expect, it } from 'vitest'
import { SECOND } from '../../src/lib/time'
import { setClock, stopClock } from '../clock'
import story from './purchase-story/story.md?raw'
import { entitlementWorld } from './world'

/* The life of two purchases, from the files of purchase-story/, and what their consumer may do after each event: see the table in story.md. */

const files = import.meta.glob<{ created: number }>('./purchase-story/*.json', { import: 'default', eager: true })
const nameOf = (path: string) => path.split('/').at(-1)?.replace('.json', '') ?? ''
const EVENTS = new Map(Object.entries(files).map(([path, event]) => [nameOf(path), event]))
const NONE = '–'

/** The table of story.md: its lines as cells by their headings. */
const LINES = (() => {
  const [headings = [], , ...lines] = story
    .split('\n')
    .filter((line) => line.startsWith('|'))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
  return lines.map((cells) => Object.fromEntries(headings.map((heading, i) => [heading, cells[i] ?? ''])))
})()

it('tells what a consumer may do in every chapter of a purchase', async () => {
  stopClock(Date.parse('2026-01-01T00:00:00Z'))
  const world = await entitlementWorld()
  await world.catalog.feature('export')
  const prices = [{ vendor: 'stripe', ref: 'price_half_year', lasts: 'P6M' }]
  await world.catalog.plan({ key: 'pro', name: 'Pro', features: { export: { value: true } }, prices })
  await world.consumers.put('ada')
  expect(LINES.map(({ event }) => event).filter((name) => name !== NONE)).toEqual([...EVENTS.keys()].sort())

  /** The number of the file of each recorded event. */
  const numbers = new Map<string, string>()
  const bought = async (id: string) => {
    const { status, body } = await world.api<Record<string, unknown>>(`/purchases/${id}`)
    return status === 404 ? NONE : `${body.status} ${body.refunded_amount}`
  }
  async function told(query = '') {
    const { features } = await world.one('ext:ada', `?explain=true${query}`)
    const { allowed, reason, valid_until, sources = [] } = features.export ?? {}
    const named = sources.map(({ event_id, counted }) => {
      const number = numbers.get(event_id ?? '') ?? 'unknown'
      return counted ? `**${number}**` : number
    })
    return {
      allowed: allowed ? 'yes' : 'no',
      reason,
      'valid until': valid_until ?? NONE,
      'explained by': named.join(', '),
      'why not': sources[0]?.why_not ?? NONE,
    }
  }

  for (const { at = '', event = '', because: _, ...expected } of LINES) {
    setClock(Date.parse(at))
    const body = EVENTS.get(event)
    if (body) {
      // Its own time, which the vendor says, is a second or two before its delivery.
      expect(Date.parse(at) - body.created * SECOND, event).toBe(2 * SECOND)
      const [id = ''] = await world.deliver(body)
      numbers.set(id, event.slice(0, 2))
    }
    const seen = {
      'first purchase': await bought('pi_3StoryA'),
      'second purchase': await bought('pi_3StoryB'),
      ...(await told()),
    }
    expect({ at, ...seen }).toEqual({ at, ...expected })
    // A check says the same.
    const { features } = (await world.check(['ext:ada'], ['export'])).body.data[0] ?? {}
    const { allowed, reason, valid_until } = features?.export ?? {}
    expect([at, allowed ? 'yes' : 'no', reason, valid_until ?? NONE]).toEqual([
      at,
      expected.allowed,
      expected.reason,
      expected['valid until'],
    ])
  }
  // Each of these answers can be asked for later.
  for (const { at = '', allowed, reason, 'valid until': until, 'explained by': events, 'why not': why } of LINES) {
    const expected = { allowed, reason, 'valid until': until, 'explained by': events, 'why not': why }
    expect({ at, ...(await told(`&at=${at}`)) }).toEqual({ at, ...expected })
    expect(await world.one('ext:ada', `?at=${at}`), at).toMatchObject({ exact: true, missing: [] })
  }
})
