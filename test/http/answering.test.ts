import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import {
  ANSWER_DEADLINE,
  ANSWER_WAIT_MS,
  MAKING_DEADLINE,
  MAX_ANSWERING_BYTES,
  MAX_PROJECT_ANSWERING_BYTES,
  MAX_SMALL_BYTES,
  SLOW_ANSWER_MS,
} from '../../src/http/limits'
import { MAX_PAGE_BYTES } from '../../src/inbox/events/limits'
import { newKey, packed } from '../../src/inbox/packing'
import { MAX_DELIVERY_BYTES } from '../../src/inbox/receive/limits'
import { SECOND } from '../../src/lib/time'
import { advance, startClock, stopClock, stopTimers } from '../clock'
import { visit } from '../console/visit'
import { type Answer, begin, call, head, STORE, tamperedD1 } from '../harness'
import { until } from '../inbox/receive/until'
import { freshReader, insertConnection, insertEvents, insertPayload, seedEvent } from '../inbox/seeding'

const LIMIT_CREDENTIAL = { limit: async () => ({ success: true }) } as unknown as RateLimit

/* Payloads that are read and answered at once: an isolate has 128 MB for all of them. */

const LIST = '/platform/v1/billing/webhooks'
const PAGE = `${LIST}?limit=100`
const AT_ONCE = MAX_PROJECT_ANSWERING_BYTES / MAX_PAGE_BYTES

/** A project with events of 1 MiB each, and one small event that is older. */
async function project() {
  const { project, owner, secret } = await freshReader()
  const connection = await insertConnection(project, 'stripe')
  const now = Date.now()
  const large = Array.from({ length: 4 }, (_, i) => seedEvent({ connection, received_at: now - i }))
  const small = seedEvent({ connection, received_at: now - 10 })
  await insertEvents(project, [...large, small])
  for (const event of large) await insertPayload(project, event, 'x'.repeat(MAX_DELIVERY_BYTES))
  await insertPayload(project, small, '{}')
  const options = { token: secret, project, bindings: { LIMIT_CREDENTIAL } }
  return {
    owner,
    project,
    options,
    large: large[0]?.id ?? '',
    read: (path: string) => call(path, options),
    readSmall: () => call(`${LIST}/${small.id}`, options),
  }
}
type Project = Awaited<ReturnType<typeof project>>

let [one, two, three] = [] as Project[] as [Project, Project, Project]
beforeAll(async () => {
  one = await project()
  two = await project()
  three = await project()
})

/** Pages that were asked for, whose callers take nothing of them until they are told to. */
const open: Response[] = []
const codeOf = ({ status, body }: Answer) => [status, body?.code]

/** Asks for a number of pages at once. @returns where their answers come */
function ask({ options }: Project, pages: number): Response[] {
  const answers: Response[] = []
  for (let i = 0; i < pages; i++) {
    begin(PAGE, options).then(({ response }) => {
      answers.push(response)
      open.push(response)
    })
  }
  return answers
}

/** As {@link ask}, of as many as a project may have. */
async function fill(project: Project): Promise<Response[]> {
  const answers = ask(project, AT_ONCE)
  await until(() => answers.length === AT_ONCE)
  return answers
}

/**
 * Asks for a page that is not made before it is let go: its read waits. Its own time limits do not run out.
 *
 * @returns lets it go, and gives the answer
 */
async function hold({ options }: Project): Promise<() => Promise<Answer>> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let reading = false
  const DB = tamperedD1(async ({ index, run }) => {
    if (index === 1) {
      reading = true
      await promise
    }
    return run()
  })
  stopTimers()
  const answer = call(PAGE, { ...options, bindings: { LIMIT_CREDENTIAL, DB } })
  await until(() => reading)
  startClock() // its timers are never heard of again
  return () => {
    resolve()
    return answer
  }
}

afterEach(async () => {
  startClock()
  for (const { body, bodyUsed } of open.splice(0)) if (!bodyUsed) await body?.cancel()
})

