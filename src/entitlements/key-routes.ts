import { Hono } from 'hono'
import { run } from '../db/client'
import { addressOf } from '../http/address'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { limit } from '../http/rate-limit'
import { route } from '../http/route'
import { body } from '../http/validate'
import { Fault } from '../lib/fault'
import { storeOfProject } from '../lib/ids'
import { HOUR } from '../lib/time'
import { findPublished, replaceKeys, rotateKeys } from './keys-store'
import { JWKS_MAX_AGE_S, RETIRED_FOR } from './limits'
import { jwkOf, newSigningKey } from './signing'
import { Jwks, Keys, presentKey, RotateBody } from './token-fields'

const tag = 'Entitlements'

export const keyRoutes = new Hono<HttpEnv>().post(
  '/rotate',
  route({
    id: 'rotateEntitlementKey',
    summary: 'Rotate the key that signs entitlement tokens',
    description: `For admins and owners, with a session. The next key signs from now on, or a new one if there is no next. The old key stays published for ${RETIRED_FOR / HOUR} hours, unless it is compromised. The service rotates keys by itself every 90 days.`,
    tag,
    policy: { actors: ['session'], scope: 'projects:write', project: true },
    responses: { 200: { description: 'The keys of the project.', schema: Keys } },
  }),
  body(RotateBody),
  async (c) => {
    const { db, settings } = c.get('rt')
    const project = projectOf(c.get('actor'))
    const made = await newSigningKey(settings.encryptionKeys, project)
    const change = c.req.valid('json').compromised ? replaceKeys : rotateKeys
    const rows = await change(db, project, made, changeOf(c))
    return c.json({ data: rows.map(presentKey) }, 200)
  },
)

/** What anybody may read, also pages of other sites: the public keys of a project. */
export const jwksRoutes = new Hono<HttpEnv>().get(
  '/:project/jwks.json',
  route({
    id: 'getJsonWebKeySet',
    summary: 'Get the public keys of a project',
    description: `For whoever verifies its entitlement tokens. Needs no credentials. It may be cached for ${JWKS_MAX_AGE_S} seconds. If a token names a key that is not in it, fetch it again.`,
    tag,
    policy: null,
    responses: { 200: { description: 'A JWK set (RFC 7517).', schema: Jwks, cached: true } },
    faults: ['not_found', 'rate_limited'],
  }),
  async (c) => {
    const { limits, at } = c.get('rt')
    await limit(limits, 'public', addressOf(c), 'Too many requests for public keys from this address.')
    const project = c.req.param('project')
    const store = storeOfProject(project)
    const rt = store === null ? null : at(store)
    if (!rt) throw noProject()
    c.set('rt', rt)
    const rows = await run(rt.db, findPublished(rt.db, project))
    if (rows.length === 0) throw noProject()
    const keys = rows.flatMap(({ kid, public: point }) =>
      kid === null || point === null ? [] : [{ kid, public: point }],
    )
    c.header('Cache-Control', `public, max-age=${JWKS_MAX_AGE_S}`)
    return c.json({ keys: keys.map(jwkOf) }, 200)
  },
)

function noProject(): Fault {
  return new Fault('not_found', 'There is no such project.')
}
