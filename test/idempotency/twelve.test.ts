import { describe, expect, it } from 'vitest'
import { IDEMPOTENT_CALLS } from '../../src/idempotency/calls'
import { call, cases } from '../harness'
import { rowsOfAll } from '../inbox/pipeline'
import { madeBy, newIdempotencyKey, type Place, placeOf, STATED, type Stated, sent } from './calls'

/*
 * Twelve requests with one Idempotency-Key arrive at once, as when a client gives up early and repeats: one is executed, and all get
 * its object. Another key makes another object.
 */

const ROUNDS = cases(40)
const AT_ONCE = 12
const MINTS = 4

const known = Object.entries(STATED)

it('states every call that takes Idempotency-Key', () => {
  expect(Object.keys(STATED).sort()).toEqual(Object.keys(IDEMPOTENT_CALLS).sort())
})

/** What an answer says of the object. An email may have been sent between two of them. */
const objectIn = ({ sent_at: _, secret: __, ...body }: Record<string, unknown>) => JSON.stringify(body)

async function round(place: Place, stated: Stated, n: number) {
  const request = await stated.request(place, n)
  const key = newIdempotencyKey()
  const before = await madeBy(stated)
  const answers = await Promise.all(Array.from({ length: AT_ONCE }, () => sent(place, request, key)))
  const after = await madeBy(stated)
  const replayed = answers.filter(({ headers }) => headers.get('Idempotency-Replayed') === 'true')
  const refused = answers.filter(({ status }) => status === 409)
  return {
    answers,
    replayed,
    refused,
    objects: after.objects - before.objects,
    entries: after.entries - before.entries,
  }
}

describe('twelve requests with one key at once', () => {
  it.each(known)('%s', async (_, stated) => {
    const place = await placeOf(stated)
    for (let n = 0; n < ROUNDS; n++) {
      const { answers, replayed, refused, objects, entries } = await round(place, stated, n)
      const good = answers.filter(({ status }) => status === stated.status)
      expect([n, objects, entries]).toEqual([n, stated.table ? 1 : 0, stated.action ? 1 : 0])
      expect([
        n,
        answers.filter((one) => !good.includes(one) && !refused.includes(one)).map(({ text }) => text),
      ]).toEqual([n, []])
      if (stated.repeat === undefined) expect([n, good.length, refused.length]).toEqual([n, AT_ONCE, 0])
      if (stated.repeat === 'refused') expect([n, good.length]).toEqual([n, 1])
      expect(refused.every(({ body }) => body.code === 'secret_not_replayable')).toBe(true)
      expect([n, good.length - replayed.length]).toEqual([n, 1])
      const [first] = good
      if (stated.repeat === undefined) expect(replayed.filter(({ body }) => body.secret)).toEqual([])
      if (stated.repeat === undefined)
        for (const { body } of good) expect(objectIn(body as never)).toBe(objectIn(first?.body as never))
    }
  })

  it('leaves one secret of a mint that works: the last one', async () => {
    const stated = STATED.mintApiKey as Stated
    const place = await placeOf(stated)
    for (let n = 0; n < MINTS; n++) {
      const { answers } = await round(place, stated, n)
      const minted = answers.filter(({ status }) => status === 201)
      const ids = new Set(minted.map(({ body }) => body.key.id))
      expect(ids.size).toBe(1)
      const asked = minted.map(({ body }) =>
        call('/platform/v1/api-keys/self', { token: body.secret, project: place.project }),
      )
      const codes = (await Promise.all(asked)).map(({ status, body }) => (status === 200 ? 'works' : body.code))
      expect(codes.filter((code) => code === 'works')).toHaveLength(1)
      expect(codes.filter((code) => code !== 'works' && code !== 'key_rotated')).toEqual([])
    }
  })
})

it('keeps a row for each object, and nothing more', async () => {
  const kept = await rowsOfAll('SELECT * FROM idempotency')
  expect(kept).toHaveLength(known.length * ROUNDS + MINTS)
})
