import * as fc from 'fast-check'
import { expect, it } from 'vitest'
import { verifierOf } from '../../src/vendors/apple-verify'
import { readCertificate } from '../../src/vendors/lib/certificates'
import { cases } from '../harness'
import { newChain, notificationBody, x5cOf } from './apple-chain'
import { utf8 } from './harness'

/* A delivery, and certificates, with anything in them changed: nothing is accepted, and nothing throws. */

const chain = await newChain()
const data = { bundleId: 'com.example.app', environment: 'Sandbox' }
const payload = { notificationType: 'TEST', notificationUUID: 'n', signedDate: Date.now(), data }
const body = await notificationBody(payload, chain)

/** Whether a delivery is accepted by a verifier that knows no chain. */
async function accepted(text: string | Uint8Array<ArrayBuffer>): Promise<boolean> {
  const bytes = typeof text === 'string' ? utf8(text) : text
  const delivery = { headers: new Headers(), bytes, url: '', now: Date.now() }
  return (await verifierOf(chain.root)(delivery, [data.bundleId])).ok
}

it('no other body is accepted (fast-check)', async () => {
  expect(await accepted(body)).toBe(true)
  const inside = { min: body.indexOf(':"') + 2, max: body.length - 3 }
  const change = fc.tuple(fc.integer(inside), fc.nat(3), fc.string({ maxLength: 4 }))
  await fc.assert(
    fc.asyncProperty(change, async ([at, cut, text]) => {
      const changed = body.slice(0, at) + JSON.stringify(text).slice(1, -1) + body.slice(at + cut)
      fc.pre(changed !== body)
      // Bits at the end of a signature that stand for nothing are no change.
      fc.pre(at < body.length - 4)
      expect(await accepted(changed)).toBe(false)
    }),
    { numRuns: cases(500) },
  )
})

it('no other certificate is accepted (fast-check)', async () => {
  const change = fc.tuple(
    fc.nat(2),
    fc.double({ min: 0, max: 0.999, noNaN: true }),
    fc.nat(3),
    fc.uint8Array({ maxLength: 3 }),
  )
  await fc.assert(
    fc.asyncProperty(change, async ([which, where, cut, put]) => {
      const x5c = x5cOf(chain)
      const bytes = Uint8Array.fromBase64(x5c[which] ?? '')
      const at = Math.floor(where * bytes.length)
      const changed = Uint8Array.of(...bytes.subarray(0, at), ...put, ...bytes.subarray(at + cut))
      fc.pre(changed.toBase64() !== x5c[which])
      x5c[which] = changed.toBase64()
      expect(await accepted(await notificationBody(payload, chain, { x5c }))).toBe(false)
    }),
    { numRuns: cases(500) },
  )
})

it('a certificate is read, or refused with a RangeError (fast-check)', () => {
  const [leaf] = chain.certificates
  const piece = fc.uint8Array({ maxLength: 40 })
  const change = fc.tuple(fc.nat(leaf?.length ?? 0), fc.nat(40), piece)
  fc.assert(
    fc.property(fc.oneof(piece, change), (made) => {
      const bytes =
        made instanceof Uint8Array
          ? made
          : Uint8Array.of(
              ...(leaf ?? new Uint8Array()).subarray(0, made[0]),
              ...made[2],
              ...(leaf ?? new Uint8Array()).subarray(made[0] + made[1]),
            )
      try {
        expect(readCertificate(Uint8Array.from(bytes)).key.length).toBeGreaterThan(0)
      } catch (error) {
        expect(error).toBeInstanceOf(RangeError)
      }
    }),
    { numRuns: cases(5000) },
  )
})
