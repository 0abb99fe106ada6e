import { Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../../http/answer'
import type { HttpEnv } from '../../http/context'
import { named } from '../../http/fields'
import { route } from '../../http/route'
import { SAMPLE } from '../../http/samples'
import { MAX_DELIVERY_BYTES } from './limits'
import { receive } from './receive'
import { REFUSED_WITH } from './refusal-codes'

const Receipt = named(
  'Receipt',
  z.object({
    event_ids: z.array(z.string()),
    duplicate: z.boolean().describe('Whether all of its events had been recorded before.'),
  }),
  { event_ids: [SAMPLE.event], duplicate: false },
)

export const ingestRoutes = new Hono<HttpEnv>().post(
  '/:connection_id',
  route({
    id: 'ingestDelivery',
    summary: 'Receive events from a vendor',
    description: `The vendor's signature authenticates a delivery. A delivery is recorded before it is answered. The body can have at most ${MAX_DELIVERY_BYTES} bytes and no content encoding.`,
    tag: 'Ingest',
    policy: null,
    rawBody: '*/*',
    responses: {
      200: {
        description: 'The delivery is recorded.',
        schema: Receipt,
      },
    },
    faults: ['unknown_connection', ...REFUSED_WITH, 'rate_limited'],
  }),
  async (c) => answer(c, await receive(c), 200),
)
