import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_LISTED_BYTES } from '../../src/watch/limits'
import { stopClock } from '../clock'
import { insertState } from '../entitlements/rows'
import { watchWorld } from './world'

beforeEach(() => {
  stopClock()
})

const LIST = 'billing/entitlements'

describe('the list of what the feed has told', () => {
  it('says whether the feed tells of entitlements', async () => {
    const world = await watchWorld()
    const watching = async () => (await world.must('GET', LIST)).watching
    expect(await watching()).toBe('off')
    await world.set({ watch_entitlements: true })
    expect(await watching()).toBe('starting')
    await world.told()
    expect(await watching()).toBe('on')
    await world.set({ watch_entitlements: false })
    expect(await watching()).toBe('off')
  })

  it.each([
    ['a feature that is not a quantity', () => ({ devices_feature: 'sso' })],
    ['a plan of another project', (plan: string) => ({ default_plan: plan })],
  ])('goes on, and its setting stays, when a change of settings is refused for %s', async (_, bad) => {
    const [world, other] = [await watchWorld(), await watchWorld()]
    await world.sell()
    await other.sell({ sso: { value: true } })
    await world.set({ watch_entitlements: true })
    await world.told()
    const before = (await world.must('GET', `projects/${world.project}`)).settings
    const settings = { watch_entitlements: false, ...bad(other.plans[0] ?? '') }
    expect((await world.ask('PATCH', `projects/${world.project}`, { settings })).status).toBe(422)
    expect((await world.must('GET', `projects/${world.project}`)).settings).toEqual(before)
    expect((await world.must('GET', LIST)).watching).toBe('on')
  })

  it('has what was told, and not what a check knows already', async () => {
    const world = await watchWorld()
    await world.sell()
    const { id } = await world.must('PUT', 'consumers/ext:ada', {})
    await world.set({ watch_entitlements: true })
    await world.told()
    const grant = async (value: number) =>
      world.must('POST', 'billing/grants', { consumer: 'ext:ada', feature: 'seats', value })
    await grant(5)
    const [change] = await world.told()
    const first = await world.must('GET', LIST)
    expect(first).toEqual({
      data: [{ consumer_id: id, revision: change?.revision, features: { seats: 5 } }],
      has_more: false,
      next_cursor: null,
      watching: 'on',
    })
    const second = await grant(10)
    expect(await world.allowed('ext:ada')).toEqual({ seats: 10 })
    expect(await world.must('GET', LIST)).toEqual(first)
    // What has come and gone before the feed looks is not told, and the list has never had it.
    await world.must('DELETE', `billing/grants/${second.id}`)
    expect(await world.told()).toEqual([])
    expect((await world.must('GET', LIST)).data[0].features).toEqual({ seats: 5 })
  })

  it('ends a page early if values are large, and continues with the next consumer', async () => {
    const world = await watchWorld()
    const ids: string[] = []
    for (let n = 0; n < 4; n++) {
      ids.push(await insertState(world.project, { limits: 'x'.repeat(0.6 * MAX_LISTED_BYTES) }))
    }
    const found: string[] = []
    const sizes: number[] = []
    for (let cursor: string | null = ''; cursor !== null; ) {
      const page: { data: { consumer_id: string }[]; next_cursor: string | null } = (await world.must(
        'GET',
        `${LIST}?limit=100${cursor && `&cursor=${cursor}`}`,
      )) as never
      found.push(...page.data.map(({ consumer_id }) => consumer_id))
      sizes.push(page.data.length)
      cursor = page.next_cursor
    }
    expect(sizes).toEqual([2, 2])
    expect(found).toEqual(ids.toSorted().toReversed())
  })
})
