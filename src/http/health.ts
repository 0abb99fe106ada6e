import { Hono } from 'hono'
import * as z from 'zod'
import { ping } from '../db/client'
import type { HttpEnv } from './context'
import { named } from './fields'
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
        schema: named('ServiceHealth', z.object({ status: z.literal('ok') }), { status: 'ok' }),
      },
    },
    faults: ['public_origin_missing'],
  }),
  async (c) => {
    await ping(c.get('rt').db)
    requirePublicOrigin(c)
    return c.json({ status: 'ok' as const }, 200)
  },
)
