import { Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../http/answer'
import { projectOf } from '../http/auth'
import type { HttpEnv } from '../http/context'
import { wholeNumber } from '../http/fields'
import { read } from '../http/read'
import { route } from '../http/route'
import { query } from '../http/validate'
import { requireFound } from '../lib/fault'
import { DAY } from '../lib/time'
import { countedOf } from './counts'
import { readDays } from './days'
import { findKeyEver } from './key'
import { USE_DAYS } from './limits'
import { KeyUsage, mergedDays, presentUsage } from './usage'

const UsageQuery = z.strictObject({
  days: wholeNumber(z.int().min(1).max(USE_DAYS)).default(30).describe('How many days back, today included.'),
})

export const keyUsageRoutes = new Hono<HttpEnv>().get(
  '/:id/usage',
  route({
    id: 'getApiKeyUsage',
    summary: 'See how an API key was used',
    description: `By day, for ${USE_DAYS} days, also of a revoked key. The numbers are minimums: requests that an isolate counted and did not write are missing. A key may always read its own use.`,
    tag: 'API keys',
    policy: { actors: ['session', 'api_key'], scope: 'api_keys:read', project: true, selfParam: 'id', reads: true },
    responses: { 200: { description: 'How the key was used.', schema: KeyUsage } },
    faults: ['not_found'],
  }),
  query(UsageQuery),
  async (c) => {
    const rt = c.get('rt')
    const actor = c.get('actor')
    const key = { project_id: projectOf(actor), id: c.req.param('id') }
    const since = Math.floor(rt.now / DAY) - c.req.valid('query').days + 1
    const { keys, stored } = await read(c, {
      keys: findKeyEver(rt.db, key.project_id, key.id),
      stored: readDays(rt.db, key, since),
    })
    requireFound(keys, 'API key')
    const counted = (await countedOf(rt.settings.codePepper, key.id)).filter(({ day }) => day >= since)
    const seesNetworks = actor.scopes.includes('audit_log:read')
    return answer(c, presentUsage(mergedDays(stored, counted), rt.now, seesNetworks), 200)
  },
)
