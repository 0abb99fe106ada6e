import { beforeEach, describe, expect, it } from 'vitest'
import { DAY, HOUR } from '../../src/lib/time'
import { advance, stopClock } from '../clock'
import { noticesIn } from '../exposures/world'
import { call, deliver, freshConnection, freshProject, KEYS, mailbox, mint, STORE, stripeEvent } from '../harness'
import { cron, keepHouse, newWorld } from '../inbox/pipeline'

/* When the team is told: which keys, and how much must fail within which time. */

const NOON = Date.parse('2026-11-27T12:00:00Z')
beforeEach(async () => {
  stopClock(NOON)
  await STORE.prepare('UPDATE notices SET mail_due_at = NULL').run()
})

describe('an API key that expires', () => {
  /** A project with keys by the time until they expire (ms), last used so long ago (ms). */
  async function expiring(...of: [left: number, used: number | null][]) {
    const { project, owner } = await freshProject()
    const keys: { id: string; key_prefix: string }[] = []
    for (const [left, used] of of) {
      const { key } = await mint(owner.token, project, { scopes: ['billing:read'] })
      await STORE.prepare('UPDATE api_keys SET expires_at = ?, last_used_at = ? WHERE id = ?')
        .bind(NOON + left, used === null ? null : NOON - used, key.id)
        .run()
      keys.push(key)
    }
    const told = async () =>
      Object.fromEntries((await noticesIn(project)).map(({ object_id, facts }) => [object_id, facts.days]))
    return { project, owner, keys, told, days: (all: Record<string, unknown>) => keys.map(({ id }) => all[id]) }
  }

  it('is told of by when it expires', async () => {
    const { told, days } = await expiring(
      ...([0, 1, DAY, DAY + 1, 7 * DAY, 7 * DAY + 1].map((left) => [left, HOUR]) as [number, number][]),
    )
    await keepHouse()
    expect(days(await told())).toEqual([undefined, 1, 1, 7, 7, undefined])
  })

  it('is told of by when it was used, with whichever secret', async () => {
    const { keys, told, days } = await expiring(
      [DAY, null],
      [DAY, 30 * DAY],
      [DAY, 30 * DAY - 1],
      [DAY, null],
      [DAY, 40 * DAY],
    )
    const previous = { key_prefix: 'p', issued_to: 'usr_1', lineage: null, replaced_at: 1, valid_until: 2 }
    for (const [at, used] of [
      [3, NOON - HOUR],
      [4, NOON - 31 * DAY],
    ] as const) {
      await STORE.prepare('UPDATE api_keys SET previous = ? WHERE id = ?')
        .bind(JSON.stringify({ ...previous, last_used_at: used }), keys[at]?.id)
        .run()
    }
    await keepHouse()
    expect(days(await told())).toEqual([undefined, undefined, 1, 1, undefined])
  })

  it('has a notice with all that is known, in UTC to the second', async () => {
    const { project, keys } = await expiring([2 * DAY + 500, HOUR + 1])
    const last = { address: 'h', country: 'NO', user_agent: 'curl', operation: 'getOwnApiKey' }
    await STORE.prepare('UPDATE api_keys SET last_use = ? WHERE id = ?').bind(JSON.stringify(last), keys[0]?.id).run()
    await keepHouse()
    expect((await noticesIn(project)).map(({ facts }) => facts)).toEqual([
      {
        name: 'test key',
        key_prefix: keys[0]?.key_prefix,
        expires_at: '2026-11-29T12:00:00Z',
        last_used_at: '2026-11-27T10:59:59Z',
        country: 'NO',
        user_agent: 'curl',
        days: 7,
      },
    ])
  })

  it('is not told of if it was revoked, or if its project is deleted', async () => {
    const revoked = await expiring([DAY, HOUR])
    await call(`${KEYS}/${revoked.keys[0]?.id}`, {
      method: 'DELETE',
      project: revoked.project,
      token: revoked.owner.token,
    })
    const deleted = await expiring([DAY, HOUR])
    await call(`/platform/v1/projects/${deleted.project}?name=Test`, { method: 'DELETE', token: deleted.owner.token })
    await keepHouse()
    expect([await revoked.told(), await deleted.told()]).toEqual([{}, {}])
  })

  it('is told of again a day before, once, with a new email, and until it has expired', async () => {
    const { project, owner, keys, told } = await expiring([7 * DAY, HOUR], [7 * DAY - HOUR, HOUR])
    const mailed = async () => {
      await keepHouse()
      const { EMAIL, mails } = mailbox()
      await cron({ EMAIL, SIGN_IN_DELIVERY: 'email' })
      return mails.filter(({ to }) => to === owner.email).map(({ subject }) => subject)
    }
    const row = (name: string) =>
      STORE.prepare(`SELECT ${name} AS v FROM notices WHERE object_id = ?`).bind(keys[0]?.id).first('v')
    const two = '2 notices about your project'
    const one = 'An API key is about to expire'
    expect(await mailed()).toEqual([two])
    const id = await row('id')
    await STORE.prepare("UPDATE notices SET tries = 4, mail_left = '[]' WHERE project_id = ?").bind(project).run()
    advance(6 * DAY - HOUR)
    expect([await mailed(), Object.values(await told()).sort()]).toEqual([[one], [1, 7]])
    advance(HOUR)
    expect([await mailed(), await mailed(), Object.values(await told())]).toEqual([[one], [], [1, 1]])
    expect([await row('id'), await row('tries'), await row('opened_at')]).toEqual([id, 1, NOON])
    advance(DAY)
    await keepHouse()
    expect(await row('closed_at')).toBe(NOON + 7 * DAY)
  })
})

