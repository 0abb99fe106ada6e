import { beforeAll, describe, expect, it } from 'vitest'
import { newSecret } from '../../src/api-keys/secret'
import { TOOLS } from '../../src/mcp/tools'
import { call, drain, freshKey, LIMIT_REACHED, lossyQueue, mint, ORIGIN } from '../harness'
import { newWorld, type World } from '../routes/world'
import { type Answer, type Caller, modern, post, rpc } from './mcp'

const TOOL_NAMES = [...TOOLS.keys()]
const INITIALIZE = { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'test', version: '1' } }
const codeOf = ({ status, body }: Answer) => [status, body?.code ?? body?.error?.code]

let world: World
let me: Caller
beforeAll(async () => {
  world = await newWorld()
  await drain([{ project_id: world.project, event_id: world.event }], { EVENTS: lossyQueue().EVENTS })
  me = { token: world.secret, project: world.project }
})

describe('the protocol', () => {
  it('answers clients of the revisions before 2026, without a session', async () => {
    const { status, body, headers } = await rpc(me, 'initialize', INITIALIZE)
    expect(status).toBe(200)
    expect(body.result).toMatchObject({ protocolVersion: '2025-06-18', serverInfo: { name: 'platform-api' } })
    expect([headers.get('Mcp-Session-Id'), headers.get('Cache-Control')]).toEqual([null, 'no-store'])
    expect((await post(me, { jsonrpc: '2.0', method: 'notifications/initialized' })).status).toBe(202)
    expect((await rpc(me, 'ping')).body.result).toEqual({})
    expect((await rpc(me, 'tools/list')).body.result.tools.map(({ name }: { name: string }) => name)).toEqual(
      TOOL_NAMES,
    )
  })

  it('answers clients of 2026-07-28, whose requests stand alone', async () => {
    const discovered = await modern(me, 'server/discover')
    expect(discovered.body.result).toMatchObject({ supportedVersions: ['2026-07-28'], capabilities: { tools: {} } })
    expect((await modern(me, 'tools/list')).body.result.tools).toHaveLength(TOOL_NAMES.length)
    const called = await modern(me, 'tools/call', { name: 'get_event', arguments: { event_id: world.event } })
    expect(called.body.result.structuredContent.id).toBe(world.event)
  })

  it('opens no stream, and has nothing to subscribe to', async () => {
    for (const method of ['GET', 'DELETE', 'PUT', 'OPTIONS']) {
      const answer = await call('/mcp', { method, ...me, headers: { Accept: 'text/event-stream' } })
      expect([method, answer.status, answer.headers.get('Allow')]).toEqual([method, 405, 'POST'])
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull()
    }
    const listened = await modern(me, 'subscriptions/listen', { notifications: { toolsListChanged: true } })
    expect(listened.body.error?.code).toBe(-32603)
    for (const method of ['resources/list', 'prompts/list', 'completion/complete', 'logging/setLevel', 'nothing']) {
      expect([method, (await rpc(me, method, { level: 'info' })).body.error?.code]).toEqual([method, -32601])
    }
  })

  it.each<[string, string | object, [number, number | string]]>([
    ['no JSON', '{', [400, -32700]],
    ['nothing', '', [400, -32700]],
    ['a text', '"initialize"', [400, -32600]],
    ['null', 'null', [400, -32600]],
    ['a batch', [{ jsonrpc: '2.0', id: 1, method: 'tools/list' }], [400, -32600]],
    ['an empty batch', [], [400, -32600]],
    ['no JSON-RPC', { method: 'ping', id: 1 }, [400, -32600]],
    ['a huge id', { jsonrpc: '2.0', id: 'x'.repeat(201), method: 'ping' }, [400, -32600]],
    ['an id that is an object', { jsonrpc: '2.0', id: { a: 1 }, method: 'ping' }, [400, -32600]],
    ['a method that is a number', { jsonrpc: '2.0', id: 1, method: 1 }, [400, -32600]],
    [
      '65 KB',
      { jsonrpc: '2.0', id: 1, method: 'ping', params: { x: 'x'.repeat(65 * 1024) } },
      [413, 'payload_too_large'],
    ],
    ['a call without a name', { jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} }, [200, -32602]],
    ['a call without parameters', { jsonrpc: '2.0', id: 1, method: 'tools/call' }, [200, -32602]],
  ])('refuses %s', async (_, body, refused) => {
    expect(codeOf(await post(me, body))).toEqual(refused)
  })

  it('stands deep nesting', async () => {
    const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
    const body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"find","arguments":${deep}}}`
    const { status, body: answer } = await post(me, body)
    expect([status, answer.error?.code ?? answer.result.isError]).toSatisfy(([s, is]) => s < 600 && is !== undefined)
  })

  it('takes JSON alone, from clients that take JSON', async () => {
    const ping = { jsonrpc: '2.0', id: 1, method: 'ping' }
    expect(codeOf(await post(me, ping, { headers: { 'Content-Type': 'text/plain' } }))).toEqual([
      415,
      'unsupported_media_type',
    ])
    expect((await post(me, ping, { headers: { Accept: 'text/html' } })).status).toBe(406)
    expect((await post(me, ping, { headers: { 'MCP-Protocol-Version': '1999-01-01' } })).status).toBe(400)
  })

  it('refuses pages of other sites, and shares nothing with them', async () => {
    for (const [Origin, status] of [
      ['https://evil.test', 403],
      ['null', 403],
      ['http://localhost:8787', 403],
      [ORIGIN, 200],
    ] as const) {
      const answer = await rpc({ ...me, headers: { Origin } }, 'tools/list')
      expect([Origin, answer.status]).toEqual([Origin, status])
      expect(answer.headers.get('Access-Control-Allow-Origin')).toBeNull()
    }
  })
})

describe('who may call', () => {
  const requests: [string, (caller: Caller) => Promise<Answer>][] = [
    ['initialize', (caller) => rpc(caller, 'initialize', INITIALIZE)],
    ['server/discover', (caller) => modern(caller, 'server/discover')],
    ['tools/list', (caller) => rpc(caller, 'tools/list')],
    ['a notification', (caller) => post(caller, { jsonrpc: '2.0', method: 'notifications/initialized' })],
    ['a response', (caller) => post(caller, { jsonrpc: '2.0', id: 1, result: {} })],
    ['an unknown method', (caller) => rpc(caller, 'nothing')],
    ['a tool', (caller) => rpc(caller, 'tools/call', { name: 'get_health', arguments: {} })],
    ['a tool of 2026', (caller) => modern(caller, 'tools/call', { name: 'get_health', arguments: {} })],
    ['an unknown tool', (caller) => rpc(caller, 'tools/call', { name: 'nothing', arguments: {} })],
    ['wrong arguments', (caller) => rpc(caller, 'tools/call', { name: 'get_event', arguments: {} })],
    ['no arguments', (caller) => rpc(caller, 'tools/call')],
  ]

  it.each(requests)('%s: only an API key that works', async (_, send) => {
    const theirs = await freshKey()
    const revoked = await mint(world.owner.token, world.project)
    await call(`/platform/v1/api-keys/${revoked.key.id}`, {
      method: 'DELETE',
      token: world.owner.token,
      project: world.project,
    })
    const answerTo = async (caller: Caller) => {
      const answer = await send(caller)
      return [answer.status, answer.body?.code, answer.headers.get('WWW-Authenticate')?.split('"')[1]]
    }
    const { project } = world
    expect((await send({ token: theirs.secret, project: theirs.project })).status).toBeLessThan(300)
    expect(await answerTo({ project })).toEqual([401, 'missing_credentials', 'platform'])
    expect(await answerTo({ token: 'svc_v1_0123', project })).toEqual([401, 'malformed_credentials', 'platform'])
    expect(await answerTo({ token: revoked.secret, project })).toEqual([401, 'key_revoked', 'platform'])
    expect(await answerTo({ token: theirs.secret, project })).toEqual([401, 'wrong_project', 'platform'])
    expect(await answerTo({ token: (await newSecret(0)).secret, project })).toEqual([401, 'unknown_key', 'platform'])
    expect(await answerTo({ token: world.owner.token, project })).toEqual([403, 'api_key_required', undefined])
  })

  it('takes no cookie of the console', async () => {
    const Cookie = `session=${world.owner.token}; __Host-session=${world.owner.token}`
    expect(codeOf(await rpc({ project: world.project, headers: { Cookie } }, 'tools/list'))).toEqual([
      401,
      'missing_credentials',
    ])
  })

  it('blocks an address that guesses, like the API', async () => {
    const headers = { 'CF-Connecting-IP': '2001:db8:ffff:77::1' }
    const bindings = { LIMIT_AUTH_FAILURE: LIMIT_REACHED }
    const guess = async (name: string) => {
      const caller = { token: (await newSecret(0)).secret, project: world.project, headers, bindings }
      return codeOf(await rpc(caller, 'tools/call', { name, arguments: {} }))
    }
    expect(await guess('get_health')).toEqual([401, 'unknown_key'])
    expect(await guess('get_health')).toEqual([429, 'rate_limited'])
    expect(await guess('nothing')).toEqual([429, 'rate_limited'])
  })
})
