import { Hono } from 'hono'
import * as z from 'zod'
import { ping } from '../db/client'
import type { HttpEnv } from './context'
import { route } from './route'

/** Whether the deployment can serve: 200 when D1 answers within its bound, else 503. */
export const healthRoutes = new Hono<HttpEnv>().get(
  '/',
  route({
    id: 'getHealth',
    summary: 'Whether the service can serve',
    description: 'No credential needed. 503 when the database does not answer.',
    tag: 'Service',
    policy: null,
    responses: { 200: { description: 'It can.', schema: z.object({ status: z.literal('ok') }) } },
  }),
  async (c) => {
    await ping(c.get('rt').db)
    return c.json({ status: 'ok' as const }, 200)
  },
)
