import { type Context, Hono } from 'hono'
import { authenticate } from '../http/auth'
import { readBearer } from '../http/bearer'
import type { HttpEnv } from '../http/context'
import { publicOrigin } from '../http/origin'
import type { Policy } from '../http/policy'
import { countForProject } from '../http/rate-limit'
import { settle } from '../http/read'
import { jsonBody } from '../http/validate'
import { Fault } from '../lib/fault'
import { type Api, type Called, callApi } from './call-tool'
import { MAX_REQUEST_ID } from './limits'
import { serveMessage } from './server'

/** What every message needs: a key that works. A message that makes no call of the API counts as a read. */
const ANY_KEY: Policy = { actors: ['api_key'], scope: null, project: true, reads: true }

/** The codes of JSON-RPC 2.0 §5.1, and the first one that servers may define. */
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
const REFUSED = -32000

/**
 * The Model Context Protocol: Streamable HTTP, without sessions or streams. Its tools are calls of the API. Before the body is read, each
 * request counts against the limits of its key, and its key is looked up if this isolate does not know it. The call that its tool
 * makes then counts against the limits of the project. If it makes none, the request counts there as a read.
 */
export const mcpRoutes = (api: Api) =>
  new Hono<HttpEnv>().post(
    '/',
    async (c, next) => {
      requireKey(c)
      if (isForeign(c)) return refused(403, REFUSED, 'This server takes no requests from pages of other sites.')
      await authenticate(c, { ...ANY_KEY, later: true })
      await next()
    },
    (c, next) => jsonBody(c, next),
    async (c) => {
      const message = await sentTo(c)
      const isRefused = message instanceof Response
      if (isRefused || message.method !== 'tools/call') await countAsRead(c)
      if (isRefused) return message
      let called: Called | undefined
      const response = await serveMessage(c.req.raw, message, async (name, args) => {
        called = await callApi(c, api, name, args)
        return called.result
      })
      if (message.method === 'tools/call' && !called?.isMade) await countAsRead(c)
      // The call itself is a use of the key.
      if (called?.isMade) c.set('confirmed', undefined)
      return called?.denied ?? response
    },
  )

/** No I/O. @throws {Fault} 401 without a well-formed API key; 403 for a session */
function requireKey(c: Context<HttpEnv>): void {
  if (readBearer(c).kind.type === 'api_key') return
  throw new Fault('api_key_required', 'Use an API key. This server takes no session of the console.')
}

/** @throws {Fault} as a call of the API that needs no scope */
async function countAsRead(c: Context<HttpEnv>): Promise<void> {
  await settle(c)
  await countForProject(c, ANY_KEY, c.get('actor'))
}

/**
 * Whether a page of another site sends the request. MCP requires the refusal, against DNS rebinding: a hostile site can point its name at
 * a server on a person's machine. Here it would be refused anyway, because no browser adds an API key by itself.
 */
function isForeign(c: Context<HttpEnv>): boolean {
  const origin = c.req.header('Origin')
  return origin !== undefined && origin !== publicOrigin(c)
}

type Message = { method?: unknown; id?: unknown; params?: unknown }

/** The message of a request, or why it is none. */
async function sentTo(c: Context<HttpEnv>): Promise<Message | Response> {
  let sent: unknown
  try {
    sent = await c.req.json()
  } catch {
    return refused(400, PARSE_ERROR, 'The body is not valid JSON.')
  }
  if (typeof sent !== 'object' || sent === null) return refused(400, INVALID_REQUEST, 'Send one JSON-RPC message.')
  if (Array.isArray(sent))
    return refused(400, INVALID_REQUEST, 'Send one message at a time: batches are not supported.')
  const { id } = sent as Message
  if (typeof id !== 'string' || id.length <= MAX_REQUEST_ID) return withoutExtras(sent)
  return refused(400, INVALID_REQUEST, `The id may have at most ${MAX_REQUEST_ID} characters.`)
}

/** The library walks through whatever the parameters of a call have: it gets only what it knows. */
function withoutExtras(message: Message): Message {
  const { method, params } = message
  if (method !== 'tools/call' || typeof params !== 'object' || params === null) return message
  const { name, arguments: args, _meta } = params as Record<string, unknown>
  return {
    ...message,
    params: { name, ...(args !== undefined && { arguments: args }), ...(_meta !== undefined && { _meta }) },
  }
}

/** A refusal in the form of JSON-RPC, of a message whose id is not known. */
function refused(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
}
