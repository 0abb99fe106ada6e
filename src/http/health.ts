import { Hono } from 'hono'
import * as z from 'zod'
import { ping } from '../db/client'
import { type Runtime, versionId } from '../env'
import type { HttpEnv } from './context'
import { requirePublicOrigin } from './origin'
import { route } from './route'

/**
 * Liveness of the deployment: 200 when it is configured, D1 answers in time and the encryption keys are the right ones, else 503.
 *
 * @param requireKeys throws where the keys are not
 */
export const healthRoutes = (requireKeys: (rt: Runtime) => Promise<void>) =>
  new Hono<HttpEnv>().get(
    '/',
    route({
      id: 'getHealth',
      summary: 'Check the health of the service',
      description:
        'Needs no credentials. Returns 503 when the database does not answer, when the encryption keys do not open the stored secrets, or when the setting `PUBLIC_ORIGIN` is missing.',
      tag: 'Service',
      faults: ['encryption_key_unavailable', 'public_origin_missing'],
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
    }),
    async (c) => {
      await ping(c.get('rt').db)
      await requireKeys(c.get('rt'))
      requirePublicOrigin(c)
      return c.json({ status: 'ok' as const, version: versionId() }, 200)
    },
  )
