import { createServer, type RequestListener, request as send } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { SETTINGS } from '../../scripts/idp/settings.ts'
import { type Handler, type Host, noteTokens } from './hosts.ts'

/*
 * OpenID providers that others have written. Each host has a server of its own, which is started when it is first asked.
 */

/** What a test says of a provider. The client is `rp` with the secret `s3cret`. */
export type Provider = {
  redirect_uris?: string[]
  /** Who is signed in there: claims besides `sub`. */
  account?: { sub: string; [claim: string]: unknown }
}
const ADA = { sub: 'ada', email: 'ada@acme.dev', email_verified: true, name: 'Ada' }

/** `*.certified.dev`: oidc-provider, which is certified by the OpenID Foundation. It sends `iss`, and has UserInfo. */
export const certified: Handler = forwardTo(async (host) => {
  const { default: OidcProvider } = await import('oidc-provider')
  const { redirect_uris = [], account = ADA } = host.settings as Provider
  const provider = new OidcProvider(`https://${host.name}`, {
    ...SETTINGS,
    clients: [{ client_id: 'rp', client_secret: 's3cret', redirect_uris, response_types: ['code'] }],
    findAccount: (_, accountId) => ({ accountId, claims: () => account }),
    interactions: { url: (_, { uid }) => `/sign-in/${uid}` },
    cookies: { keys: ['a key of the tests'] },
  })
  provider.proxy = true
  // Everybody who comes is the account of the test.
  provider.use(async (ctx, next) => {
    if (!ctx.path.startsWith('/sign-in/')) return next()
    ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, { login: { accountId: account.sub } }))
  })
  return provider.callback()
})

/** By host: its keys stay when its settings change, because the engine remembers them. */
const issuers = new Map<string, object>()

/** `*.mock.dev`: oauth2-mock-server. It sends no `iss`. */
export const mock: Handler = forwardTo(async (host) => {
  const { OAuth2Issuer, OAuth2Service } = await import('oauth2-mock-server')
  // Read anew each time, so that a test can sign in somebody else.
  const account = () => (host.settings as Provider).account ?? ADA
  const issuer = (issuers.get(host.name) ?? new OAuth2Issuer()) as InstanceType<typeof OAuth2Issuer>
  issuer.url = `https://${host.name}`
  if (!issuers.has(host.name)) await issuer.keys.generate('RS256')
  issuers.set(host.name, issuer)
  const service = new OAuth2Service(issuer)
  service.on('beforeTokenSigning', (token) => Object.assign(token.payload, account()))
  service.on('beforeUserinfo', (response) => Object.assign(response, { body: account(), statusCode: 200 }))
  return service.requestHandler
})

/**
 * A handler that gives every host a Node.js server of its own, and another one when its settings have changed. The same
 * settings again keep the server: it remembers the challenges of sign-ins that are under way.
 */
function forwardTo(make: (host: Host) => Promise<RequestListener>): Handler {
  const servers = new Map<string, { settings: string; port: Promise<number> }>()
  return async (request, host) => {
    const known = servers.get(host.name)
    const settings = JSON.stringify(host.settings)
    const server = known?.settings === settings ? known : { settings, port: make(host).then(listen) }
    servers.set(host.name, server)
    const response = await forward(request, await server.port)
    if (request.method === 'POST') noteTokens(host, await response.clone().text())
    return response
  }
}

function listen(listener: RequestListener): Promise<number> {
  const server = createServer(listener)
  server.unref()
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port))
  })
}

/** Not `fetch`: it does not send a `Host` of ours. */
async function forward(request: Request, port: number): Promise<Response> {
  const { host, pathname, search } = new URL(request.url)
  const headers = { ...Object.fromEntries(request.headers), host, 'x-forwarded-proto': 'https' }
  const body = Buffer.from(await request.arrayBuffer())
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: pathname + search, method: request.method, headers }
    const sent = send(options, async (response) => {
      const received = await buffer(Readable.from(response))
      const given = Object.entries(response.headers).flatMap(([name, value]) =>
        [value ?? []].flat().map((one): [string, string] => [name, one]),
      )
      const kept = given.filter(
        ([name]) => !['transfer-encoding', 'connection', 'keep-alive', 'content-length'].includes(name),
      )
      resolve(
        new Response(received.length > 0 ? received : null, { status: response.statusCode ?? 502, headers: kept }),
      )
    })
    sent.on('error', reject).end(body)
  })
}
