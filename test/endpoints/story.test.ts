import { beforeEach, describe, expect, it } from 'vitest'
import { stopClock } from '../clock'
import { hooksWorld, verified } from './world'

beforeEach(() => {
  stopClock()
})

describe('a webhook endpoint', () => {
  it('gets each later change once, in order, signed as Standard Webhooks say', async () => {
    const world = await hooksWorld()
    await world.change()
    const endpoint = await world.endpoint()
    const ids = await world.change(3)
    await world.pump()
    const seen = await endpoint.seen()
    const messages = seen.map((one) => verified(endpoint.secret, one))
    expect(messages.map(({ data }) => data.object.id)).toEqual(ids)
    expect(messages.map(({ type, data }) => [type, data.at])).toEqual(
      messages.map(({ timestamp }) => ['consumer.created', timestamp]),
    )
    expect(seen.map(({ headers }) => headers['webhook-id'])).toEqual(messages.map(({ data }) => data.id))
    await world.pump()
    await world.cron()
    await world.pump()
    expect(await endpoint.seen()).toHaveLength(3)
    const shown = await endpoint.get()
    expect(shown).toMatchObject({ state: 'active', behind: 0, failing_since: null, next_attempt_at: null })
    expect((await endpoint.attempts()).map((one) => [one.outcome, one.http_status, one.try])).toEqual(
      Array(3).fill(['taken', 200, 1]),
    )
    expect(await endpoint.deliveries()).toEqual([])
  })
})
