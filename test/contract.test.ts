import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, it, vi } from 'vitest'
import contract from '../docs/contract.md?raw'
import worker from '../src'
import { sha256Hex } from '../src/lib/crypto'
import { submit, visit } from './console/visit'
import {
  bound,
  call,
  countingD1,
  deliver,
  deliverBytes,
  drain,
  freshAddress,
  freshKey,
  freshProject,
  lossyQueue,
  mint,
  ORIGIN,
  settled,
  stripeConnection,
  stripeEvent,
} from './harness'
import { callRoute, nameOf, newWorld, ROUTES, SAMPLES, tokenFor } from './routes'

/*
 * The specification, sentence by sentence. A name's first word is the reference that docs/contract.md gives beside the
 * sentence; the last test holds the two lists against each other.
 */

const KEYS = '/platform/v1/api-keys'
const PROJECTS = '/platform/v1/projects'
const WEBHOOKS = '/platform/v1/billing/webhooks'
const SPECIFIED_ROW = ['id', 'name', 'key_prefix', 'created_at', 'last_used_at']
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/
const SECRET = /^svc_v1_[0-9a-f]{96}$/

/** The row of a key as its project's owner lists it. */
async function rowOf(token: string, project: string, id: string) {
  const { body } = await call(`${KEYS}?limit=100`, { token, project })
  return body.data.find((row: any) => row.id === id)
}

/** One request, answered as soon as the response is there: nothing that it left to waitUntil is waited for. */
async function answerOf(path: string, token: string, project: string, method = 'GET') {
  const headers = { Authorization: `Bearer ${token}`, 'X-Project-Id': project, 'CF-Connecting-IP': freshAddress() }
  const ctx = createExecutionContext()
  const response = await worker.fetch(new Request(ORIGIN + path, { method, headers }) as never, bound, ctx)
  const body = response.status === 204 ? null : ((await response.json()) as any)
  return { status: response.status, body, rest: () => waitOnExecutionContext(ctx) }
}

/** Everything D1 and KV hold, as text. */
async function storage(): Promise<string> {
  const { results: tables } = await env.DB.prepare(
    "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '\\_cf%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'",
  ).all<{ name: string }>()
  const parts: string[] = []
  for (const { name } of tables) {
    parts.push(JSON.stringify((await env.DB.prepare(`SELECT * FROM "${name}"`).all()).results))
  }
  for (const { name } of (await bound.KV.list()).keys) parts.push(name, (await bound.KV.get(name)) ?? '')
  return parts.join('\n')
}

/** A project with a key, a Stripe connection, and an event that the Queue lost: recorded, and not processed. */
async function freshEvent(event: unknown = stripeEvent()) {
  const world = await freshKey()
  const connection = await stripeConnection(world.secret, world.project)
  const { EVENTS, sent } = lossyQueue()
  const receipt = await deliver(connection.id, event, { bindings: { EVENTS } })
  expect(receipt.status).toBe(200)
  const id = receipt.body.event_ids[0] as string
  const read = async () =>
    (await call(`${WEBHOOKS}/${id}`, { token: world.secret, project: world.project })).body as Record<string, any>
  return { ...world, connection, event, id, sent, read, process: () => drain(sent.splice(0)) }
}

const replay = (world: { secret: string; project: string; id: string }, bindings = {}) =>
  call(`${WEBHOOKS}/${world.id}/replay`, { method: 'POST', token: world.secret, project: world.project, bindings })

afterEach(() => {
  vi.useRealTimers()
})

