import { type Context, Hono } from 'hono'
import * as z from 'zod'
import { clientAddress } from '../http/address'
import { answer } from '../http/answer'
import { changeOf, projectOf, sessionOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { exampleOf, flagOrFalse, named, wholeNumber } from '../http/fields'
import { listOf, pageFields, paging } from '../http/page'
import { read, readBeside } from '../http/read'
import { route } from '../http/route'
import { SAMPLE } from '../http/samples'
import { body, optionalBody, query } from '../http/validate'
import { ADMINISTRATIVE_NAMES, NEEDS_CONFIRMATION_NAMES } from '../lib/access-words'
import { requireFound } from '../lib/fault'
import { NEW_SECRET_WAITS } from '../lib/rotation'
import { DAY } from '../lib/time'
import { membersOf, type Roles, readRoles, rolesIn } from '../tenancy/people'
import { keyRevoked } from './faults'
import { findKey, findOwnKey, listKeys } from './key'
import { MAX_LIVE_KEYS, MAX_UNUSED_DAYS } from './limits'
import { MintBody, type Minted, mintKey } from './mint'
import { mintAgain, rotateAgain } from './mint-again'
import { ApiKey, presentKey } from './present'
import { revokeKey } from './revoke'
import { RotateBody, rotateKey } from './rotate'
import { newSecret } from './secret'
import { noticeKey } from './tell'
import { changeKey, UpdateKeyBody } from './update'

const tag = 'API keys'

const KeyWithSecret = named(
  'ApiKeyWithSecret',
  z.object({ key: ApiKey, secret: z.string().describe('The plaintext secret. It is shown only once.') }),
  { key: exampleOf(ApiKey), secret: 'svc_v1_… and 96 hexadecimal characters' },
)
const OwnKey = named('OwnApiKey', z.object({ key: ApiKey, project: z.object({ id: z.string(), name: z.string() }) }), {
  key: exampleOf(ApiKey),
  project: { id: SAMPLE.project, name: 'Acme' },
})
const ListQuery = z.strictObject({
  ...pageFields,
  secret_issued_to: z
    .string()
    .regex(/^(key|usr)_[0-9a-hjkmnp-tv-z]{26}$/, 'must be the id of an API key or a user')
    .optional()
    .describe(
      'Only keys with a secret that was handed to this user or API key and that works or waits for its first use. The API key may have been revoked or have expired. For an API key, the list includes secrets that it could obtain from key to key: the same keys that are revoked if you revoke it with `issued=true`.',
    ),
  unused_days: wholeNumber(z.int().min(1).max(MAX_UNUSED_DAYS))
    .optional()
    .describe('Only keys that were minted, and last used if ever, at least so many days ago.'),
})
const RevokeQuery = z.strictObject({
  issued: flagOrFalse.describe(
    'Whether to also revoke every key whose current secret was handed to this one, directly or from key to key.',
  ),
})
const Revoked = named(
  'RevokedApiKeys',
  z.object({
    connections: z
      .array(z.object({ id: z.string(), secret_ids: z.array(z.string()) }))
      .describe(
        'Connections with signing secrets that the revoked keys added. These secrets are not removed, and whoever added one can sign deliveries. Remove each secret that your vendor does not sign with, and replace the others.',
      ),
  }),
  { connections: [{ id: SAMPLE.connection, secret_ids: [SAMPLE.secret] }] },
)

export const apiKeyRoutes = new Hono<HttpEnv>()
  .post(
    '/',
    route({
      id: 'mintApiKey',
      summary: 'Mint an API key',
      description: `The secret is returned only in this response. A project can have ${MAX_LIVE_KEYS} live keys. A key with a scope of ${NEEDS_CONFIRMATION_NAMES} requires a confirmed session.`,
      tag,
      policy: { actors: ['session'], scope: 'api_keys:write', project: true },
      responses: { 201: { description: 'The key and its secret.', schema: KeyWithSecret } },
      faults: ['confirmation_required', 'key_limit_reached', 'secret_not_replayable'],
      repeated: async (c, kept) =>
        answer(c, presentMinted(c, await mintAgain(c.get('rt'), c.get('actor'), kept, changeOf(c))), 201),
    }),
    body(MintBody),
    async (c) => {
      const minted = await mintKey(c.get('rt'), c.get('actor'), c.req.valid('json'), changeOf(c))
      noticeKey(c, minted.row)
      return answer(c, presentMinted(c, minted), 201)
    },
  )
  .get(
    '/',
    route({
      id: 'listApiKeys',
      summary: 'List the live API keys',
      description: 'Newest first, without secrets. Expired keys are listed until they are revoked.',
      tag,
      policy: { actors: ['session', 'api_key'], scope: 'api_keys:read', project: true, reads: true },
      responses: { 200: { description: 'A page of keys.', schema: listOf(ApiKey) } },
    }),
    query(ListQuery),
    async (c) => {
      const project = projectOf(c.get('actor'))
      const asked = c.req.valid('query')
      const list = paging('api-keys', asked)
      const { now } = c.get('rt')
      const page = {
        project_id: project,
        before: list.before,
        limit: list.take,
        now,
        issuedTo: asked.secret_issued_to,
        unusedSince: asked.unused_days && now - asked.unused_days * DAY,
      }
      const { found, beside } = await readBeside(c, { rows: listKeys(c.get('rt').db, page) }, (directory) =>
        membersOf(directory, { project_id: project }),
      )
      const people = rolesIn(beside)
      return answer(
        c,
        list.page(found.rows, (row) => presentKey(row, people, now)),
        200,
      )
    },
  )
  .get(
    '/self',
    route({
      id: 'getOwnApiKey',
      summary: 'Get the API key that makes the call',
      description: 'Tells a key its own scopes, expiry and project.',
      tag,
      policy: { actors: ['api_key'], scope: null, project: true, reads: true },
      responses: {
        200: { description: 'The key and its project.', schema: OwnKey },
      },
    }),
    async (c) => {
      const actor = c.get('actor')
      const project = projectOf(actor)
      const { db, now } = c.get('rt')
      const { keys } = await read(c, { keys: findOwnKey(db, { project_id: project, id: actor.id }) })
      const [own] = keys
      if (!own) throw keyRevoked()
      const { project_name: name, ...row } = own
      // A key does not depend on the directory, so a call that describes the key does not ask it.
      return answer(c, { key: presentKey(row, null, now), project: { id: project, name } }, 200)
    },
  )
  .get(
    '/:id',
    route({
      id: 'getApiKey',
      summary: 'Get a live API key',
      description: 'Without its secret. A key may always read itself. A revoked key is not found.',
      tag,
      policy: { actors: ['session', 'api_key'], scope: 'api_keys:read', project: true, selfParam: 'id', reads: true },
      responses: { 200: { description: 'The key.', schema: ApiKey } },
      faults: ['not_found'],
    }),
    async (c) => {
      const project = projectOf(c.get('actor'))
      const { found, beside } = await readBeside(
        c,
        { rows: findKey(c.get('rt').db, { project_id: project, id: c.req.param('id') }) },
        (directory) => membersOf(directory, { project_id: project }),
      )
      return answer(c, presentKey(requireFound(found.rows, 'API key'), rolesIn(beside), c.get('rt').now), 200)
    },
  )
  .patch(
    '/:id',
    route({
      id: 'updateApiKey',
      summary: 'Change an API key',
      description:
        'Its name, when it expires, the networks that it may be used from, and its own limit. Its scopes and its secret stay the same, and its expiry can only become earlier. A key may always change itself, but an API key can only take away networks and lower the limit. A key that would shut itself out with its new networks must confirm that.',
      tag,
      policy: { actors: ['session', 'api_key'], scope: 'api_keys:write', project: true, selfParam: 'id' },
      responses: { 200: { description: 'The key.', schema: ApiKey } },
      faults: ['not_found', 'would_lock_out', 'console_session_required'],
    }),
    body(UpdateKeyBody),
    async (c) => {
      const actor = c.get('actor')
      const key = { project_id: projectOf(actor), id: c.req.param('id'), actor, address: clientAddress(c) }
      const rt = c.get('rt')
      const [row, people] = await Promise.all([
        changeKey(rt, key, c.req.valid('json'), changeOf(c)),
        readRoles(rt, key.project_id),
      ])
      return answer(c, presentKey(row, people, rt.now), 200)
    },
  )
  .post(
    '/:id/rotate',
    route({
      id: 'rotateApiKey',
      summary: 'Rotate an API key',
      description: `Returns a new secret, which is shown only here. Without a body, the old secret stops working before the response is sent. With \`when: first_use\`, it works until the new one is used, and for \`grace_s\` seconds more. A new secret that is not used within ${NEW_SECRET_WAITS / DAY} days ends. Another rotation ends a secret that waits for its first use. A secret that was replaced cannot rotate keys. A key may always rotate itself. The caller must have every scope of the key, and an API key must not expire before it, nor be limited to fewer networks or requests. An API key cannot rotate another one that has an administrative scope (${ADMINISTRATIVE_NAMES}). A session must be confirmed to rotate a key with a scope of ${NEEDS_CONFIRMATION_NAMES}.`,
      tag,
      policy: { actors: ['session', 'api_key'], scope: 'api_keys:write', project: true, selfParam: 'id', ends: true },
      responses: { 200: { description: 'The key and its new secret.', schema: KeyWithSecret } },
      faults: [
        'not_found',
        'rotation_of_revoked_key',
        'rotation_of_expired_key',
        'rotation_conflict',
        'key_expires_first',
        'key_reaches_further',
        'confirmation_required',
        'secret_not_replayable',
      ],
      repeated: async (c, kept) => {
        const rt = c.get('rt')
        const { row, secret } = await rotateAgain(rt, c.get('actor'), kept, changeOf(c))
        const people = await readRoles(rt, projectOf(c.get('actor')))
        return answer(c, { key: presentKey(row, people, rt.now), secret }, 200)
      },
    }),
    optionalBody(RotateBody.prefault({})),
    async (c) => {
      const actor = c.get('actor')
      const rt = c.get('rt')
      const secret = await newSecret(rt.store)
      const key = { project_id: projectOf(actor), id: c.req.param('id'), actor, how: c.req.valid('json') }
      const [row, people] = await Promise.all([
        rotateKey(rt.db, key, secret, changeOf(c)),
        readRoles(rt, key.project_id),
      ])
      return answer(c, { key: presentKey(row, people, rt.now), secret: secret.secret }, 200)
    },
  )
  .delete(
    '/:id',
    route({
      id: 'revokeApiKey',
      summary: 'Revoke an API key',
      description:
        'The key stops working immediately. Revoking it again changes nothing and returns the same response. If somebody else may have held its secret, pass `issued=true`: they may have rotated other keys with it and have those secrets too.',
      tag,
      policy: { actors: ['session', 'api_key'], scope: 'api_keys:write', project: true, ends: true },
      responses: {
        200: { description: 'With `issued=true`: revoked. The body says what is left to do.', schema: Revoked },
        204: { description: 'Revoked.' },
      },
      faults: ['not_found'],
    }),
    query(RevokeQuery),
    async (c) => {
      const { issued } = c.req.valid('query')
      const key = { project_id: projectOf(c.get('actor')), id: c.req.param('id'), issued }
      const connections = await revokeKey(c.get('rt').db, key, changeOf(c))
      if (!issued) return answer(c, null, 204)
      return answer(
        c,
        { connections: connections.map(({ id, secrets }) => ({ id, secret_ids: secrets.map((secret) => secret.id) })) },
        200,
      )
    },
  )

function presentMinted(c: Context<HttpEnv>, { row, secret }: Minted): z.infer<typeof KeyWithSecret> {
  const { email, role } = sessionOf(c)
  const minter: Roles = new Map(role === null ? [] : [[row.created_by, { email, role }]])
  return { key: presentKey(row, minter, c.get('rt').now), secret }
}
