import { beforeAll, describe, expect, it } from 'vitest'
import type { Effect } from '../../src/billing/effect'
import { EVENT_ERROR_CODES, type EventErrorCode, eventAdvice } from '../../src/vendors/event-errors'
import { as } from '../consumers/consumers'
import { STORE } from '../harness'
import type { Seed } from '../inbox/seeding'
import { eventWorld } from './event-world'
import { visit } from './visit'

/* On the page of an event, the sentence about its status, the badges of its effects, and the button agree. */

let here: Awaited<ReturnType<typeof eventWorld>>
beforeAll(async () => {
  here = await eventWorld()
})

const wordsIn = (html: string) => html.replace(/<[^>]+>/g, ' ').replace(/\s+/g, ' ')
/** What the page says of an event: the sentence about its status, its error, its effects, and the button. */
async function said(id: string) {
  const { text } = await visit(`${here.events}/${id}`, here.owner.token)
  const first = (pattern: RegExp) => wordsIn(pattern.exec(text)?.[1] ?? '').trim()
  return {
    standing: first(/<p class="standing">(.*?)<\/p>/s),
    error: first(/<section class="trouble"[^>]*>(.*?)<\/section>/s),
    effects: first(/<ul class="effects"[^>]*>(.*?)<\/ul><\/div>/s),
    button: first(/<a id="replay"[^>]*>(.*?)<\/a>/s),
  }
}

/** Puts an event there with effects, as processing would have left it. */
async function effected(effects: Effect[], fields: Partial<Seed> = {}) {
  const id = await here.put({ event_type: 'invoice.paid', ...fields })
  const object = { type: 'invoice', id: 'in_1' }
  const summary = { vendor: 'stripe', object, customer: 'cus_1', refs: [], effects }
  await STORE.prepare('UPDATE events SET summary = ? WHERE id = ?').bind(JSON.stringify(summary), id).run()
  return id
}

const change = { status: { from: 'open', to: 'paid' } }
const effect = (result: Effect['result'], more: Partial<Effect> = {}): Effect => ({
  ...{ kind: 'invoice', id: 'in_1', result, change: null },
  ...more,
})
const payment = (result: Effect['result'], more: Partial<Effect> = {}) =>
  effect(result, { kind: 'purchase', id: 'pi_1', ...more })
const link: Effect = { kind: 'customer_link', id: 'cus_1', result: 'applied', change: null }

const PROCESSED: [effects: Effect[], standing: string, badges: string[]][] = [
  [[], 'It changed nothing.', []],
  [[effect('applied', { change })], 'It changed the billing state.', ['applied']],
  [[effect('applied')], 'It confirmed the billing state and changed nothing.', ['applied']],
  [[effect('superseded')], 'A later event had already set the billing state, so it changed nothing.', ['superseded']],
  [[effect('ambiguous')], 'Other events with the same timestamp contradict it.', ['ambiguous']],
  [
    [effect('ambiguous', { change })],
    'It changed the billing state, but other events with the same timestamp contradict it.',
    ['ambiguous'],
  ],
  [[payment('unplaced')], 'It is about a payment, and it has had no effect so far.', ['no effect']],
  [[payment('unplaced', { change })], 'It is about a payment, and it has had no effect so far.', ['no effect']],
  [[payment('unplaced'), effect('applied', { change })], 'It changed the billing state.', ['no effect', 'applied']],
  [[effect('fetched')], 'It names an object, which was fetched from the vendor.', ['fetched']],
  [[effect('gone')], 'The vendor no longer has the object that it names.', ['gone']],
  [[link], 'It names a consumer for the customer, and changed nothing else.', ['not linked']],
  [[link, effect('superseded')], 'A later event had already set', ['not linked', 'superseded']],
  [[link, effect('applied', { change })], 'It changed the billing state.', ['not linked', 'applied']],
]

describe('a processed event', () => {
  it.each(PROCESSED)('with the effects %j says what it did', async (effects, standing, badges) => {
    const id = await effected(effects)
    const { text } = await visit(`${here.events}/${id}`, here.owner.token)
    const list = /<ul class="effects".*/s.exec(text)?.[0] ?? ''
    expect((await said(id)).standing).toContain(`The event is processed. ${standing}`)
    const shown = [...list.matchAll(/<span class="badge[^"]*">([^<]*)</g)].map(([, badge]) => badge)
    expect(shown.slice(0, effects.length)).toEqual(badges)
  })

  it('says that its customer is linked only while it is', async () => {
    const id = await effected([link])
    const page = async () => wordsIn((await visit(`${here.events}/${id}`, here.owner.token)).text)
    const NOT_LINKED = 'The customer is not linked: no consumer has that external ID, or'
    expect(await page()).toContain(NOT_LINKED)
    const api = as(here.project, here.owner.token)
    const { body } = await api.put('ada', { name: 'Ada' })
    await api.pin('cus_1', body.id)
    expect(await page()).toMatch(
      /applied .*This event names a consumer for the customer\. The customer is linked to Ada \./,
    )
    await api.pin('cus_1', null)
    expect(await page()).toContain(NOT_LINKED)
  })
})

const CODES: (EventErrorCode | null)[] = [...EVENT_ERROR_CODES, null]
const STATES = CODES.flatMap((code) =>
  (['failed', 'retrying'] as const).flatMap((status) =>
    [true, false].flatMap((kept) => [true, false].map((before) => ({ code, status, kept, before }))),
  ),
)

it.each(STATES)('after an error, it advises what its button does: %o', async ({ code, status, kept, before }) => {
  const id = await here.put({ status, last_error: 'a cause', last_error_code: code })
  if (!kept) await STORE.prepare('DELETE FROM bodies WHERE id = ?').bind(id.replace('evt_', 'pay_')).run()
  if (before) await STORE.prepare('UPDATE events SET processed_at = 1 WHERE id = ?').bind(id).run()
  const { standing, error, button } = await said(id)
  const { what, todo, mayPass } = eventAdvice(code, 'Stripe')
  const all = `${error} ${standing}`
  expect(error).toContain(what)
  // A replay is advised where it is offered and may help, and in one place.
  const advises = /[Rr]eplay the event/.test(all)
  if (advises)
    expect([kept, mayPass, status, standing]).toEqual([true, true, 'failed', expect.not.stringMatching(/eplay the/)])
  if (status === 'retrying') {
    expect(button).toBe(kept ? 'Retry now' : '')
    expect(standing).toMatch(/^The last attempt failed\. The next one is due/)
    expect(error).toContain(mayPass ? 'You do not need to do anything yet' : kept ? todo : 'cannot be processed again')
  } else {
    expect(button).toBe(kept ? (mayPass ? 'Replay' : 'Replay anyway') : '')
    expect(error).toContain(kept ? todo : 'The event cannot be processed again.')
    expect(standing).toBe(
      before
        ? 'The last replay failed. The earlier effects of the event stay.'
        : 'Processing failed and changed nothing.',
    )
  }
})