describe('API keys', () => {
  it('[keys.1] every redacted row has the specified fields, of the specified types', async () => {
    const { project, owner, key, secret } = await freshKey()
    const listed = await call(KEYS, { token: secret, project })
    const rotated = await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', token: owner.token, project })
    for (const row of [key, listed.body.data[0], rotated.body.key]) {
      expect(row).toMatchObject({ id: key.id, name: 'test key', created_at: expect.stringMatching(ISO) })
      expect(Object.keys(row).slice(0, 5)).toEqual(SPECIFIED_ROW)
      expect(row.key_prefix).toEqual(expect.any(String))
      expect(row.last_used_at === null || ISO.test(row.last_used_at)).toBe(true)
    }
  })

  it('[keys.2] the id is what the paths of rotate and revoke take', async () => {
    const { project, owner, key } = await freshKey()
    const rotated = await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', token: owner.token, project })
    expect([rotated.status, rotated.body.key.id]).toEqual([200, key.id])
    expect((await call(`${KEYS}/${key.id}`, { method: 'DELETE', token: owner.token, project })).status).toBe(204)
  })

  it('[keys.3] the name is the label its caller chose', async () => {
    const { project, owner } = await freshProject()
    for (const name of ['CI deploys', 'Schlüssel für Zoë 🔑', 'x'.repeat(100)]) {
      const { key } = await mint(owner.token, project, { name })
      expect(key.name).toBe(name)
      expect((await rowOf(owner.token, project, key.id)).name).toBe(name)
    }
  })

  it('[keys.4] key_prefix is svc_v1_, the first four characters of the body, an ellipsis, the last four', async () => {
    const { project, owner } = await freshProject()
    const { key, secret } = await mint(owner.token, project)
    const form = (of: string) => `svc_v1_${of.slice(7, 11)}\u2026${of.slice(-4)}`
    expect(key.key_prefix).toBe(form(secret))
    const rotated = await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', token: owner.token, project })
    expect(rotated.body.key.key_prefix).toBe(form(rotated.body.secret))
    expect((await rowOf(owner.token, project, key.id)).key_prefix).toBe(form(rotated.body.secret))
  })

  it('[keys.5] created_at is when the key was minted, in UTC, and a rotation leaves it', async () => {
    const { project, owner } = await freshProject()
    const before = Date.now()
    const { key } = await mint(owner.token, project)
    expect(Date.parse(key.created_at)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(key.created_at)).toBeLessThanOrEqual(Date.now())
    const rotated = await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', token: owner.token, project })
    expect(rotated.body.key.created_at).toBe(key.created_at)
  })

  it('[keys.6] last_used_at is null until the key is used, then when it was', async () => {
    const { project, owner, key, secret } = await freshKey()
    expect(key.last_used_at).toBeNull()
    expect((await rowOf(owner.token, project, key.id)).last_used_at).toBeNull()
    const before = Date.now()
    expect((await call(PROJECTS, { token: secret, project })).status).toBe(200)
    const used = Date.parse((await rowOf(owner.token, project, key.id)).last_used_at)
    expect(used).toBeGreaterThanOrEqual(before)
    expect(used).toBeLessThanOrEqual(Date.now())
  })

  it('[keys.7] a secret is svc_v1_ and 96 hexadecimal characters, and no two are alike', async () => {
    const { project, owner } = await freshProject()
    const secrets = new Set<string>()
    for (let i = 0; i < 10; i++) {
      const { key, secret } = await mint(owner.token, project)
      const rotated = await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', token: owner.token, project })
      for (const one of [secret, rotated.body.secret]) {
        expect(one).toMatch(SECRET)
        secrets.add(one)
      }
    }
    expect(secrets.size).toBe(20)
  })

  it('[keys.8] no route but mint and rotate answers with a secret', async () => {
    const MAKERS = ['POST /platform/v1/api-keys', 'POST /platform/v1/api-keys/:id/rotate']
    const others = ROUTES.filter((route) => !MAKERS.includes(nameOf(route)))
    expect(others.length).toBe(ROUTES.length - MAKERS.length)
    for (const route of others) {
      const kinds = route.meta.operation?.policy ? (['key', 'allowed'] as const) : (['none'] as const)
      for (const kind of kinds) {
        const world = await newWorld()
        const token = { key: world.secret, allowed: tokenFor(world, route), none: null }[kind]
        const answer = await callRoute(world, route, { token })
        const all = answer.text + JSON.stringify([...answer.headers])
        expect(all, nameOf(route)).not.toMatch(/[0-9a-f]{96}/)
        for (const secret of [world.secret, world.other.secret]) {
          expect(all, nameOf(route)).not.toContain(await sha256Hex(secret))
        }
        // It did answer, where it takes this credential: a refusal would show nothing.
        const answered = SAMPLES[nameOf(route)]?.status ?? (route.path.startsWith('/ingest') ? 401 : 200)
        const taken = token === tokenFor(world, route)
        if (taken)
          expect(Math.floor(answer.status / 100), `${nameOf(route)} ${answer.text}`).toBe(Math.floor(answered / 100))
        else expect(answer.status).toBeLessThan(500)
      }
    }
  })

  it('[keys.9] of a secret, its SHA-256 is stored and nothing else', async () => {
    const printed: unknown[] = []
    for (const method of ['log', 'warn', 'error'] as const) {
      vi.spyOn(console, method).mockImplementation((...line) => void printed.push(...line))
    }
    const { project, owner, key, secret } = await freshKey()
    const { body } = await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', token: owner.token, project })
    await call(PROJECTS, { token: body.secret, project }) // leaves its trace in last_used_at and KV
    await call(PROJECTS, { token: secret, project }) // refused, and logged
    vi.restoreAllMocks()
    expect(printed.join('\n')).toContain('key_rotated')
    const stored = (await storage()) + printed.join('\n')
    for (const plain of [secret, body.secret]) {
      const hex = plain.slice('svc_v1_'.length)
      expect(stored).toContain(await sha256Hex(plain))
      for (let i = 0; i + 12 <= hex.length; i++) expect(stored).not.toContain(hex.slice(i, i + 12))
      expect(stored).not.toContain(await sha256Hex(hex))
      expect(stored).not.toContain(btoa(plain))
    }
    const row = await env.DB.prepare('SELECT hash FROM api_keys WHERE id = ?').bind(key.id).first()
    expect(row).toEqual({ hash: await sha256Hex(body.secret) })
  })

  it('[keys.10] the secret carries the version marker of its prefix', async () => {
    const { key, secret } = await freshKey()
    expect(secret.startsWith('svc_v1_')).toBe(true)
    expect(key.key_prefix.startsWith('svc_v1_')).toBe(true)
  })
})

