import { env } from 'cloudflare:workers'
import worker from '../../src/index'
import { ADDRESS_HEADER } from './address'

/*
 * Stands before the Worker in browser tests, where Miniflare's outboundService is not to be had: every fetch goes to the server
 * of test/outside/server.ts, with its address in a header.
 */

const { OUTSIDE } = env as unknown as { OUTSIDE: string }
const { fetch } = globalThis

globalThis.fetch = (input: RequestInfo | URL, init?: RequestInit) => {
  const request = new Request(input, init)
  const sent = new Request(OUTSIDE, request)
  sent.headers.set(ADDRESS_HEADER, request.url)
  return fetch(sent)
}

export default worker
