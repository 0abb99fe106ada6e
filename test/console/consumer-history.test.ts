import { beforeEach, describe, expect, it } from 'vitest'
import { MINUTE, SECOND } from '../../src/lib/time'
import { billingWorld } from '../billing/world'
import { advance, stopClock } from '../clock'
import { as } from '../consumers/consumers'
import { ofCustomer } from '../consumers/events'
import { as as devicesAs } from '../devices/devices'
import { countingD1, freshProject, inStore, mint, STORE } from '../harness'
import { submit, visit } from './visit'

// The database has a clock of its own, which is not stopped: it says when a link ended.
beforeEach(() => stopClock(Date.now() - MINUTE))

/** Reads the histories of consumers. */
function historiesIn(project: string, token: string) {
  const pageOf = (id: string) => visit(`/console/p/${project}/platform/consumers/${id}?tab=history`, token)
  /** Who did what, in the order of the rows. */
  const historyOf = async (id: string) =>
    (await pageOf(id)).text
      .split('<tr>')
      .slice(2)
      .map((row) =>
        row
          .replace(/^.*?<\/td>|<\/tbody>.*$/gs, '')
          .replace(/<[^>]+>/g, ' ')
          .replace(/\s+/g, ' ')
          .trim(),
      )
  return { pageOf, historyOf }
}

/** A project, and what an owner and an API key do in it, a second apart. */
async function newPlace() {
  const { project, owner } = await freshProject()
  const { secret } = await mint(owner.token, project, { name: 'Shop' })
  const [byOwner, byKey] = [as(project, owner.token), as(project, secret)]
  const inTurn = async (...steps: (() => Promise<{ status: number }>)[]) => {
    for (const step of steps) {
      advance(SECOND)
      expect([200, 201, 202]).toContain((await step()).status)
    }
  }
  return { project, owner, byOwner, byKey, inTurn, ...historiesIn(project, owner.token) }
}

describe('the changes of a consumer in its history', () => {
  it('say who made them, and what each field was before and after; the same values again are no change', async () => {
    const { owner, byOwner, byKey, inTurn, historyOf } = await newPlace()
    const { id } = (await byKey.put('ada', { name: 'Ada' })).body
    await inTurn(
      () => byKey.put('ada', { name: 'Ada <b>', email: 'Ada@example.com', metadata: { team: 'red', seat: '4' } }),
      () => byKey.put('ada', { name: 'Ada <b>', email: 'ada@example.com' }),
      () => byOwner.patch(id, { email: null, metadata: { team: 'blue' } }),
      () => byOwner.patch(id, { external_id: 'ada-2' }),
      () => byKey.put('ada-2', { email: 'ada@example.org' }),
    )
    expect(await historyOf(id)).toEqual([
      'API key “Shop” Changed the consumer Email address: none → ada@example.org',
      `${owner.email} Added an ID ada-2`,
      `${owner.email} Changed the consumer Email address: ada@example.com → none Metadata seat: 4 → none Metadata team: red → blue`,
      'API key “Shop” Changed the consumer Name: Ada → Ada &lt;b&gt; Email address: none → ada@example.com Metadata seat: none → 4 Metadata team: none → red',
      'API key “Shop” Created the consumer',
    ])
  })

  it('are the last ten, and have no long metadata', async () => {
    const { byKey, inTurn, historyOf } = await newPlace()
    const { id } = (await byKey.put('ada', { metadata: { note: 'x'.repeat(500) } })).body
    await inTurn(
      () => byKey.put('ada', { metadata: { note: 'y'.repeat(500) } }),
      () => byKey.put('ada', { metadata: {} }),
    )
    expect((await historyOf(id)).slice(0, 2)).toEqual([
      'API key “Shop” Changed the consumer Metadata: too long to be kept → 0 values',
      'API key “Shop” Changed the consumer Metadata: too long to be kept → too long to be kept',
    ])
    await inTurn(...Array.from({ length: 11 }, (_, n) => () => byKey.put('ada', { name: `Name ${n}` })))
    const history = await historyOf(id)
    expect(history).toHaveLength(11)
    expect(history.at(-2)).toBe('API key “Shop” Changed the consumer Name: Name 0 → Name 1')
  })

  it('are gone when it is erased, also those of a consumer that was merged into it', async () => {
    const { project, owner, byKey, byOwner, inTurn, historyOf } = await newPlace()
    const [ada, old] = [(await byKey.put('ada', { name: 'Ada' })).body.id, (await byKey.put('old', {})).body.id]
    await inTurn(
      () => byKey.put('ada', { name: 'Ada King' }),
      () => byKey.put('old', { name: 'Ada Byron' }),
      () => byOwner.merge(old, ada),
    )
    expect(await historyOf(old)).toContain('API key “Shop” Changed the consumer Name: none → Ada Byron')
    await inTurn(() => byOwner.erase(ada))
    expect(await historyOf(ada)).toEqual([
      `${owner.email} Erased a consumer`,
      `${owner.email} Merged a consumer into ${ada}`,
      'API key “Shop” Created the consumer',
    ])
    expect(await historyOf(old)).not.toContain(expect.stringContaining('Changed'))
    const { results } = await STORE.prepare('SELECT edits FROM consumers WHERE project_id = ?').bind(project).all()
    expect(results).toEqual([{ edits: null }, { edits: null }])
  })

  it('begin with who created it: a person in the console, or single sign-on; an earlier version did not record it', async () => {
    const { project, owner, historyOf, byKey } = await newPlace()
    const { id } = (await byKey.put('ada', {})).body
    const createdBy = async (by: string | null) => {
      await STORE.prepare('UPDATE consumers SET created_by = ? WHERE id = ?').bind(by, id).run()
      return historyOf(id)
    }
    expect(await createdBy(null)).toEqual(['Not recorded Created the consumer'])
    expect(await createdBy('sso_1')).toEqual(['Single sign-on Created the consumer'])
    const form = { external_id: 'bea', name: 'Bea' }
    const at = `/console/p/${project}/platform/consumers`
    const { headers } = await submit(at, owner.token, form)
    const made = /csm_\w+/.exec(headers.get('Location') ?? '')?.[0] ?? ''
    expect(await historyOf(made)).toEqual([`${owner.email} Created the consumer`])
  })
})