describe('minting', () => {
  it('[mint.1] answers with the redacted row under key and the plaintext under secret, and no more', async () => {
    const { project, owner } = await freshProject()
    const answer = await call(KEYS, { method: 'POST', token: owner.token, project, json: { name: 'one' } })
    expect(answer.status).toBe(201)
    expect(Object.keys(answer.body)).toEqual(['key', 'secret'])
    expect(Object.keys(answer.body.key)).toEqual(expect.arrayContaining(SPECIFIED_ROW))
    expect(answer.body.key).not.toHaveProperty('secret')
    expect(answer.body.secret).toMatch(SECRET)
  })

  it('[mint.2] is done with the Bearer token of a console session, and the key works at once', async () => {
    const { project, owner } = await freshProject()
    const { secret } = await mint(owner.token, project)
    expect((await answerOf(KEYS, secret, project)).status).toBe(200)
    for (const token of [undefined, 'svc_cs_nobody']) {
      const refused = await call(KEYS, { method: 'POST', project, json: { name: 'x' }, ...(token && { token }) })
      expect(refused.status).toBe(401)
    }
  })

  it('[mint.3] is not done with an API key', async () => {
    const { project, secret, owner } = await freshKey()
    const answer = await call(KEYS, { method: 'POST', token: secret, project, json: { name: 'x' } })
    expect([answer.status, answer.body.code]).toEqual([403, 'console_session_required'])
    expect((await call(KEYS, { token: owner.token, project })).body.data).toHaveLength(1)
  })
})

describe('rotating', () => {
  it('[rotate.1] returns a fresh secret for the same key, which goes on working with it', async () => {
    const { project, owner, key, secret } = await freshKey()
    const answer = await call(`${KEYS}/${key.id}/rotate`, { method: 'POST', token: owner.token, project })
    expect(answer.status).toBe(200)
    expect(answer.body.secret).toMatch(SECRET)
    expect(answer.body.secret).not.toBe(secret)
    const listed = await answerOf(KEYS, answer.body.secret, project)
    expect(listed.body.data.map((row: any) => row.id)).toEqual([key.id])
  })

  it('[rotate.2] makes the old secret a 401 on the very next request', async () => {
    const { project, owner, key, secret } = await freshKey()
    expect((await answerOf(KEYS, secret, project)).status).toBe(200)
    let old = secret
    for (let i = 0; i < 5; i++) {
      const rotated = await answerOf(`${KEYS}/${key.id}/rotate`, owner.token, project, 'POST')
      const refused = await answerOf(KEYS, old, project)
      expect([refused.status, refused.body.code]).toEqual([401, 'key_rotated'])
      old = rotated.body.secret
      expect((await answerOf(KEYS, old, project)).status).toBe(200)
    }
    expect((await answerOf(KEYS, secret, project)).body.code).toBe('key_rotated') // and stays one
  })

  it('[rotate.3] is of a key of the project: any other id is a 404 and changes nothing', async () => {
    const mine = await freshKey()
    const theirs = await freshKey()
    for (const id of [theirs.key.id, 'key_00000000000000000000000000', 'x']) {
      const answer = await call(`${KEYS}/${id}/rotate`, { method: 'POST', token: mine.secret, project: mine.project })
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
    }
    expect((await answerOf(KEYS, theirs.secret, theirs.project)).status).toBe(200)
  })
})

describe('revoking', () => {
  it('[revoke.1] makes a key stop authenticating at once', async () => {
    const { project, owner, key, secret } = await freshKey()
    expect((await answerOf(KEYS, secret, project)).status).toBe(200)
    expect((await answerOf(`${KEYS}/${key.id}`, owner.token, project, 'DELETE')).status).toBe(204)
    const refused = await answerOf(KEYS, secret, project)
    expect([refused.status, refused.body.code]).toEqual([401, 'key_revoked'])
    expect((await call(KEYS, { token: owner.token, project })).body.data).toEqual([])
  })

  it('[revoke.2] is of a key of the project: any other id is a 404 and changes nothing', async () => {
    const mine = await freshKey()
    const theirs = await freshKey()
    for (const id of [theirs.key.id, 'key_00000000000000000000000000', 'x']) {
      const answer = await call(`${KEYS}/${id}`, { method: 'DELETE', token: mine.secret, project: mine.project })
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
    }
    expect((await answerOf(KEYS, theirs.secret, theirs.project)).status).toBe(200)
  })
})

describe('listing keys', () => {
  it("[list.1] answers 200 with the project's redacted rows and never a secret", async () => {
    const { project, owner, key, secret } = await freshKey()
    const second = await mint(owner.token, project, { name: 'second' })
    await freshKey() // of another project: not listed
    for (const token of [owner.token, secret]) {
      const answer = await call(KEYS, { token, project })
      expect(answer.status).toBe(200)
      expect(answer.body.data.map((row: any) => row.id).sort()).toEqual([key.id, second.key.id].sort())
      for (const row of answer.body.data) {
        expect(Object.keys(row)).toEqual(expect.arrayContaining(SPECIFIED_ROW))
        expect(row).not.toHaveProperty('secret')
        expect(row).not.toHaveProperty('hash')
      }
    }
  })
})