describe('pages of large payloads', () => {
  it('are read as others of the project have been sent, and other projects do not wait for them', async () => {
    expect([MAX_PROJECT_ANSWERING_BYTES, AT_ONCE]).toEqual([MAX_ANSWERING_BYTES / 2, 1])
    stopTimers() // nobody has waited too long, however slow the machine is
    const answers = ask(one, 6)
    await until(() => answers.length >= AT_ONCE)
    expect((await two.read(PAGE)).body.data).toHaveLength(2)
    expect((await two.readSmall()).status).toBe(200)
    expect(answers).toHaveLength(AT_ONCE)
    for (let sent = 1; sent <= 6; sent++) {
      const page = JSON.parse((await answers[sent - 1]?.text()) ?? '')
      const bytes = page.data.map(({ raw_payload_b64 }: { raw_payload_b64: string }) => atob(raw_payload_b64).length)
      expect(bytes).toEqual([MAX_DELIVERY_BYTES, MAX_DELIVERY_BYTES])
      await until(() => answers.length >= Math.min(6, sent + AT_ONCE))
    }
  })

  it('are refused after some seconds without room, as is everything else that reads a payload', async () => {
    const letGo = await hold(one)
    const paths = [
      PAGE,
      `${LIST}/search?limit=100`,
      `${LIST}/${one.large}`,
      '/platform/v1/billing/subscriptions/sub_1?include=vendor_object',
      '/platform/v1/billing/customers/stripe/cus_1?include=vendor_object',
    ]
    const events = `/console/p/${one.project}/platform/billing/webhooks/${one.large}`
    stopTimers()
    const refused = Promise.all([
      ...paths.map((path) => one.read(path)),
      call(`${LIST}/${one.large}/replay?dry_run=true`, { method: 'POST', ...one.options, token: one.owner.token }),
      visit(events, one.owner.token),
      visit(`${events}/payload`, one.owner.token),
    ])
    let done: Answer[] | undefined
    refused.then((answers) => {
      done = answers as Answer[]
    })
    await until(() => {
      vi.advanceTimersByTime(ANSWER_WAIT_MS / 100)
      return done !== undefined
    })
    expect(done?.map(({ status }) => status)).toEqual(Array(8).fill(503))
    expect(done?.slice(0, 6).map(codeOf)).toEqual(Array(6).fill([503, 'overloaded']))
    expect(Number(done?.[0]?.headers.get('Retry-After'))).toBeGreaterThan(0)
    // Without payloads there is nothing to wait for.
    expect((await one.read(`${PAGE}&view=summary`)).body.data).toHaveLength(5)
    expect((await letGo()).body.data).toHaveLength(2)
  })

  it('are refused even if another request comes after that time, and before they notice', async () => {
    stopTimers()
    await fill(one)
    let refused: Answer | undefined
    one.read(PAGE).then((answer) => {
      refused = answer
    })
    await until(() => vi.getTimerCount() === 1)
    advance(ANSWER_WAIT_MS + 1) // the clock alone: the timer is late
    expect((await two.readSmall()).status).toBe(200)
    expect(refused).toBeUndefined()
    vi.advanceTimersByTime(ANSWER_WAIT_MS)
    await until(() => refused !== undefined)
    expect(refused && codeOf(refused)).toEqual([503, 'overloaded'])
  })

  it('that are taken slowly make room for another project: first those of who has the most', async () => {
    stopClock()
    const [first, ...others] = [...(await fill(one)), ...(await fill(two))]
    advance(SLOW_ANSWER_MS)
    expect((await three.read(PAGE)).status).toBe(200)
    await expect(first?.text()).rejects.toThrow('too slowly')
    for (const answer of others) expect(JSON.parse(await answer.text()).data).toHaveLength(2)
  })

  it('that are taken slowly make room for the next of their own project', async () => {
    stopClock()
    const [slow] = await fill(one)
    advance(SLOW_ANSWER_MS)
    expect((await one.read(PAGE)).status).toBe(200)
    await expect(slow?.text()).rejects.toThrow('too slowly')
  })

  it('leave their room when they are sent, given up, not wanted, or fail', async () => {
    for (let i = 0; i < 3; i++) {
      for (const answer of await fill(one)) await answer.body?.cancel()
      for (const answer of await fill(one)) await answer.text()
      expect((await head(PAGE, one.options)).status).toBe(200)
      const DB = tamperedD1(async (trip) => {
        if (trip.index === 1) throw new Error('D1_ERROR: no such thing')
        return trip.run()
      })
      const failed = await call(PAGE, { ...one.options, bindings: { LIMIT_CREDENTIAL, DB } })
      expect(failed.status).toBeGreaterThanOrEqual(500)
    }
  })

  it('do not count for ever, if their callers have gone without a signal', async () => {
    expect(MAKING_DEADLINE).toBeLessThan(ANSWER_DEADLINE)
    const letGo = await hold(one)
    stopClock()
    for (const deadline of [MAKING_DEADLINE, ANSWER_DEADLINE]) {
      advance(deadline + 1)
      expect((await fill(one)).map(({ status }) => status)).toEqual(Array(AT_ONCE).fill(200))
    }
    await letGo()
  })
})

