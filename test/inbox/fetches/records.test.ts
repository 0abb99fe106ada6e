import { beforeEach, describe, expect, it } from 'vitest'
import { HOUR, SECOND } from '../../../src/lib/time'
import { stripeEventOf, stripeSubscription } from '../../billing/payloads'
import { visit } from '../../console/visit'
import { advance, rows, settle, stopClock } from '../pipeline'
import { CUSTOMER, refreshWorld } from '../refresh/world'
import { expectSound } from '../thin/sound'

/* Records of fetches, where they are looked for: lists of events leave them out. */

beforeEach(() => {
  stopClock()
})

/** Of two fetched objects, one cannot be applied: its id is too long. @param isDelivered whether an event with the same fault is, too */
async function failedWorld(isDelivered = true) {
  const odd = stripeSubscription({ id: `sub_${'x'.repeat(600)}` })
  const world = await refreshWorld([CUSTOMER, odd])
  const event = stripeEventOf('customer.subscription.created', odd)
  const [delivered = ''] = isDelivered ? await world.deliver(event) : []
  expect((await world.refresh()).body).toMatchObject({ state: 'partial', changed: true })
  const found = await rows<{ id: string; status: string }>(
    "SELECT id, status FROM events WHERE project_id = ? AND id >= 'ftc' ORDER BY status",
    world.project,
  )
  expect(found.map(({ status }) => status)).toEqual(['failed', 'processed'])
  const [failed = '', processed = ''] = found.map(({ id }) => id)
  return { ...world, delivered, failed, processed }
}

describe('records of fetches', () => {
  it('are found by a search for them, with all other filters, and not by a search for events', async () => {
    const { api, connection, delivered, failed, processed } = await failedWorld()
    const search = async (query: string) =>
      (await api(`/webhooks/search?view=summary&${query}`)).body.data.map(({ id }: { id: string }) => id)
    expect((await search('source=fetch')).sort()).toEqual([failed, processed].sort())
    expect(await search('source=fetch&status=failed')).toEqual([failed])
    expect(await search('source=fetch&status=failed&event_type=fetch.*&order=asc')).toEqual([failed])
    expect(await search(`source=fetch&event_type=fetch.customer&connection_id=${connection.id}`)).toEqual([processed])
    expect(await search(`source=fetch&ref=${CUSTOMER.id}`)).toContain(processed)
    expect(await search('source=fetch&received_before=2020-01-01T00:00:00Z')).toEqual([])
    expect(await search('status=failed')).toEqual([delivered])
    expect(await search('source=delivery&status=failed')).toEqual([delivered])
    expect(await api('/webhooks/search?source=import')).toMatchObject({ status: 422 })
  })

  it('are replayed by a filter, without changing the totals of events', async () => {
    const world = await failedWorld()
    const filter = { source: 'fetch', status: ['failed', 'processed'] }
    const { status, body } = await world.api('/webhooks/replay', { method: 'POST', json: { filter } })
    expect([status, body.matched, body.queued]).toEqual([202, 2, 2])
    await settle(world)
    expect((await world.api(`/webhooks/replays/${body.replay_id}`)).body).toMatchObject({
      ...{ open: 0, processed: 1, failed: 1 },
    })
    await expectSound(world)
    const { counts } = (await world.api('/webhooks/health')).body
    expect(counts).toMatchObject({ failed: 1, processed: 0 })
  })

  it('that failed are named by health for an hour', async () => {
    const { api, failed, owner, project } = await failedWorld(false)
    const reasons = async () => (await api('/webhooks/health')).body.reasons.join('\n')
    expect(await reasons()).toContain('1 object that was fetched in the last hour could not be applied')
    const list = `/console/p/${project}/platform/billing/webhooks`
    expect((await visit(`/console/p/${project}`, owner.token)).text).toContain(
      `href="${list}?source=fetch&amp;status=failed"`,
    )
    const found = (await visit(`${list}?source=fetch&status=failed`, owner.token)).text
    expect([...found.matchAll(/<tr id="(\w+)"/g)].map(([, id]) => id)).toEqual([failed])
    expect(found).toContain('Source: fetched from the vendor')
    const live = await visit(`${list}/live?source=fetch&status=failed&newest=${failed}`, owner.token)
    expect([live.status, live.text]).toEqual([204, ''])
    advance(HOUR + SECOND)
    expect(await reasons()).not.toContain('fetched')
  })
})
