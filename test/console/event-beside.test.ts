import { describe, expect, it } from 'vitest'
import { countingD1, lossyQueue, ORIGIN } from '../harness'
import { insertEvents, seedEvent } from '../inbox/seeding'
import { eventWorld } from './event-world'
import { visit } from './visit'

describe('the events beside an event', () => {
  it('are those of the list that the visitor came from, which the links keep', async () => {
    const { project, owner, events, put } = await eventWorld()
    const [a, b, c, d] = [
      await put({}),
      await put({ status: 'failed' }),
      await put({}),
      await put({ status: 'failed' }),
    ]
    const linked = async (path: string, referer?: string) => {
      const { text } = await visit(path, owner.token, { headers: referer ? { Referer: ORIGIN + referer } : {} })
      const nav = /<nav class="neighbors".*?<\/nav>/s.exec(text)?.[0] ?? ''
      const back = /class="above"><a href="([^"]+)"/.exec(text)?.[1]
      const links = [...nav.matchAll(/href="([^"]+)" rel="(\w+)"/g)].map(([, href, rel]) => [rel, href])
      return { nav, back, ...Object.fromEntries(links) }
    }
    expect(await linked(`${events}/${b}`)).toMatchObject({
      back: events,
      prev: `${events}/${c}`,
      next: `${events}/${a}`,
    })
    expect(await linked(`${events}/${d}`)).not.toHaveProperty('prev')
    const list = `${events}?status=failed`
    const failed = await linked(`${events}/${d}`, list)
    expect([failed.nav, failed.back]).toEqual([expect.stringContaining('In the filtered list'), list])
    expect([failed.prev, failed.next]).toEqual([undefined, `${events}/${b}?list=status%3Dfailed`])
    const next = await linked(failed.next, `${events}/${d}`)
    expect([next.prev, next.next, next.back]).toEqual([`${events}/${d}?list=status%3Dfailed`, undefined, list])
    // The page of an event that was in a list leads back to it, such as after a replay.
    expect((await linked(`${events}/${b}?replayed=1`, failed.next)).prev).toBe(next.prev)
    const oldest = await linked(`${events}/${b}?list=${encodeURIComponent('order=asc&within=1h')}`)
    expect([oldest.prev, oldest.next].map((path) => path.split('?')[0])).toEqual([`${events}/${a}`, `${events}/${c}`])
    // A list that is none is left out, as one of another project would be.
    expect((await linked(`${events}/${b}?list=min_attempts%3Dx`)).prev).toBe(`${events}/${c}`)
    expect((await linked(`${events}/${b}`, `${events.replace(project, 'prj_other')}?status=failed`)).prev).toBe(
      `${events}/${c}`,
    )
    const { DB, count } = countingD1()
    await visit(`${events}/${b}?list=status%3Dfailed`, owner.token, { bindings: { EVENTS: lossyQueue().EVENTS, DB } })
    expect(count.trips).toBeLessThanOrEqual(6)
  })

  it('are looked for among the nearest ones', async () => {
    const { project, owner, events, connection } = await eventWorld()
    const at = Date.now()
    const seeds = Array.from({ length: 203 }, (_, n) =>
      seedEvent({ connection, received_at: at + n, event_type: n === 0 ? 'a.b' : 'c.d' }),
    )
    await insertEvents(project, seeds)
    const see = async (n: number) => (await visit(`${events}/${seeds[n]?.id}?list=ref%3Dnone`, owner.token)).text
    expect(await see(202)).not.toContain('not among the nearest 200')
    const { text } = await visit(`${events}/${seeds[202]?.id}?list=replay_id%3Dnone`, owner.token)
    expect(text).toMatch(/Next: not among the nearest 200/)
    expect(text).not.toContain('Previous: not')
  })
})
