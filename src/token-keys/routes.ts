import { Hono } from 'hono'
import { run } from '../db/client'
import { addressOf } from '../http/address'
import { answer } from '../http/answer'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { requireConfirmed } from '../http/policy'
import { limit, overLimit } from '../http/rate-limit'
import { route } from '../http/route'
import { body } from '../http/validate'
import { type Fault, notFound } from '../lib/fault'
import { storeOfProject } from '../lib/ids'
import { HOUR, SECOND } from '../lib/time'
import { Jwks, presentTokenKey, RotateBody, TokenKeysShown } from './fields'
import { findPublished, listTokenKeys, makeSigningKey, type TokenKey } from './keys'
import { JWKS_MAX_AGE_S, MAX_RETIRED, RETIRED_FOR } from './limits'
import { replaceKeys, rotateKeys } from './rotate'
import { jwkOf } from './signing'

const tag = 'Entitlements'

export const keyRoutes = new Hono<HttpEnv>().post(
  '/rotate',
  route({
    id: 'rotateEntitlementKey',
    summary: 'Rotate the key that signs entitlement tokens',
    description: `For admins and owners, with a session. The next key signs from now on, or a new one if there is no next key. The old key stays published for ${RETIRED_FOR / HOUR} hours, unless it is compromised: that ends all tokens, and requires a confirmed session. At most ${MAX_RETIRED} rotations are possible in that time. The service rotates keys automatically every 90 days.`,
    tag,
    policy: { actors: ['session'], scope: 'projects:write', project: true },
    responses: { 200: { description: 'The keys of the project.', schema: TokenKeysShown } },
    faults: ['confirmation_required', 'encryption_key_unavailable', 'rate_limited'],
    repeated: async (c) => {
      const { db } = c.get('rt')
      const rows = await run(db, listTokenKeys(db, projectOf(c.get('actor'))))
      return answer(c, { data: rows.map(presentTokenKey) }, 200)
    },
  }),
  body(RotateBody),
  async (c) => {
    const rt = c.get('rt')
    const project = projectOf(c.get('actor'))
    const { compromised } = c.req.valid('json')
    if (compromised) requireConfirmed(c.get('actor'))
    const made = await makeSigningKey(rt, project)
    const { rows, rotated } = compromised
      ? { rows: await replaceKeys(rt.db, project, made, changeOf(c)), rotated: true }
      : await rotateKeys(rt.db, project, made, changeOf(c))
    if (!rotated) throw rotatedTooOften(rows, rt.now)
    return answer(c, { data: rows.map(presentTokenKey) }, 200)
  },
)

/** What anybody may read, also pages of other sites: the public keys of a project. */
export const jwksRoutes = new Hono<HttpEnv>().get(
  '/:project/jwks.json',
  route({
    id: 'getJsonWebKeySet',
    summary: 'Get the public keys of a project',
    description: `For anyone who verifies the project's entitlement tokens. No credentials are needed. It may be cached for ${JWKS_MAX_AGE_S} seconds. If a token names a key that is not in it, fetch it again.`,
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
    if (!rt) throw notFound('Project', 'in this deployment')
    c.set('rt', rt)
    const rows = await run(rt.db, findPublished(rt.db, project))
    if (rows.length === 0) throw notFound('Project', 'in this deployment')
    const keys = rows.flatMap(({ kid, public: point }) =>
      kid === null || point === null ? [] : [{ kid, public: point }],
    )
    c.header('Cache-Control', `public, max-age=${JWKS_MAX_AGE_S}`)
    return answer(c, { keys: keys.map(jwkOf) }, 200)
  },
)

/** Another rotation would unpublish a key whose tokens are still valid: until the oldest of them ends. */
function rotatedTooOften(rows: readonly TokenKey[], now: number): Fault {
  const oldest = Math.min(...rows.filter(({ state }) => state === 'retired').map(({ state_at }) => state_at))
  const seconds = Math.max(1, Math.ceil((oldest + RETIRED_FOR - now) / SECOND))
  return overLimit(
    { name: 'entitlement_key_rotations', requests: MAX_RETIRED, window: RETIRED_FOR / SECOND },
    `The key was rotated ${MAX_RETIRED} times in ${RETIRED_FOR / HOUR} hours, and tokens of the old keys may still be valid. Wait ${seconds} seconds, or send \`compromised\` to end all tokens.`,
    seconds,
  )
}
