import { Hono } from 'hono'
import * as z from 'zod'
import { ping } from '../db/client'
import { versionId } from '../env'
import type { HttpEnv } from './context'
import { requirePublicOrigin } from './origin'
import { route } from './route'

/** Health of the deployment: 200 when it is configured and D1 answers in time, else 503. */
export const healthRoutes = new Hono<HttpEnv>().get(
  '/',
  route({
    id: 'getHealth',
    summary: 'Check the health of the service',
    description:
      'Needs no credentials. Returns 503 when the database does not answer, or when the setting `PUBLIC_ORIGIN` is missing.',
    tag: 'Service',
    policy: null,
    responses: {
      200: {
        description: 'The service is up and reaches its database.',
        schema: z.object({
          status: z.literal('ok'),
          version: z.string().nullable().describe('The id of the deployed version; null if the platform gives none.'),
        }),
      },
    },
    faults: ['public_origin_missing'],
  }),
  async (c) => {
    await ping(c.get('rt').db)
    requirePublicOrigin(c)
    return c.json({ status: 'ok' as const, version: versionId() }, 200)
  },
)