describe('authentication', () => {
  it('[auth.1] takes one secret, as a Bearer token in the Authorization header and nowhere else', async () => {
    const { project, secret } = await freshKey()
    expect((await call(KEYS, { token: secret, project })).status).toBe(200)
    const lower = await call(KEYS, { project, headers: { authorization: `bearer ${secret}` } })
    expect(lower.status).toBe(200) // the scheme's name has no case
    const elsewhere: Record<string, string>[] = [
      { 'X-Api-Key': secret },
      { Cookie: `token=${secret}; session=${secret}` },
      { Authorization: secret },
      { Authorization: `Basic ${btoa(`${secret}:`)}` },
      { Authorization: `Bearer ${secret} ${secret}` },
      { Authorization: `Bearer ${secret.toUpperCase()}` },
      { Authorization: `Bearer ${secret.slice(0, -1)}` },
    ]
    for (const headers of elsewhere) expect((await call(KEYS, { project, headers })).status).toBe(401)
    expect((await call(`${KEYS}?access_token=${secret}`, { project })).status).toBe(401)
  })

  it('[auth.2] a key sent with any other X-Project-Id than its own is a 401', async () => {
    const { project, owner, secret } = await freshKey()
    const { body: sibling } = await call(PROJECTS, { method: 'POST', token: owner.token, json: { name: 'Sibling' } })
    const stranger = await freshProject()
    const others = [sibling.id, stranger.project, 'prj_00000000000000000000000000', 'x', project.toUpperCase()]
    for (const other of others) {
      for (const path of [KEYS, PROJECTS, WEBHOOKS, `${PROJECTS}/${project}`]) {
        const answer = await call(path, { token: secret, project: other })
        expect([answer.status, answer.body.code], `${path} as ${other}`).toEqual([401, 'wrong_project'])
      }
    }
    expect((await call(KEYS, { token: secret, project })).status).toBe(200)
  })

  it('[auth.3] X-Project-Id names the project that a request is scoped to', async () => {
    const { project, owner, key } = await freshKey()
    const { body: sibling } = await call(PROJECTS, { method: 'POST', token: owner.token, json: { name: 'Sibling' } })
    const { key: other } = await mint(owner.token, sibling.id)
    const ids = async (of: string) => {
      const { body } = await call(KEYS, { token: owner.token, project: of })
      return body.data.map((row: any) => row.id)
    }
    expect(await ids(project)).toEqual([key.id])
    expect(await ids(sibling.id)).toEqual([other.id])
  })

  it('[auth.4] every endpoint that takes a Bearer token takes a key, but minting', async () => {
    const plane = ROUTES.filter(({ path }) => path.startsWith('/platform/v1'))
    expect(plane.length).toBeGreaterThan(20)
    for (const route of plane) {
      if (nameOf(route) === 'POST /platform/v1/api-keys') continue
      const world = await newWorld()
      const answer = await callRoute(world, route, { token: world.secret })
      expect(answer.status, `${nameOf(route)} ${answer.text}`).toBeLessThan(300)
    }
  })

  it('[auth.5] a use is recorded at most once a minute: a second use within it writes nothing', async () => {
    // The clock is set by hand. The KV marker expires by the real clock, so it is removed by hand when its 60 s are up.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
    const start = Date.now()
    const { project, owner, key, secret } = await freshKey()
    const use = async (at: number) => {
      vi.setSystemTime(start + at)
      const { DB, count } = countingD1()
      expect((await call(PROJECTS, { token: secret, project, bindings: { DB } })).status).toBe(200)
      return count.rows_written
    }
    const recorded = async () => Date.parse((await rowOf(owner.token, project, key.id)).last_used_at) - start
    expect(await use(0)).toBe(1)
    for (const at of [1, 1000, 30_000, 59_999]) expect(await use(at)).toBe(0)
    expect(await recorded()).toBe(0)
    await bound.KV.delete(`last_used:${key.id}`)
    expect(await use(60_000)).toBe(1)
    expect(await recorded()).toBe(60_000)
    await bound.KV.delete(`last_used:${key.id}`)
    expect(await use(119_999)).toBe(0)
    expect(await recorded()).toBe(60_000)
  })

  it('[auth.6] of many first uses at once, one is recorded', async () => {
    const { project, secret } = await freshKey()
    const { DB, count } = countingD1()
    const uses = await Promise.all(
      Array.from({ length: 20 }, () => call(PROJECTS, { token: secret, project, bindings: { DB } })),
    )
    expect(new Set(uses.map(({ status }) => status))).toEqual(new Set([200]))
    expect(count.rows_written).toBe(1)
  })

  it('[auth.7] a use that another machine recorded meanwhile is not recorded again', async () => {
    // Its isolate has no memory of ours and its KV marker has not reached us: the statement's own condition holds.
    const { project, owner, key, secret } = await freshKey()
    const theirs = Date.now() - 1000
    let asked = 0
    const KV = {
      get: async () => {
        asked += 1
        await env.DB.prepare('UPDATE api_keys SET last_used_at = ? WHERE id = ?').bind(theirs, key.id).run()
        return null
      },
      put: async () => {},
    } as unknown as KVNamespace
    expect((await call(PROJECTS, { token: secret, project, bindings: { KV } })).status).toBe(200)
    expect(asked).toBe(1)
    expect(Date.parse((await rowOf(owner.token, project, key.id)).last_used_at)).toBe(theirs)
  })

  it('[auth.8] a request that the key did not authenticate is no use of it', async () => {
    const { project, owner, key, secret } = await freshKey()
    const stranger = await freshProject()
    await call(KEYS, { token: secret, project: stranger.project })
    await call(KEYS, { token: `${secret.slice(0, -1)}${secret.endsWith('0') ? '1' : '0'}`, project })
    expect((await rowOf(owner.token, project, key.id)).last_used_at).toBeNull()
  })
})

