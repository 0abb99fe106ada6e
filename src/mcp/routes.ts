import { type Context, Hono } from 'hono'
import { authenticate } from '../http/auth'
import { readBearer } from '../http/bearer'
import type { HttpEnv } from '../http/context'
import { publicOrigin } from '../http/origin'
import type { Policy } from '../http/policy'
import { settle } from '../http/read'
import { jsonBody } from '../http/validate'
import { Fault } from '../lib/fault'
import { type Api, type Called, callApi } from './call-tool'
import { MAX_REQUEST_ID } from './limits'
import { serveMessage } from './server'

/** What a message needs that makes no call of the API: a key that works. */
const ANY_KEY = { actors: ['api_key'], scope: null, project: true, reads: true } as const satisfies Policy

/** The codes of JSON-RPC 2.0 §5.1, and the first one that servers may define. */
const PARSE_ERROR = -32700
const INVALID_REQUEST = -32600
const REFUSED = -32000

/**
 * The Model Context Protocol: Streamable HTTP without sessions and streams. Its tools are calls of the API. Each request is
 * authenticated and counted once: by the call that its tool makes, or here if it makes none.
 */
export const mcpRoutes = (api: Api) =>
  new Hono<HttpEnv>().post(
    '/',
    async (c, next) => {
      requireKey(c)
      if (isForeign(c)) return refused(403, REFUSED, 'This server takes no requests from pages of other sites.')
      await next()
    },
    (c, next) => jsonBody(c, next),
    async (c) => {
      const message = await sentTo(c)
      if (message instanceof Response) return message
      if (message.method !== 'tools/call') await requireLiveKey(c)
      let called: Called | undefined
      const response = await serveMessage(c.req.raw, message, async (name, args) => {
        called = await callApi(c, api, name, args)
        return called.result
      })
      if (message.method === 'tools/call' && !called?.isMade) await requireLiveKey(c)
      return called?.denied ?? response
    },
  )

/** No I/O. @throws {Fault} 401 without a well-formed API key; 403 for a session */
function requireKey(c: Context<HttpEnv>): void {
  if (readBearer(c).kind.type === 'api_key') return
  throw new Fault('api_key_required', 'Use an API key. This server takes no session of the console.')
}

/** @throws {Fault} as a call of the API that needs no scope */
async function requireLiveKey(c: Context<HttpEnv>): Promise<void> {
  await authenticate(c, ANY_KEY)
  await settle(c)
}

/**
 * Whether a page of another site sends the request: the specification wants it refused, because the name of such a site can be made to
 * lead to a server on this machine. Here it would be refused anyway, because no browser adds an API key by itself.
 */
function isForeign(c: Context<HttpEnv>): boolean {
  const origin = c.req.header('Origin')
  return origin !== undefined && origin !== publicOrigin(c)
}

type Message = { method?: unknown; id?: unknown }

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
  if (typeof id !== 'string' || id.length <= MAX_REQUEST_ID) return sent
  return refused(400, INVALID_REQUEST, `The id may have at most ${MAX_REQUEST_ID} characters.`)
}

/** A refusal in the form of JSON-RPC, of a message whose id is not known. */
function refused(status: number, code: number, message: string): Response {
  return Response.json({ jsonrpc: '2.0', error: { code, message }, id: null }, { status })
}
