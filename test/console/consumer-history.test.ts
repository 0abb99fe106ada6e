import { beforeEach, describe, expect, it } from 'vitest'
import { MINUTE, SECOND } from '../../src/lib/time'
import { billingWorld } from '../billing/world'
import { advance, stopClock } from '../clock'
import { as } from '../consumers/consumers'
import { ofCustomer } from '../consumers/events'
import { as as devicesAs } from '../devices/devices'
import { countingD1, inStore, STORE } from '../harness'
import { visit } from './visit'

// The database has a clock of its own, which is not stopped: it says when a link ended.
beforeEach(() => stopClock(Date.now() - MINUTE))

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
    expect(await historyOf(ada)).toEqual([])

    let phone = ''
    const registered = async () => {
      phone = (await devices.register(ada, 'inst_1', { name: 'Phone <1>' })).body.device.id
    }
    await inTurn(
      () => world.deliver(ofCustomer('cus_1', 'ada', 1_000)),
      registered,
      () => devices.register(ada, 'key_1', { platform: 'server', name: 'Server' }),
      () => api.pin('cus_2', ada),
      () => devices.revoke(ada, phone),
    )
    const me = owner.email
    const rest = [
      `${me} Revoked a device`,
      `${me} Pinned a customer to a consumer`,
      `${me} Registered a consumer’s key`,
      'Your server Registered a device Phone &lt;1&gt;',
    ]
    const begins = async (id: string, rows: string[]) =>
      expect(await historyOf(id)).toEqual(rows.map((row) => expect.stringMatching(new RegExp(`^${row}`))))
    await begins(ada, [...rest, 'An event Linked a customer, by its metadata cus_1'])
    await inTurn(() => world.deliver(ofCustomer('cus_1', 'bea', 2_000)))
    await begins(ada, ['An event or a pin Ended the link of a customer cus_1', ...rest])
    await begins(bea, ['An event Linked a customer, by its metadata cus_1'])
    expect((await pageOf(bea)).text).toMatch(/<a href="[^"]*\/webhooks\/evt_\w+">An event<\/a>/)
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
      Array.from({ length: 20 }, (_, n) => `cus_${5000 - n}`),
    )
    expect(count.rows_read).toBeLessThan(300)
  })
})