describe('a page that is made as it is sent', () => {
  /** A project with a page of so many packed payloads, whose events have errors of these texts. */
  async function packedPage(texts: readonly string[]) {
    const { project, secret } = await freshReader()
    const connection = await insertConnection(project, 'stripe')
    const now = Date.now()
    const events = texts.map((last_error, i) => seedEvent({ connection, received_at: now - i, last_error }))
    await insertEvents(project, events)
    for (const [i, { id }] of events.entries()) {
      const { bytes, body } = packed(`{"n":${i},"of":"${'é🙂x'.repeat(2_000 + i)}"}`)
      const key = newKey(now + i * SECOND)
      await STORE.batch([
        STORE.prepare(
          "INSERT INTO packed_bodies (key, project_id, headers, encoding, bytes, body) VALUES (?, ?, '{}', 'deflate', ?, unhex(?))",
        ).bind(key, project, bytes, (body as Uint8Array).toHex()),
        STORE.prepare('UPDATE events SET payload_id = ? WHERE id = ?').bind(String(key), id),
      ])
    }
    return { project, events, options: { token: secret, project, bindings: { LIMIT_CREDENTIAL } } }
  }

  it('is byte for byte as one that is made whole', async () => {
    stopTimers()
    // Characters of one to four bytes lie across the ends of chunks.
    const { options, events } = await packedPage(
      Array.from({ length: 40 }, (_, i) => '🙂'.repeat(4_000) + 'é'.repeat(i)),
    )
    for (const limit of [39, 40]) {
      const { text, body, headers } = await call(`${LIST}?limit=${limit}`, options)
      expect(text.length).toBeGreaterThan(MAX_SMALL_BYTES)
      expect(headers.get('Content-Type')).toBe('application/json')
      const one = async ({ id }: { id: string }) => (await call(`${LIST}/${id}`, options)).body
      const data = await Promise.all(events.slice(0, limit).map(one))
      expect(text).toBe(
        JSON.stringify({ data, has_more: limit < 40, next_cursor: body.next_cursor, archived_before: null }),
      )
    }
  })

  it('is cut off where a payload cannot be read, and leaves its room', async () => {
    const { options, project } = await packedPage(Array(40).fill('x'))
    await STORE.prepare(
      'UPDATE packed_bodies SET body = substr(body, 9) WHERE key = (SELECT min(key) FROM packed_bodies WHERE project_id = ?)',
    )
      .bind(project)
      .run()
    for (let i = 0; i < 3; i++) {
      const { response } = await begin(PAGE, options)
      expect(response.status).toBe(200)
      await expect(response.text()).rejects.toThrow()
    }
    expect((await call(`${LIST}?limit=100&view=summary`, options)).status).toBe(200)
  })
})

describe('small payloads', () => {
  it('take one read, and many are answered at once', async () => {
    stopTimers()
    let trips = 0
    const DB = tamperedD1((trip) => {
      trips += 1
      return trip.run()
    })
    const path = `${LIST}?limit=100&cursor=${(await one.read(`${LIST}?limit=4&view=summary`)).body.next_cursor}`
    const answers = await Promise.all(
      Array.from({ length: 40 }, () => call(path, { ...one.options, bindings: { LIMIT_CREDENTIAL, DB } })),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array(40).fill(200))
    expect(answers[0]?.body.data.map(({ raw_payload_b64 }) => raw_payload_b64)).toEqual(['e30='])
    expect(trips).toBe(40)
  })
})