describe('projects', () => {
  it('[projects.1] POST creates a project and answers with it', async () => {
    const { project, secret, owner } = await freshKey()
    for (const caller of [{ token: owner.token }, { token: secret, project }]) {
      const answer = await call(PROJECTS, { method: 'POST', ...caller, json: { name: 'Acme' } })
      expect([answer.status, answer.body.name]).toEqual([201, 'Acme'])
      const read = await call(`${PROJECTS}/${answer.body.id}`, { token: owner.token })
      expect(read.body).toMatchObject({ id: answer.body.id, name: 'Acme' })
    }
  })

  it('[projects.2] GET is the first call to make with a new key: it lists what the caller can see', async () => {
    const { project, owner, secret } = await freshKey()
    const { body: second } = await call(PROJECTS, { method: 'POST', token: owner.token, json: { name: 'Second' } })
    const withKey = await answerOf(PROJECTS, secret, project)
    expect(withKey.status).toBe(200)
    expect(withKey.body.data.map((row: any) => row.id)).toEqual([project])
    const withSession = await call(PROJECTS, { token: owner.token })
    expect(withSession.body.data.map((row: any) => row.id).sort()).toEqual([project, second.id].sort())
  })

  it("[projects.3] every request is scoped to one project: another's objects are not there", async () => {
    const mine = await freshKey()
    const theirs = await newWorld()
    const paths: [string, string][] = [
      ['GET', `${PROJECTS}/${theirs.project}`],
      ['POST', `${KEYS}/${theirs.key.id}/rotate`],
      ['DELETE', `${KEYS}/${theirs.key.id}`],
      ['GET', `/platform/v1/billing/connections/${theirs.connection.id}`],
      ['DELETE', `/platform/v1/billing/connections/${theirs.connection.id}`],
      ['GET', `${WEBHOOKS}/${theirs.event}`],
      ['GET', `${WEBHOOKS}/${theirs.event}/attempts`],
      ['POST', `${WEBHOOKS}/${theirs.event}/replay`],
    ]
    for (const token of [mine.secret, mine.owner.token]) {
      for (const [method, path] of paths) {
        const answer = await call(path, { method, token, project: mine.project })
        expect([answer.status, answer.body.code], `${method} ${path}`).toEqual([404, 'not_found'])
      }
      for (const list of [WEBHOOKS, '/platform/v1/billing/connections']) {
        expect((await call(list, { token, project: mine.project })).body.data).toEqual([])
      }
    }
  })
})