describe('a connection', () => {
  it('is told of when 20 deliveries were refused within 15 minutes, whatever was refused before', async () => {
    const { project, connection } = await freshConnection()
    const refuse = async (n: number) => {
      for (let i = 0; i < n; i++) await deliver(connection.id, stripeEvent(), { secret: 'whsec_of_somebody_else' })
    }
    await refuse(19)
    advance(16 * 60_000)
    await refuse(1)
    expect(await noticesIn(project)).toEqual([])
    advance(15 * 60_000)
    await refuse(18)
    expect(await noticesIn(project)).toEqual([])
    await refuse(1)
    expect(await noticesIn(project)).toMatchObject([{ facts: { refused: 20, name: 'Stripe' } }])
  })

  it('is not told of if the deliveries were refused for a muted cause; those of another cause alone count', async () => {
    const { project, connection, secret } = await freshConnection()
    const path = `/platform/v1/billing/connections/${connection.id}/refusals`
    const muted = await call(`${path}/signature_mismatch/mute`, {
      ...{ method: 'PUT', project, token: secret, json: { until: null } },
    })
    const refuse = async (n: number, how: object) => {
      for (let i = 0; i < n; i++) await deliver(connection.id, stripeEvent(), how)
    }
    await refuse(21, { secret: 'whsec_of_somebody_else' })
    expect(await noticesIn(project)).toEqual([])
    await refuse(19, { headers: { 'Stripe-Signature': 'nonsense' } })
    expect(await noticesIn(project)).toEqual([])
    await refuse(1, { headers: { 'Stripe-Signature': 'nonsense' } })
    expect(await noticesIn(project)).toMatchObject([{ kind: 'connection_degraded', facts: { refused: 20 } }])
    const { body } = await call(path, { project, token: secret })
    expect(body.data).toMatchObject([
      { code: 'signature_mismatch', count: 21, mute: muted.body },
      { code: 'signature_malformed', count: 20, mute: null },
    ])
    expect((await call(`${path}/unheard_of/mute`, { method: 'DELETE', project, token: secret })).status).toBe(404)
  })

  it('is told of when ten events failed that came within an hour', async () => {
    const { project, send, queue } = await newWorld()
    const fail = async (from: number, n: number) => {
      for (let i = from; i < from + n; i++) {
        await send({ id: `evt_broken${i}`, object: 'event', type: 'invoice.paid', data: {} })
        await queue.pump()
      }
    }
    await fail(0, 9)
    advance(61 * 60_000)
    await fail(9, 1)
    expect(await noticesIn(project)).toEqual([])
    advance(59 * 60_000)
    await fail(10, 8)
    expect(await noticesIn(project)).toEqual([])
    await fail(18, 1)
    expect(await noticesIn(project)).toMatchObject([{ kind: 'events_failing', facts: { failed: 10 } }])
  })

  it('is not told of if the events failed for a muted cause; with others, it is', async () => {
    const { project, send, queue, api, connection } = await newWorld()
    const mute = (method: string) =>
      api(`/webhooks/failures/${connection.id}/payload_invalid/mute`, {
        method,
        ...(method === 'PUT' && { json: { until: null } }),
      })
    let sent = 0
    const fail = async (n: number, type = 'invoice.paid', data: unknown = {}) => {
      for (let i = 0; i < n; i++) await send({ id: `evt_broken${sent++}`, object: 'event', type, data })
      await queue.pump()
    }
    await mute('PUT')
    await fail(12)
    expect(await noticesIn(project)).toEqual([])
    const other = { object: { id: 'x'.repeat(2000), object: 'invoice' } }
    await fail(9, 'invoice.paid', other)
    expect(await noticesIn(project)).toEqual([])
    await fail(1, 'invoice.paid', other)
    expect(await noticesIn(project)).toMatchObject([{ kind: 'events_failing', facts: { failed: 22 }, closed_at: null }])
    // Once the rest is muted too, the notice is over.
    await keepHouse()
    expect(await noticesIn(project)).toMatchObject([{ closed_at: null }])
    await api(`/webhooks/failures/${connection.id}/object_id_invalid/mute`, { method: 'PUT', json: { until: null } })
    advance(HOUR / 2)
    await keepHouse()
    expect(await noticesIn(project)).toMatchObject([{ closed_at: NOON + HOUR / 2 }])
    await mute('DELETE')
    await fail(1)
    expect(await noticesIn(project)).toMatchObject([{ closed_at: null }])
  })
})
