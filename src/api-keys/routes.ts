import { Hono } from 'hono/tiny'
import * as z from 'zod'
import { changeOf, projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { timestamp } from '../http/fields'
import { cursorBinding, listOf, pageFields, readCursor, toPage } from '../http/page'
import { route } from '../http/route'
import { body, query } from '../http/validate'
import { SCOPES, type Scope } from '../lib/access'
import { Fault } from '../lib/fault'
import { iso, isoOrNull } from '../lib/time'
import { MintBody, mintKey } from './mint'
import { newSecret } from './secret'
import { findKey, type KeyRow, listKeys, MAX_LIVE_KEYS, revokeKey, rotateKey } from './store'

const tag = 'API keys'

const scopes = z.array(z.enum(SCOPES))
const ApiKey = z
  .object({
    id: z.string(),
    name: z.string(),
    key_prefix: z.string().describe('`svc_v1_`, the first four characters of the body, `…`, the last four.'),
    created_at: timestamp,
    last_used_at: timestamp.nullable().describe('Written at most once a minute; null when never used.'),
    scopes: scopes.describe('What the key may do in its project.'),
    expires_at: timestamp.nullable(),
    created_by: z
      .object({ user_id: z.string(), email: z.string().nullable(), is_member: z.boolean() })
      .describe('Who minted it. A key outlives its minter: `is_member` is false once they have left the project.'),
  })
  .meta({ id: 'ApiKey' })
const KeyWithSecret = z
  .object({ key: ApiKey, secret: z.string().describe('The plaintext, this once.') })
  .meta({ id: 'ApiKeyWithSecret' })
export const apiKeyRoutes = new Hono<HttpEnv>()
  .post(
    '/',
    route({
      id: 'mintApiKey',
      summary: 'Mint an API key',
      description: `The secret is in this response alone. A project has at most ${MAX_LIVE_KEYS} live keys.`,
      tag,
      policy: { actors: ['session'], scope: 'api_keys:write', project: true },
      responses: { 201: { description: 'The key and its secret.', schema: KeyWithSecret } },
      faults: ['key_limit_reached'],
    }),
    body(MintBody),
    async (c) => {
      const { row, secret } = await mintKey(c.get('rt'), c.get('actor'), c.req.valid('json'), changeOf(c))
      return c.json({ key: present(row), secret }, 201)
    },
  )
  .get(
    '/',
    route({
      id: 'listApiKeys',
      summary: 'List the live API keys',
      description: 'Redacted, newest first. Expired keys stay listed until they are revoked.',
      tag,
      policy: { actors: ['session', 'api_key'], scope: 'api_keys:read', project: true },
      responses: { 200: { description: 'A page of keys.', schema: listOf(ApiKey) } },
    }),
    query(z.strictObject(pageFields)),
    async (c) => {
      const { limit, cursor } = c.req.valid('query')
      const project = projectOf(c.get('actor'))
      const binding = cursorBinding('api-keys')
      const rows = await listKeys(c.get('rt').db, project, readCursor(binding, cursor), limit + 1)
      return c.json(
        toPage(rows, limit, binding, (row) => row.id, present),
        200,
      )
    },
  )
  .get(
    '/self',
    route({
      id: 'getOwnApiKey',
      summary: 'The API key that makes the call',
      tag,
      policy: { actors: ['api_key'], scope: null, project: true },
      responses: {
        200: {
          description: 'The key and its project.',
          schema: z.object({ key: ApiKey, project: z.object({ id: z.string(), name: z.string() }) }),
        },
      },
    }),
    async (c) => {
      const actor = c.get('actor')
      const project = projectOf(actor)
      const row = await findKey(c.get('rt').db, project, actor.id)
      if (!row) throw new Fault('key_revoked', 'Mint a new key: this one was revoked.')
      return c.json({ key: present(row), project: { id: project, name: row.project_name } }, 200)
    },
  )
  .post(
    '/:id/rotate',
    route({
      id: 'rotateApiKey',
      summary: 'Rotate an API key',
      description:
        'A fresh secret, in this response alone; the old one is dead when it is sent. A key may rotate itself. Nobody rotates a key that may do more than they may.',
      tag,
      policy: { actors: ['session', 'api_key'], scope: 'api_keys:write', project: true, selfParam: 'id' },
      responses: { 200: { description: 'The key and its new secret.', schema: KeyWithSecret } },
      faults: ['not_found', 'rotation_of_revoked_key', 'rotation_of_expired_key', 'rotation_conflict'],
    }),
    async (c) => {
      const actor = c.get('actor')
      const secret = await newSecret()
      const row = await rotateKey(
        c.get('rt').db,
        projectOf(actor),
        c.req.param('id'),
        actor.scopes,
        secret,
        changeOf(c),
      )
      return c.json({ key: present(row), secret: secret.secret }, 200)
    },
  )
  .delete(
    '/:id',
    route({
      id: 'revokeApiKey',
      summary: 'Revoke an API key',
      description: 'The key stops authenticating at once. Revoking it again is a 204 too.',
      tag,
      policy: { actors: ['session', 'api_key'], scope: 'api_keys:write', project: true },
      responses: { 204: { description: 'Revoked.' } },
      faults: ['not_found'],
    }),
    async (c) => {
      await revokeKey(c.get('rt').db, projectOf(c.get('actor')), c.req.param('id'), changeOf(c))
      return c.body(null, 204)
    },
  )

/** The redacted row: the specified fields first. */
function present(row: KeyRow) {
  return {
    id: row.id,
    name: row.name,
    key_prefix: row.key_prefix,
    created_at: iso(row.created_at),
    last_used_at: isoOrNull(row.last_used_at),
    scopes: JSON.parse(row.scopes) as Scope[],
    expires_at: isoOrNull(row.expires_at),
    created_by: { user_id: row.created_by, email: row.minter_email, is_member: row.minter_is_member === 1 },
  }
}
