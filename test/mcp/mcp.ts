import { type Answer as AnswerOf, call, type Json, type RequestOptions } from '../harness'

/** What a tool is called with. */
export type Args = Record<string, unknown>

/** What the server answers: a message of JSON-RPC, or a problem. */
export type Answer = AnswerOf<{
  code?: string
  error?: { code: number; message: string }
  result: {
    protocolVersion: string
    tools: { name: string; description: string; annotations: object; inputSchema: Record<string, unknown> }[]
    isError?: true
    content: { type: 'text'; text: string }[]
    structuredContent: Json & { diff: string[]; cut: { at: string; shown: number; of: number }[]; note: string }
  }
}>

/** A message with its envelope, as clients of the revision 2026-07-28 send it: each request stands alone. */
const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientCapabilities': {},
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
}

export type Caller = Pick<RequestOptions, 'token' | 'project' | 'headers' | 'bindings'>

/** What every client sends. */
export const ACCEPT = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json' }

/** Sends a body to the server as it is. */
export function post(caller: Caller, body: string | object, options: RequestOptions = {}): Promise<Answer> {
  return call<Answer['body']>('/mcp', {
    method: 'POST',
    ...caller,
    ...options,
    headers: { ...ACCEPT, ...caller.headers, ...options.headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })
}

/** Sends a request of a revision from before 2026. */
export function rpc(caller: Caller, method: string, params: Args = {}): Promise<Answer> {
  return post(caller, { jsonrpc: '2.0', id: 1, method, params })
}

/** Sends a request of the revision 2026-07-28. */
export function modern(caller: Caller, method: string, params: Args = {}): Promise<Answer> {
  const headers: Record<string, string> = { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': method }
  if (params.name) headers['Mcp-Name'] = String(params.name)
  const message = { jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: ENVELOPE } }
  return post(caller, message, { headers })
}

/** Calls a tool: what it answers, or the refusal that the model reads. */
export async function callTool(caller: Caller, name: string, args: Args = {}) {
  const { status, body } = await rpc(caller, 'tools/call', { name, arguments: args })
  if (status !== 200 || !body.result) throw new Error(`${name} answered ${status}: ${JSON.stringify(body)}`)
  const { content, structuredContent: answer, isError = false } = body.result
  const text = content[0]?.text ?? ''
  const refused: Json & { retry_after_s?: number } = isError ? JSON.parse(text) : null
  return { answer, refused, text }
}
