import { describe, expect, it } from 'vitest'
import { TABLES } from './vendor-tables'
import { vendorWorld } from './vendor-world'
import type { List, Shown } from './world'

/* What each kind of event says, through ingest and the API, in a project of its own. */

describe.each(TABLES)('%s', (vendor, lines) => {
  it.each(lines)('%s', async (_, payload, said, environment) => {
    const world = await vendorWorld(vendor)
    const event = await world.tell(payload, environment)
    expect([event.status, event.last_error]).toEqual([said.length > 0 ? 'processed' : 'ignored', null])
    const effects = event.decoded_summary?.effects ?? []
    expect(effects.filter(({ kind }) => kind !== 'customer_link').length).toBe(said.length)
    for (const { list, id, items, fields, ...expected } of said) {
      const path = list === 'customers' ? `/customers/${vendor}/${id}` : `/${list}/${encodeURIComponent(id)}`
      const shown = (await world.api<Shown>(`${path}?include=vendor_object`)).body
      // Where the vendor does not say it, the mode is that of the connection, which is live.
      const mode = { livemode: expected.livemode ?? true }
      expect(shown).toMatchObject({ ...expected, ...mode, ...fields, ambiguous: false, source_event_id: event.id })
      if (items)
        expect(
          (shown.items as Shown[]).map(({ price, variant, product, quantity }) => [price, variant, product, quantity]),
        ).toEqual(items)
      expect(shown.vendor_object).not.toBeNull()
      if (list !== 'customers') expect(await world.timeline(list as List, encodeURIComponent(id))).toHaveLength(1)
    }
  })
})

it('lists of another vendor do not mix', async () => {
  const world = await vendorWorld('square')
  const [, lines] = TABLES.find(([vendor]) => vendor === 'square') ?? []
  for (const [, payload] of lines?.slice(0, 2) ?? []) await world.tell(payload)
  const { body } = await world.api<{ data: Shown[] }>('/subscriptions?vendor=chargebee')
  expect(body.data).toEqual([])
})
