import { env } from 'cloudflare:workers'
import type { Env } from '../../src/env'
import worker from '../../src/index'
import { ISSUER } from './issuer'

/*
 * Stands before the Worker of `npm start -- --idp`. What the Worker fetches of the local provider goes to this machine, and so does a browser
 * that the Worker sends there. The Worker itself has no such door: npm run deploy takes src/index.ts.
 */

const { LOCAL_IDP } = env as unknown as { LOCAL_IDP: string }
const { fetch } = globalThis

const isOfIssuer = (address: string) => address === ISSUER || address.startsWith(`${ISSUER}/`)

globalThis.fetch = (input: RequestInfo | URL, init?: RequestInit) => {
  const request = new Request(input, init)
  if (!isOfIssuer(request.url)) return fetch(request)
  const sent = new Request(LOCAL_IDP + request.url.slice(ISSUER.length), request)
  sent.headers.set('X-Forwarded-Proto', 'https')
  sent.headers.set('X-Forwarded-Host', new URL(ISSUER).host)
  return fetch(sent)
}

export default {
  ...worker,

  async fetch(request, bindings, ctx) {
    const response = await worker.fetch(request, bindings, ctx)
    const leads = response.headers.get('Location')
    if (leads === null || !isOfIssuer(leads)) return response
    const here = new Response(response.body, response)
    here.headers.set('Location', LOCAL_IDP + leads.slice(ISSUER.length))
    return here
  },
} satisfies ExportedHandler<Env>