describe('billing webhook events', () => {
  it('[events.1] event_type is the vendor’s own name of the event', async () => {
    const { project, secret } = await freshKey()
    const connection = await stripeConnection(secret, project)
    const types = [
      'invoice.payment_succeeded',
      'customer.subscription.updated',
      'charge.dispute.created',
      'x.unheard.of',
    ]
    for (const type of types) {
      const receipt = await deliver(connection.id, stripeEvent(type), { bindings: { EVENTS: lossyQueue().EVENTS } })
      const { body } = await call(`${WEBHOOKS}/${receipt.body.event_ids[0]}`, { token: secret, project })
      expect(body.event_type).toBe(type)
    }
  })

  it('[events.2] status says where in its lifecycle the event is', async () => {
    const event = await freshEvent()
    expect((await event.read()).status).toBe('received')
    await event.process()
    expect((await event.read()).status).toBe('processed')
  })

  it('[events.3] processing_attempts counts the attempts', async () => {
    const event = await freshEvent()
    expect((await event.read()).processing_attempts).toBe(0)
    await event.process()
    expect((await event.read()).processing_attempts).toBe(1)
    const { EVENTS, sent } = lossyQueue()
    await replay(event, { EVENTS })
    await drain(sent)
    expect((await event.read()).processing_attempts).toBe(2)
  })

  it('[events.4] received_at is when the event came in, however late it is processed', async () => {
    const before = Date.now()
    const event = await freshEvent()
    const after = Date.now()
    const { received_at } = await event.read()
    expect(received_at).toMatch(ISO)
    expect(Date.parse(received_at)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(received_at)).toBeLessThanOrEqual(after)
    await event.process()
    expect((await event.read()).received_at).toBe(received_at)
  })

  it('[events.5] processed_at is null until processing completed, then when it did', async () => {
    const event = await freshEvent()
    expect((await event.read()).processed_at).toBeNull()
    const before = Date.now()
    await event.process()
    const { processed_at } = await event.read()
    expect(processed_at).toMatch(ISO)
    expect(Date.parse(processed_at)).toBeGreaterThanOrEqual(before)
    expect(Date.parse(processed_at)).toBeLessThanOrEqual(Date.now())
  })

  it('[events.6] last_error says why processing did not succeed, and is null when it did', async () => {
    const good = await freshEvent()
    await good.process()
    expect(await good.read()).toMatchObject({ status: 'processed', last_error: null })
    const bad = await freshEvent('{"object":"event", cut short')
    await bad.process()
    expect(await bad.read()).toMatchObject({
      status: 'failed',
      processed_at: null,
      last_error: expect.stringMatching(/\w{3}/),
    })
  })

  const JSON_TEXT = JSON.stringify(stripeEvent())
  const bytes = (...values: number[]) => Uint8Array.from(values)
  const utf8 = (text: string) => new TextEncoder().encode(text) as Uint8Array<ArrayBuffer>
  it.each<[string, () => Uint8Array<ArrayBuffer>]>([
    ['JSON', () => utf8(JSON_TEXT)],
    [
      'JSON with odd spacing, CRLF and a last newline',
      () => utf8(`\r\n{ "object" :\t"event" ,\r\n"id":"evt_odd"}\r\n\n`),
    ],
    [
      'JSON with escapes that a parser would undo',
      () => utf8('{"object":"event","a":"\\u00e9\\/\\ud83d\\ude00","n":1.0e3}'),
    ],
    ['text beyond ASCII, and noncharacters', () => utf8('{"a":"żółć 漢字 🔑 e\u0301 \u202e \ufffd \uffff \u2028"}')],
    ['a byte order mark', () => utf8(`\ufeff${JSON_TEXT}`)],
    ['NUL', () => utf8('{"a":"\0"}\0\0')],
    ['bytes that are not UTF-8', () => bytes(0x7b, 0xff, 0xfe, 0x00, 0xc3, 0x28, 0x80, 0xed, 0xa0, 0x80, 0x7d)],
    ['every byte', () => Uint8Array.from({ length: 256 }, (_, index) => index)],
    ['Latin-1', () => bytes(...[...'{"name":"Zo\u00eb"}'].map((char) => char.charCodeAt(0)))],
    ['no bytes at all', () => bytes()],
    ['300 kB of bytes', () => Uint8Array.from({ length: 300_000 }, (_, index) => (index * 7919) >> 3)],
    ['1 MiB of text', () => utf8(`{"a":"${'é'.repeat(524_284)}"}`)],
  ])('[events.7] raw_payload_b64 is the payload verbatim: %s', async (_, make) => {
    const { project, secret } = await freshKey()
    const connection = await stripeConnection(secret, project)
    const sent = make()
    const receipt = await deliverBytes(connection.id, sent, { bindings: { EVENTS: lossyQueue().EVENTS } })
    expect(receipt.status, receipt.text).toBe(200)
    const id = receipt.body.event_ids[0]
    const readings = async () => {
      const one = await call(`${WEBHOOKS}/${id}`, { token: secret, project })
      const list = await call(WEBHOOKS, { token: secret, project })
      return [one.body.raw_payload_b64, list.body.data[0].raw_payload_b64]
    }
    const expected = sent.toBase64()
    for (const reading of await readings()) expect(reading === expected).toBe(true)
    await drain([{ project_id: project, event_id: id }])
    for (const reading of await readings()) expect(reading === expected).toBe(true)
  })

  it('[events.8] decoded_summary is a decoded view of the payload', async () => {
    const event = await freshEvent(
      stripeEvent('invoice.paid', { object: 'invoice', id: 'in_9', customer: 'cus_7', total: 1999, currency: 'usd' }),
    )
    await event.process()
    expect((await event.read()).decoded_summary).toMatchObject({
      vendor: 'stripe',
      object: { type: 'invoice', id: 'in_9' },
      customer: 'cus_7',
      invoice: 'in_9',
      amount: { value: 1999, currency: 'USD' },
    })
  })

  it('[events.9] an event is recorded before it is processed: one the Queue lost is listed as received', async () => {
    const payload = JSON.stringify(stripeEvent('charge.dispute.created'))
    const event = await freshEvent(payload)
    expect(event.sent).toHaveLength(1)
    const { body } = await call(WEBHOOKS, { token: event.secret, project: event.project })
    expect(body.data).toHaveLength(1)
    expect(body.data[0]).toMatchObject({
      id: event.id,
      status: 'received',
      processing_attempts: 0,
      processed_at: null,
      last_error: null,
      raw_payload_b64: btoa(payload),
    })
    // And when the Queue cannot even be reached.
    const broken = {
      sendBatch: async () => {
        throw new Error('Queue is unreachable')
      },
    } as unknown as Queue<unknown>
    const receipt = await deliver(event.connection.id, stripeEvent(), { bindings: { EVENTS: broken } })
    expect(receipt.status).toBe(200)
    const { body: two } = await call(WEBHOOKS, { token: event.secret, project: event.project })
    expect(two.data.map((row: any) => row.status)).toEqual(['received', 'received'])
  })

  it('[events.10] events are recorded per project', async () => {
    const mine = await freshEvent()
    const theirs = await freshEvent()
    for (const [world, id] of [[mine, mine.id] as const, [theirs, theirs.id] as const]) {
      const { body } = await call(WEBHOOKS, { token: world.secret, project: world.project })
      expect(body.data.map((row: any) => row.id)).toEqual([id])
    }
  })

  it('[events.11] the list shows recent events with every specified field', async () => {
    const event = await freshEvent()
    await event.process()
    const { EVENTS } = lossyQueue()
    const second = await deliver(event.connection.id, stripeEvent(), { bindings: { EVENTS } })
    const { status, body } = await call(WEBHOOKS, { token: event.secret, project: event.project })
    expect(status).toBe(200)
    expect(body.data.map((row: any) => row.id)).toEqual([second.body.event_ids[0], event.id])
    const FIELDS = {
      event_type: expect.any(String),
      status: expect.any(String),
      processing_attempts: expect.any(Number),
      received_at: expect.stringMatching(ISO),
      processed_at: expect.stringMatching(ISO),
      raw_payload_b64: expect.stringMatching(/^[A-Za-z0-9+/]+=*$/),
      decoded_summary: expect.any(Object),
      last_error: null,
    }
    expect(body.data[1]).toMatchObject(FIELDS)
    expect(Number.isInteger(body.data[1].processing_attempts)).toBe(true)
  })

  it('[events.12] search answers with the events that match its filters, and no others', async () => {
    const event = await freshEvent(stripeEvent('invoice.paid', { object: 'invoice', id: 'in_1' }))
    await event.process()
    const { EVENTS } = lossyQueue()
    const second = await deliver(event.connection.id, stripeEvent('charge.refunded'), { bindings: { EVENTS } })
    const [other] = second.body.event_ids
    const cases: [string, string[]][] = [
      ['event_type=invoice.paid', [event.id]],
      ['event_type=charge.*', [other]],
      ['status=received', [other]],
      ['status=processed', [event.id]],
      ['event_type=invoice.paid&status=received', []],
      [`connection_id=${event.connection.id}`, [other, event.id]],
      ['ref=in_1', [event.id]],
      ['received_after=2000-01-01T00:00:00Z', [other, event.id]],
      ['received_before=2000-01-01T00:00:00Z', []],
    ]
    for (const [filter, ids] of cases) {
      const answer = await call(`${WEBHOOKS}/search?${filter}`, { token: event.secret, project: event.project })
      expect([answer.status, answer.body.data?.map((row: any) => row.id)], filter).toEqual([200, ids])
    }
  })

  it('[events.13] health is a snapshot of the pipeline’s current state', async () => {
    await env.DB.prepare("INSERT OR REPLACE INTO state (name, value) VALUES ('last_sweep_at', ?)")
      .bind(Date.now())
      .run()
    const event = await freshEvent()
    const snapshot = async () => {
      const answer = await call(`${WEBHOOKS}/health`, { token: event.secret, project: event.project })
      expect(answer.status, answer.text).toBe(200)
      return answer.body
    }
    expect(await snapshot()).toMatchObject({ status: 'ok', counts: { received: 1, processed: 0 } })
    await event.process()
    expect(await snapshot()).toMatchObject({ status: 'ok', counts: { received: 0, processed: 1 } })
  })

  it('[events.14] the lag series tells the time from ingestion to processing over time', async () => {
    const event = await freshEvent()
    await event.process()
    const { received_at, processed_at } = await event.read()
    const answer = await call(`${WEBHOOKS}/lag-timeseries`, { token: event.secret, project: event.project })
    expect(answer.status, answer.text).toBe(200)
    const points = (answer.body.data ?? answer.body.points) as any[]
    const [point] = points.filter(({ received }) => received > 0)
    expect(point).toMatchObject({ received: 1, processed: 1, pending: 0 })
    const lag = Date.parse(processed_at) - Date.parse(received_at)
    expect(Math.abs(point.p50_ms - lag)).toBeLessThanOrEqual(1 + lag * 0.02)
  })

  it('[events.15] replay re-runs the processing of a recorded event', async () => {
    const event = await freshEvent()
    await event.process()
    const answer = await replay(event)
    expect(answer.status).toBe(202)
    expect(answer.body.replay).toMatchObject({ event_id: event.id, deduplicated: false })
    const done = await settled(event.project, event.secret, event.id) // through the real Queue
    expect(done).toMatchObject({ status: 'processed', processing_attempts: 2 })
  })

  it('[events.16] replay is idempotent: however often, the record says the same but for its attempts', async () => {
    const event = await freshEvent()
    await event.process()
    const first = await event.read()
    for (let i = 1; i <= 3; i++) {
      const { EVENTS, sent } = lossyQueue()
      expect((await replay(event, { EVENTS })).body.replay.deduplicated).toBe(false)
      expect((await replay(event, { EVENTS })).body.replay.deduplicated).toBe(true) // a run is coming already
      await drain([...sent, ...sent])
      expect(await event.read()).toEqual({ ...first, processing_attempts: 1 + i })
    }
    expect((await call(WEBHOOKS, { token: event.secret, project: event.project })).body.data).toHaveLength(1)
  })

  it('[events.17] a failed event may be replayed: it ends as it did, and nothing else changes', async () => {
    const event = await freshEvent('not JSON')
    await event.process()
    const first = await event.read()
    const { EVENTS, sent } = lossyQueue()
    expect((await replay(event, { EVENTS })).status).toBe(202)
    await drain(sent)
    expect(await event.read()).toEqual({ ...first, processing_attempts: 2 })
  })

  it('[events.18] replay is of an event of the project: any other id is a 404', async () => {
    const mine = await freshKey()
    const theirs = await freshEvent()
    for (const id of [theirs.id, 'evt_00000000000000000000000000', 'x']) {
      const answer = await replay({ ...mine, id })
      expect([answer.status, answer.body.code]).toEqual([404, 'not_found'])
    }
    expect((await theirs.read()).status).toBe('received')
  })

  it('[events.19] an event that a vendor sends again is one record', async () => {
    const event = await freshEvent()
    const again = await deliver(event.connection.id, event.event, { bindings: { EVENTS: lossyQueue().EVENTS } })
    expect(again.body).toEqual({ event_ids: [event.id], duplicate: true })
    expect((await call(WEBHOOKS, { token: event.secret, project: event.project })).body.data).toHaveLength(1)
  })
})