describe('the history of a consumer', () => {
  it('has its devices and the links that events made and ended, with the audit log, newest first', async () => {
    const world = await billingWorld()
    const { project, owner } = world
    const { token } = owner
    const [api, devices] = [as(project, token), devicesAs(project, token)]
    const [ada, bea] = [(await api.put('ada')).body.id, (await api.put('bea')).body.id]
    const inTurn = async (...steps: (() => Promise<unknown>)[]) => {
      for (const step of steps) {
        advance(SECOND)
        await step()
      }
    }
    const { pageOf, historyOf } = historiesIn(project, token)
    const LINKED = 'customer\\. updated Linked a customer, or confirmed its link, by its metadata Ada at Stripe cus_1'
    const created = `${owner.email} Created the consumer`
    expect(await historyOf(ada)).toEqual([created])

    const named = (externalId: string, moment: number) => {
      const { data, ...event } = ofCustomer('cus_1', externalId, moment)
      return { ...event, data: { object: { ...data.object, name: 'Ada at Stripe' } } }
    }
    let phone = ''
    const registered = async () => {
      phone = (await devices.register(ada, 'inst_1', { name: 'Phone <1>' })).body.device.id
    }
    await inTurn(
      () => world.deliver(named('ada', 1_000)),
      registered,
      () => devices.register(ada, 'key_1', { platform: 'server', name: 'Server' }),
      () => api.pin('cus_2', ada),
      () => devices.revoke(ada, phone),
    )
    const me = owner.email
    const rest = [
      `${me} Revoked a device Phone &lt;1&gt;`,
      `${me} Pinned a customer to a consumer`,
      `${me} Registered a consumer’s key`,
      'Your server Registered a device Phone &lt;1&gt;',
    ]
    const begins = async (id: string, rows: string[]) =>
      expect(await historyOf(id)).toEqual(rows.map((row) => expect.stringMatching(new RegExp(`^${row}`))))
    await begins(ada, [...rest, LINKED, created])
    await inTurn(() => world.deliver(named('bea', 2_000)))
    await begins(ada, ['An event or a pin Ended the link of a customer Ada at Stripe cus_1', ...rest, created])
    await begins(bea, [LINKED, created])
    expect((await pageOf(bea)).text).toMatch(/<a href="[^"]*\/webhooks\/evt_\w+">customer\.<wbr\/>updated<\/a>/)
    await STORE.prepare('DELETE FROM events WHERE project_id = ?').bind(project).run()
    await begins(bea, [LINKED.replace(/^.*updated/, 'An event that is archived or no longer stored'), created])
  })

  it('reads few rows, however often links ended', async () => {
    const { project, owner } = await billingWorld()
    const { id } = (await as(project, owner.token).put('ada')).body
    await STORE.prepare(
      `WITH RECURSIVE n(v) AS (SELECT 1 UNION ALL SELECT v + 1 FROM n WHERE v < 5000)
       INSERT INTO customer_moves (project_id, ref, moved_at, customer, vendor) SELECT ?, 'ada', v, 'cus_' || v, 'stripe' FROM n`,
    )
      .bind(project)
      .run()
    const { DB, count } = countingD1()
    const at = `/console/p/${project}/platform/consumers/${id}?tab=history`
    const { text } = await visit(at, owner.token, { bindings: inStore(DB) })
    expect(text.match(/>cus_\d+</g)?.map((id) => id.slice(1, -1))).toEqual(
      Array.from({ length: 19 }, (_, n) => `cus_${5000 - n}`),
    )
    expect(count.rows_read).toBeLessThan(300)
  })
})
