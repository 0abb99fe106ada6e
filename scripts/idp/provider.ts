import { generateKeyPairSync, randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import Provider, { type Configuration, interactionPolicy } from 'oidc-provider'
import { readLocal, writeLocal } from '../lib/paths.ts'
import { CLIENT, ISSUER } from './issuer.ts'
import { SETTINGS } from './settings.ts'

const HOUR_S = 3600
const KEY_FILE = 'idp-key.json'

/** The people whom one can sign in as there. */
export const PEOPLE = [
  { sub: 'ada', name: 'Ada Lovelace', email: 'ada@acme.example', email_verified: true },
  { sub: 'grace', name: 'Grace Hopper', email: 'grace@acme.example', email_verified: true },
]

/**
 * Starts an OpenID provider on this machine: oidc-provider, which is certified by the OpenID Foundation. It asks each time who signs in, and
 * forgets everything when it stops.
 *
 * @param app the origin to which it lets people return, with any path
 * @param port 0: a free one
 * @returns its address on this machine
 * @throws if the port is in use
 */
export async function startProvider(app: string, port = 0): Promise<string> {
  const policy = interactionPolicy.base()
  const chosen = new interactionPolicy.Check('who', 'Choose who signs in.', 'login_required', ({ oidc }) =>
    oidc.result?.login === undefined
      ? interactionPolicy.Check.REQUEST_PROMPT
      : interactionPolicy.Check.NO_NEED_TO_PROMPT,
  )
  policy.get('login')?.checks.add(chosen)
  const provider = new Provider(ISSUER, {
    ...SETTINGS,
    clients: [{ ...CLIENT, redirect_uris: [`${app}/sso/callback`], response_types: ['code'] }],
    findAccount: (_, id) => {
      const person = PEOPLE.find(({ sub }) => sub === id)
      return person && { accountId: id, claims: () => person }
    },
    interactions: { policy, url: (_, { uid }) => `/sign-in/${uid}` },
    cookies: { keys: [randomUUID()] },
    jwks: { keys: [signingKey()] },
    ttl: { Interaction: HOUR_S, Grant: HOUR_S, Session: HOUR_S, AccessToken: HOUR_S, IdToken: HOUR_S },
  })
  // Each connection has a callback of its own.
  provider.Client.prototype.redirectUriAllowed = (uri) => URL.canParse(uri) && new URL(uri).origin === app
  provider.proxy = true
  provider.use(async (ctx, next) => {
    if (!ctx.path.startsWith('/sign-in/')) return next()
    const person = PEOPLE.find(({ sub }) => sub === ctx.query.as)
    if (person) {
      ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, { login: { accountId: person.sub } }))
      return
    }
    ctx.type = 'html'
    ctx.body = page()
  })
  const server = createServer(provider.callback())
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, '127.0.0.1', resolve)
  })
  return `http://localhost:${(server.address() as AddressInfo).port}`
}

type SigningKey = NonNullable<Configuration['jwks']>['keys'][number]

/** The key that it signs with: the same one each time, because the Worker remembers a provider's keys. */
function signingKey(): SigningKey {
  const kept = readLocal<SigningKey>(KEY_FILE)
  if (kept) return kept
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const key = { ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: randomUUID() } as SigningKey
  writeLocal(KEY_FILE, key)
  return key
}

function page(): string {
  const links = PEOPLE.map(({ sub, name, email }) => `<p><a href="?as=${sub}">Sign in as ${name}</a> (${email})</p>`)
  return `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>Local identity provider</title><style>body { font: 16px/1.5 system-ui; max-width: 30rem; margin: 4rem auto; padding: 0 1rem }</style>
<h1>Local identity provider</h1>${links.join('\n')}</html>`
}
