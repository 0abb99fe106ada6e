import { beforeEach, describe, expect, it } from 'vitest'
import { MAX_LIST_BYTES } from '../../../src/db/limits'
import { MIN_DEFLATED_BYTES } from '../../../src/inbox/limits'
import { MAX_DELIVERY_BYTES } from '../../../src/inbox/receive/limits'
import { utf8 } from '../../../src/lib/crypto'
import { countingD1, deliverBytes, tamperedD1 } from '../../harness'
import { advance, newWorld, rows, stopClock } from '../pipeline'

beforeEach(() => {
  stopClock()
})

/** A text of exactly so many bytes: an envelope around `before` and as many `letter`s as fit. */
function textOf(bytes: number, letter: string, before = ''): string {
  const start = `{"id":"evt_1","object":"event","type":"x","data":"${before}`
  const room = bytes - utf8(start).byteLength - 2
  const fitting = Math.floor(room / utf8(letter).byteLength)
  return `${start}${letter.repeat(fitting)}${'.'.repeat(room - fitting * utf8(letter).byteLength)}"}`
}

/** As {@link textOf}, of letters that cannot be deflated to less than three quarters. */
function randomText(bytes: number): string {
  const letters = Array.from({ length: 16 }, () => crypto.getRandomValues(new Uint8Array(50_000)).toBase64()).join('')
  return textOf(bytes, 'x', letters.slice(0, bytes - 200))
}

const all = MAX_DELIVERY_BYTES
type Case = { of: string; bytes: Uint8Array<ArrayBuffer>; type?: 'text' | 'blob'; statements?: number }
const BODIES: Case[] = [
  { of: 'a small one', bytes: utf8(textOf(MIN_DEFLATED_BYTES - 1, 'x')), type: 'text' },
  { of: 'one that is just not small', bytes: utf8(textOf(MIN_DEFLATED_BYTES, 'x')) },
  { of: 'ASCII', bytes: utf8(textOf(all, 'x')) },
  { of: 'text that takes two parts', bytes: utf8(randomText(all)), statements: 4 },
  // Letters of two to four bytes, so that each byte of one comes to lie where a chunk of the stream ends.
  ...['', 'x'].map((before) => ({ of: `я after "${before}"`, bytes: utf8(textOf(all, 'я', before)) })),
  ...['', 'x', 'xx'].map((before) => ({ of: `€ after "${before}"`, bytes: utf8(textOf(all, '€', before)) })),
  ...['', 'x', 'xx', 'xxx'].map((before) => ({ of: `𝄞 after "${before}"`, bytes: utf8(textOf(all, '𝄞', before)) })),
  { of: 'byte order marks', bytes: utf8(textOf(all, '\ufeff')) },
  { of: 'nothing but a byte order mark', bytes: utf8('\ufeff'), type: 'text' },
  { of: 'NUL', bytes: utf8(textOf(all, 'a\0')), statements: 5 },
  {
    of: 'bytes that are not UTF-8',
    bytes: Uint8Array.from({ length: all }, (_, i) => (i * 31 + (i >> 8)) & 255),
    statements: 5,
  },
]

describe('a delivery', () => {
  it.each(BODIES.map((body) => ({ type: 'blob', statements: 3, ...body })))(
    'of $bytes.byteLength bytes ($of) is kept byte for byte, in $statements statements of one trip',
    async ({ bytes, type, statements }) => {
      const world = await newWorld()
      const { EVENTS } = world.queue
      const bound: number[] = []
      const counted = countingD1()
      const DB = tamperedD1(({ sql, values, run }) => {
        if (sql.includes('"packed_bodies"')) bound.push(...values.map(bytesOf))
        return run()
      })
      await deliverBytes(world.connection.id, utf8('{"id":"evt_0","type":"x"}'), { bindings: { EVENTS } }) // now it is known
      const [first] = await rows<{ key: number }>(
        'SELECT max(key) AS key FROM packed_bodies WHERE project_id = ?',
        world.project,
      )
      advance(1000)
      const { body } = await deliverBytes(world.connection.id, bytes, { bindings: { EVENTS, DB } })
      expect(bound).toHaveLength(statements)
      expect(Math.max(...bound)).toBeLessThan(MAX_LIST_BYTES)
      const kept = async () => (await world.event(body.event_ids[0])).raw_payload_b64
      expect(await kept()).toBe(bytes.toBase64())
      // Sent again, it is a repeat, and nothing is appended to what is there.
      const again = await deliverBytes(world.connection.id, bytes, { bindings: { EVENTS, DB: counted.DB } })
      expect(again.body).toMatchObject({ event_ids: body.event_ids, duplicate: true })
      expect(counted.count).toMatchObject({ trips: 1, rows_written: 2 })
      expect(await kept()).toBe(bytes.toBase64())
      expect(
        await rows(
          'SELECT typeof(body) AS type, bytes FROM packed_bodies WHERE project_id = ? AND key > ? ORDER BY key',
          world.project,
          first?.key,
        ),
      ).toEqual([{ type, bytes: bytes.byteLength }])
    },
  )

  it('is recorded once, whole, when its trip is made twice because the first answer was lost', async () => {
    const world = await newWorld()
    const bytes = utf8(randomText(all))
    let lost = 0
    const DB = tamperedD1(async ({ sql, run }) => {
      const results = await run()
      if (!sql.includes('"packed_bodies"') || lost++ > 0) return results
      throw new Error('D1_ERROR: Network connection lost.')
    })
    const { status, body } = await deliverBytes(world.connection.id, bytes, {
      bindings: { EVENTS: world.queue.EVENTS, DB },
    })
    expect([status, lost]).toEqual([200, 2])
    expect((await world.event(body.event_ids[0])).raw_payload_b64).toBe(bytes.toBase64())
  })
})

function bytesOf(values: unknown[]): number {
  return values.reduce<number>((sum, value) => sum + utf8(String(value)).byteLength, 0)
}
