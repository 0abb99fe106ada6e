import { beforeEach, describe, expect, it } from 'vitest'
import { paddleEventOf, paddleSubscription } from '../../billing/payloads'
import { newPaddleKey, paddleObjects, seenBy } from '../../harness'
import { importWorld } from '../imports/world'
import { advance, rows, stopClock } from '../pipeline'

/*
 * Paddle limits the calls of an address, and all projects share ours. What happens to each kind of work once they have reached the limit:
 * none of it reaches Paddle, and nothing is lost.
 */

beforeEach(() => {
  stopClock()
})

/** A limiter that lets so many calls through, and notes what it was asked for. */
function letting(calls: number) {
  const keys: string[] = []
  const LIMIT_VENDOR = {
    limit: async ({ key }: { key: string }) => ({ success: keys.push(key) <= calls }),
  } as unknown as RateLimit
  return { LIMIT_VENDOR, keys }
}

const world = () => importWorld(paddleObjects(3), { vendor: 'paddle' })

describe('once the calls of all projects have reached the limit of Paddle', () => {
  it('an import waits, then goes on', async () => {
    const { start, page, read, finish, apiKey } = await world()
    const before = (await seenBy(apiKey)).length
    const id = await start()
    const { keys, ...none } = letting(0)
    await page(none)
    expect(await read(id)).toMatchObject({ state: 'waiting', error: 'rate_limited' })
    expect(keys).toEqual(['api.paddle.com background'])
    expect((await seenBy(apiKey)).length).toBe(before)
    advance(15_000)
    expect(await finish(id)).toMatchObject({ state: 'done' })
  })

  it('a refresh answers with what is known', async () => {
    const { api, apiKey } = await world()
    const before = (await seenBy(apiKey)).length
    const { keys, ...none } = letting(0)
    const refresh = (bindings = {}) => api('/customers/paddle/ctm_000001/refresh', { method: 'POST', bindings })
    expect(await refresh(none)).toMatchObject({ status: 200, body: { state: 'stale', changed: false } })
    expect(new Set(keys)).toEqual(new Set(['api.paddle.com waited']))
    expect((await seenBy(apiKey)).length).toBe(before)
    advance(15_000)
    expect((await refresh()).body).toMatchObject({ state: 'fresh' })
  })

  it('an object in doubt waits, and no try is spent', async () => {
    const { deliver, project, fetches } = await world()
    const events = ['active', 'past_due'].map((status) =>
      paddleEventOf('subscription.updated', paddleSubscription({ id: 'sub_000001', status })),
    )
    await deliver(...events)
    advance(6000)
    await fetches.EVENTS.send({ what: 'doubt', project_id: project })
    const { keys, ...none } = letting(0)
    await fetches.pump(none)
    expect(keys).toEqual(['api.paddle.com background'])
    const doubts = () => rows('SELECT tries, due_at FROM vendor_doubts WHERE project_id = ?', project)
    expect(await doubts()).toEqual([{ tries: 0, due_at: Date.now() + 15_000 }])
    advance(15_000)
    await fetches.EVENTS.send({ what: 'doubt', project_id: project })
    await fetches.pump()
    expect(await doubts()).toEqual([])
  })

  it('a key is not tried, and the error says why', async () => {
    const { api, paddle } = await world()
    const { keys: _, ...none } = letting(0)
    const json = { api_key: newPaddleKey('live') }
    const { status, body } = await api(`/connections/${paddle}/api-key`, { method: 'PUT', json, bindings: none })
    expect({ status, code: body.code }).toEqual({ status: 502, code: 'vendor_failed' })
    expect(body.detail).toBe(
      'All projects together are sending Paddle too many requests. Wait a minute and try again. Nothing was stored.',
    )
  })
})

it('calls of Stripe are not counted: its limit is of an account', async () => {
  const { page, start, read } = await importWorld([])
  const { keys, ...none } = letting(0)
  const id = await start()
  await page(none)
  expect([(await read(id)).error, keys]).toEqual([null, []])
})
