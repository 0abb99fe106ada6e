import { createMCPClient, type MCPClient } from '@ai-sdk/mcp'
import { must } from '../../scripts/lib/api.ts'
import { localProject } from '../../scripts/lib/inbox.ts'
import { localSession } from '../../scripts/lib/sign-in.ts'

/** What a tool answered; null if it refused. */
type Answered = { isError: boolean; text: string; shown: Record<string, unknown> | null }

/**
 * Calls every tool of /mcp with the client of Vercel's AI SDK, which has an implementation of the protocol of its own: with its newest
 * revision, and with an earlier one. The project has events, because npm run demo or send came before.
 *
 * @returns what is printed about it
 * @throws if a tool is not offered, fails, or answers something else; if a key that was revoked still works
 */
export async function tryMcp(url: string): Promise<string> {
  const { token } = await localSession(url)
  const project = await localProject(url, token)
  const api = <T>(path: string, call: object = {}) => must<T>(`${url}/platform/v1${path}`, { token, project, ...call })
  const scopes = ['billing:read', 'billing:write', 'connections:read', 'entitlements:read']
  const { key, secret } = await api<{ key: { id: string }; secret: string }>('/api-keys', {
    json: { name: 'agent', scopes },
  })
  await api('/consumers/ext:agent', { method: 'PUT', json: {} })
  await api('/billing/features/agents', { method: 'PUT', json: { name: 'Agents', type: 'boolean' } })
  await api('/billing/grants', { json: { consumer: 'ext:agent', feature: 'agents', value: true } })

  const headers = { Authorization: `Bearer ${secret}`, 'X-Project-Id': project }
  const said: string[] = []
  for (const protocolVersionDiscovery of [true, false]) {
    const client = await createMCPClient({
      transport: { type: 'http', url: `${url}/mcp`, headers },
      protocolVersionDiscovery,
    })
    said.push(`${await callAll(client)} tools with ${client.initializeResult.protocolVersion}`)
    await client.close()
  }
  const client = await createMCPClient({ transport: { type: 'http', url: `${url}/mcp`, headers } })
  await api(`/api-keys/${key.id}`, { method: 'DELETE' })
  const refused = await client.callTool({ name: 'get_health', arguments: {} }).catch((error: Error) => error.message)
  if (typeof refused !== 'string' || !refused.includes('401'))
    throw new Error(`after the revocation: ${JSON.stringify(refused)}`)
  return said.join(', ')
}

async function callAll(client: MCPClient): Promise<number> {
  const { tools } = await client.listTools()
  const called = new Set<string>()
  const call = async (name: string, args: Record<string, unknown> = {}): Promise<Answered> => {
    called.add(name)
    const result = (await client.callTool({ name, arguments: args })) as {
      isError?: boolean
      content: { text: string }[]
      structuredContent?: Record<string, unknown>
    }
    const text = result.content[0]?.text ?? ''
    return { isError: result.isError === true, text, shown: result.structuredContent ?? null }
  }
  const shown = async (name: string, args?: Record<string, unknown>) => {
    const answered = await call(name, args)
    if (answered.shown === null || answered.isError) throw new Error(`${name} answered ${answered.text}`)
    if (JSON.stringify(answered.shown) !== answered.text) throw new Error(`${name} has another text: ${answered.text}`)
    return answered.shown
  }
  const rowsOf = async (name: string, args?: Record<string, unknown>) =>
    (await shown(name, args)).data as { id: string }[]

  const [event] = await rowsOf('search_events', { limit: 1, status: ['processed'] })
  const [connection] = await rowsOf('list_connections', { limit: 1 })
  if (!event || !connection) throw new Error('the project has no processed event')
  const event_id = event.id
  if ((await shown('get_event', { event_id })).id !== event_id) throw new Error('not that event')
  await rowsOf('list_event_attempts', { event_id })
  await rowsOf('list_failures')
  await rowsOf('find', { q: event_id })
  await rowsOf('explain_refused_deliveries', { connection_id: connection.id })
  await shown('get_health')
  await shown('get_entitlements', { consumer: 'ext:agent' })
  const { features } = await shown('explain_entitlement', { consumer: 'ext:agent', feature: 'agents' })
  if (!JSON.stringify(features).includes('"counted":true'))
    throw new Error(`not explained: ${JSON.stringify(features)}`)
  if (!Array.isArray((await shown('dry_run_replay', { event_id })).diff)) throw new Error('no diff')
  if (!(await call('get_event', { event_id: 'evt_nothing' })).isError) throw new Error('an id of no event was found')
  const missing = tools.map(({ name }) => name).filter((name) => !called.has(name))
  if (missing.length > 0) throw new Error(`not called: ${missing}`)
  return tools.length
}
