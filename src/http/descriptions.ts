import type { Context, Hono } from 'hono'
import type * as z from 'zod'
import { BoundedMap } from '../lib/bounded-map'
import { utf8 } from '../lib/crypto'
import type { CredentialKind } from './actor'
import { addressOf } from './address'
import type { HttpEnv } from './context'
import { etagOfContents, isUnchanged } from './etag'
import { MAX_DESCRIPTIONS, OPENAPI_MAX_AGE_S } from './limits'
import { openApi } from './openapi'
import { inOpenApi30 } from './openapi30'
import { publicOrigin } from './origin'
import { limit } from './rate-limit'
import { type JsonObject, standalone } from './schemas'

/** Where the document in OpenAPI 3.0 is. */
export const OPENAPI_30 = '/openapi-3.0.json'

/** What was served, by its name: the bytes and their entity tag. To make them takes longer than anything else here. */
const served = new BoundedMap<string, { bytes: Uint8Array<ArrayBuffer>; etag: string }>(MAX_DESCRIPTIONS)

/**
 * Answers `GET /openapi.json` and, for generators that know no 3.1, `GET /openapi-3.0.json`.
 *
 * @throws {Fault} `rate_limited`
 */
export function serveOpenApi(
  c: Context<HttpEnv>,
  app: Pick<Hono<HttpEnv>, 'routes'>,
  kinds: readonly CredentialKind[],
): Promise<Response> {
  const server = publicOrigin(c) ?? '/'
  const older = c.req.path === OPENAPI_30
  return serve(c, older ? `${OPENAPI_30} ${server}` : server, () => {
    const document = openApi(app, kinds, server)
    return older ? inOpenApi30(document) : document
  })
}

/**
 * Answers with the JSON Schema of what people write, for their editors.
 *
 * @throws {Fault} `rate_limited`
 */
export function serveSchema(c: Context<HttpEnv>, schema: z.ZodType): Promise<Response> {
  return serve(c, c.req.path, () => standalone(schema))
}

/** Answers with a description of the API, to anybody. It changes only with a deployment. */
async function serve(c: Context<HttpEnv>, name: string, make: () => JsonObject): Promise<Response> {
  await limit(
    c.get('rt').limits,
    'public',
    addressOf(c),
    'Too many requests for the API descriptions from this address.',
  )
  let made = served.get(name)
  if (!made) {
    const document = make()
    made = { bytes: utf8(JSON.stringify(document)), etag: await etagOfContents(document) }
    served.set(name, made)
  }
  c.header('Cache-Control', `public, max-age=${OPENAPI_MAX_AGE_S}`)
  c.header('ETag', made.etag)
  if (isUnchanged(c.req.header('If-None-Match'), made.etag)) return c.body(null, 304)
  return c.body(made.bytes, 200, { 'Content-Type': 'application/json' })
}
