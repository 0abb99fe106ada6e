import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { cases } from '../harness'
import { newApi, setLimit } from './devices'

/*
 * Registrations, revocations, merges, blocks and changes of the limit, at random: no registration leaves more active devices
 * than the limit, and a token is valid exactly if its device and its consumer are active.
 */

const PEOPLE = ['a', 'b', 'c'] as const
const person = fc.constantFrom(...PEOPLE)
const installation = fc.constantFrom('i1', 'i2', 'i3', 'i4')
const step = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('register' as const),
      person,
      installation,
      new_token: fc.boolean(),
      when_full: fc.constantFrom('refuse', 'replace_oldest'),
    }),
  },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('revoke' as const), nth: fc.nat() }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('merge' as const), person, into: person }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('block' as const), person, verb: fc.constantFrom('block', 'unblock') }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('limit' as const), limit: fc.integer({ min: 1, max: 3 }) }) },
)

it('holds the limit and verifies the tokens of active devices only', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { minLength: 10, maxLength: 25 }), async (steps) => {
      const { project, owner, api } = await newApi(2)
      for (const name of PEOPLE) await api.consumer(name)
      let limit = 2
      /** The newest token of each device, and those that were replaced. */
      const tokens = new Map<string, string>()
      const ended: string[] = []
      for (const one of steps) {
        if (one.do === 'limit') {
          limit = one.limit
          expect((await setLimit(project, owner.token, limit)).status).toBe(200)
        }
        if (one.do === 'block') await api.block(`ext:${one.person}`, one.verb)
        if (one.do === 'merge') await api.merge(`ext:${one.person}`, `ext:${one.into}`)
        if (one.do === 'revoke') {
          const shown = (await api.list(`ext:${PEOPLE[one.nth % 3]}`)).body.data
          const id = shown[one.nth % Math.max(shown.length, 1)]?.id
          if (id) expect((await api.revoke(`ext:${PEOPLE[one.nth % 3]}`, id)).status).toBe(204)
        }
        if (one.do === 'register') {
          const { new_token, when_full } = one
          const before = (await api.get(`ext:${one.person}`)).body
          const { status, body } = await api.register(`ext:${one.person}`, one.installation, { new_token, when_full })
          const { active } = (await api.get(`ext:${one.person}`)).body.devices
          if (status === 201) expect(active).toBeLessThanOrEqual(limit)
          else expect(active).toBe(before.devices.active)
          if (status < 300 && body.token) {
            const old = tokens.get(body.device.id)
            if (old) ended.push(old)
            tokens.set(body.device.id, body.token)
          }
        }
      }
      const valid = new Set<string>()
      const known = new Map<string, string>()
      for (const name of PEOPLE) {
        const { state } = (await api.get(`ext:${name}`)).body
        for (const device of (await api.list(`ext:${name}`)).body.data) {
          known.set(device.id, device.state)
          if (device.state === 'active' && state === 'active') valid.add(device.id)
        }
      }
      for (const [id, token] of tokens) {
        const { body } = await api.verify(token)
        expect([id, body.valid, body.reason === 'unknown']).toEqual([id, valid.has(id), !known.has(id)])
      }
      for (const token of ended) expect((await api.verify(token)).body.reason).toBe('unknown')
    }),
    { numRuns: cases(25) },
  )
}, 120_000)
