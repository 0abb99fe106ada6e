import { Hono } from 'hono'
import * as z from 'zod'
import { requireMigrated } from '../db/client'
import { type Runtime, versionId } from '../env'
import type { HttpEnv } from './context'
import { named } from './fields'
import { requirePublicOrigin } from './origin'
import { route } from './route'

/**
 * Health of the deployment: 200 when it is configured, D1 answers in time and has the newest migration, and the encryption
 * keys are the right ones; otherwise 503.
 *
 * @param requireKeys throws if they are not
 */
export const healthRoutes = (requireKeys: (rt: Runtime) => Promise<void>) =>
  new Hono<HttpEnv>().get(
    '/',
    route({
      id: 'getHealth',
      summary: 'Check the health of the service',
      description:
        'Needs no credentials. Returns 503 when the database does not answer or lacks a migration, when the encryption keys do not open the stored secrets, or when a setting such as `PUBLIC_ORIGIN` is missing.',
      tag: 'Service',
      faults: ['encryption_key_unavailable', 'public_origin_missing', 'not_migrated'],
      policy: null,
      responses: {
        200: {
          description: 'The service is up and reaches its database.',
          schema: named(
            'ServiceHealth',
            z.object({
              status: z.literal('ok'),
              version: z
                .string()
                .nullable()
                .describe('The id of the deployed version; null if the platform gives none.'),
            }),
            { status: 'ok', version: '4c1f7d1e-8f0b-4b8a-9a0e-2f6f3f1c9b55' },
          ),
        },
      },
    }),
    async (c) => {
      await requireMigrated(c.get('rt').db)
      await requireKeys(c.get('rt'))
      requirePublicOrigin(c)
      return c.json({ status: 'ok' as const, version: versionId() }, 200)
    },
  )
