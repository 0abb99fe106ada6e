import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Context } from 'hono'
import { alreadyCounted } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { asFault, describe } from '../http/errors'
import { writeLog } from '../http/log'
import { Fault } from '../lib/fault'
import { codeOf } from '../lib/faults'
import { cutToFit } from './cut'
import type { ApiAnswer, ApiCall, Tool } from './tool'
import { TOOLS } from './tools'

/** Sends a request to the API, inside the Worker. */
export type Api = (c: Context<HttpEnv>, request: Request) => Promise<Response>

/** The headers that the API needs: the caller, the project and the address. */
const PASSED_ON = ['Authorization', 'X-Project-Id', 'CF-Connecting-IP', 'User-Agent']

/**
 * The result of a tool. `isMade`: whether the arguments led to a call; `denied`: the response of the API, if it refused the credentials.
 */
export type Called = { result: CallToolResult; isMade: boolean; denied: Response | null }

/**
 * Makes a tool's call of the API, with the credentials of the request: the API checks, counts, logs and refuses it as any other.
 */
export async function callApi(c: Context<HttpEnv>, api: Api, name: string, args: unknown): Promise<Called> {
  let isMade = false
  try {
    const asked = toolNamed(name).ask(args)
    c.get('log').tool = name
    const response = await api(c, alreadyCounted(requestOf(c, asked)))
    isMade = true
    const text = await response.text()
    const body = JSON.parse(text) as ApiAnswer
    const result = response.ok ? shown(asked.show(body), asked.less) : refusal(said(body, response))
    return { result, isMade, denied: response.status === 401 ? new Response(text, response) : null }
  } catch (error) {
    return { result: refusal(told(c, name, error)), isMade, denied: null }
  }
}

/** @throws {Fault} `not_found` */
function toolNamed(name: string): Tool {
  const tool = TOOLS.get(name)
  if (tool) return tool
  throw new Fault('not_found', `This tool does not exist. The tools are ${[...TOOLS.keys()].join(', ')}.`)
}

function requestOf(c: Context<HttpEnv>, { method, path }: ApiCall): Request {
  const headers = new Headers({ 'X-Request-Id': c.get('clientRequestId') ?? c.get('requestId') })
  for (const name of PASSED_ON) {
    const value = c.req.header(name)
    if (value !== undefined) headers.set(name, value)
  }
  const { cf } = c.req.raw as Request<unknown, IncomingRequestCfProperties>
  return new Request(new URL(path, c.req.url), { method, headers, ...(cf && { cf }) })
}

function shown(answer: object, less: string | null): CallToolResult {
  const structuredContent = cutToFit(answer, less)
  return { content: [{ type: 'text', text: JSON.stringify(structuredContent) }], structuredContent }
}

/** What the API says about a refused call, and how long to wait. */
function said({ status, code, detail, errors, request_id }: ApiAnswer, response: Response): ApiAnswer {
  const wait = response.headers.get('Retry-After')
  return { status, code, detail, errors, request_id, ...(wait !== null && { retry_after_s: Number(wait) }) }
}

/** What went wrong here, in the same words. A mistake of ours is logged as an error, because the response is HTTP 200, and says nothing. */
function told(c: Context<HttpEnv>, name: string, error: unknown): ApiAnswer {
  const { fault, detail, extra } = asFault(error)
  const request_id = c.get('requestId')
  if (fault === 'internal_error') writeLog('error', 'tool_failed', { request_id, tool: name, error: describe(error) })
  return { code: codeOf(fault), detail, errors: extra.errors, request_id: c.get('clientRequestId') ?? request_id }
}

/** A refusal is the result of a tool, so that the model reads it: it may know what to do. */
function refusal(body: object): CallToolResult {
  return { isError: true, content: [{ type: 'text', text: JSON.stringify(cutToFit(body)) }] }
}
