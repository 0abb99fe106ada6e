import { type Context, Hono } from 'hono'
import { answer } from '../../http/answer'
import { changeOf, projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { read } from '../../http/read'
import { route } from '../../http/route'
import { body } from '../../http/validate'
import { requireFound } from '../../lib/fault'
import { ApiKeyBody, ApiKeyShown, presentVendorKey } from './fields'
import { findVendorKey, removeVendorKey } from './keys'
import { VENDORS_WITH_KEYS } from './missing'
import { setVendorKey } from './set-key'

const tag = 'Billing connections'
const actors = ['session', 'api_key'] as const
const mayWrite = { actors, scope: 'connections:write', project: true } as const
const shown = { 200: { description: 'What is known about the key.', schema: ApiKeyShown } }

export const vendorKeyRoutes = new Hono<HttpEnv>()
  .put(
    '/:id/api-key',
    route({
      id: 'setVendorApiKey',
      summary: "Set the vendor's API key",
      description: `With a read-only key, the service can fetch objects from the vendor. Before it stores the key, the service checks what the key can read, and whether its mode and account are those of the connection. This takes a few seconds at most. The new key replaces the one that the connection has. The service takes keys of ${VENDORS_WITH_KEYS.join(', ')}.`,
      tag,
      policy: { ...mayWrite, costly: true },
      responses: shown,
      faults: [
        'not_found',
        'api_key_unsupported',
        'api_key_invalid',
        'api_key_too_powerful',
        'api_key_other_mode',
        'api_key_other_account',
        'vendor_failed',
        'encryption_key_unavailable',
      ],
    }),
    body(ApiKeyBody),
    async (c) => {
      const { api_key } = c.req.valid('json')
      return answer(c, presentVendorKey(await setVendorKey(c.get('rt'), placeOf(c), api_key, changeOf(c))), 200)
    },
  )
  .get(
    '/:id/api-key',
    route({
      id: 'getVendorApiKey',
      summary: "Read what is known about the vendor's API key",
      description: 'The key itself is never returned.',
      tag,
      policy: { actors, scope: 'connections:read', project: true, reads: true },
      responses: shown,
      faults: ['not_found'],
    }),
    async (c) => {
      const { rows } = await read(c, { rows: findVendorKey(c.get('rt').db, placeOf(c)) })
      return answer(c, presentVendorKey(requireFound(rows, 'API key', 'on this connection')), 200)
    },
  )
  .delete(
    '/:id/api-key',
    route({
      id: 'removeVendorApiKey',
      summary: "Remove the vendor's API key",
      description:
        'The service deletes the key and no longer uses it. What was fetched stays. Revoke the key at the vendor too. If there is no key, the call succeeds.',
      tag,
      policy: { ...mayWrite, ends: true },
      responses: { 204: { description: 'The connection has no key.' } },
      faults: ['not_found'],
    }),
    async (c) => {
      await removeVendorKey(c.get('rt').db, placeOf(c), changeOf(c))
      return answer(c, null, 204)
    },
  )

function placeOf(c: Context<HttpEnv, '/:id/api-key'>) {
  return { project_id: projectOf(c.get('actor')), connection_id: c.req.param('id') }
}