describe('the plane', () => {
  it('[plane.1] the version is in the path: no other version is served', async () => {
    const { project, secret } = await freshKey()
    for (const path of ['/platform/v2/projects', '/platform/projects', '/v1/projects', '/projects']) {
      expect((await call(path, { token: secret, project })).status).toBe(404)
    }
    const plane = ROUTES.filter(({ path }) => path.startsWith('/platform'))
    expect(plane.every(({ path }) => path.startsWith('/platform/v1/'))).toBe(true)
  })

  it('[plane.2] bodies are JSON, of that content type', async () => {
    const { owner } = await freshProject()
    const answer = await call(PROJECTS, { method: 'POST', token: owner.token, json: { name: 'Acme' } })
    expect(answer.headers.get('Content-Type')).toMatch(/^application\/json/)
    const text = await call(PROJECTS, {
      method: 'POST',
      token: owner.token,
      body: '{"name":"Acme"}',
      headers: { 'Content-Type': 'text/plain' },
    })
    expect(text.status).toBe(415)
  })
})

describe('the console', () => {
  it('[console.1] mints, lists, rotates and revokes keys at its path', async () => {
    const { project, owner } = await freshProject()
    const path = `/console/p/${project}/platform/settings/api-keys`
    const secretIn = ({ text }: Awaited<ReturnType<typeof submit>>) => /svc_v1_[0-9a-f]{96}/.exec(text)?.[0] ?? ''
    const works = async (secret: string) => (await call('/platform/v1/api-keys', { token: secret, project })).status

    const first = secretIn(await submit(path, owner.token, { name: 'from the console', scope: 'api_keys:read' }))
    expect(await works(first)).toBe(200)
    const list = await visit(path, owner.token)
    expect(list.text).toContain('from the console')
    const id = /api-keys\/(key_\w+)\/rotate/.exec(list.text)?.[1]
    const second = secretIn(await submit(`${path}/${id}/rotate`, owner.token))
    expect([await works(first), await works(second)]).toEqual([401, 200])
    await submit(`${path}/${id}/revoke`, owner.token)
    expect(await works(second)).toBe(401)
  })
})

describe('docs/contract.md', () => {
  it('[contract] names every test of this file, and no other', ({ task }) => {
    const names: string[] = []
    const walk = (tasks: readonly { name: string; type: string }[]) => {
      for (const one of tasks) {
        if (one.type === 'test') names.push(one.name)
        else walk((one as unknown as { tasks: { name: string; type: string }[] }).tasks)
      }
    }
    walk(task.file.tasks)
    const unnamed = names.filter((name) => !/^\[[a-z]+(\.\d+)?\] \S/.test(name))
    expect(unnamed).toEqual([])
    const referenced = (text: string) => text.match(/\[[a-z]+\.\d+\]/g) ?? []
    const tested = new Set(names.flatMap((name) => referenced(name).slice(0, 1)))
    const documented = new Set(referenced(contract))
    expect([...documented].sort()).toEqual([...tested].sort())
    // Every line of the table says by what it is shown.
    const rows = contract.split('\n').filter((line) => line.startsWith('| “'))
    expect(rows.length).toBeGreaterThan(50)
    expect(
      rows.filter((row) => !/\| (`\[[a-z]+\.\d+\]`|not shown: decided in docs\/|not built here: )/.test(row)),
    ).toEqual([])
  })
})
