import { Hono } from 'hono'
import * as z from 'zod'
import type { HttpEnv } from '../../http/context'
import { route } from '../../http/route'
import { ingest, MAX_DELIVERY_BYTES } from './receive'

export const ingestRoutes = new Hono<HttpEnv>().post(
  '/:connection_id',
  route({
    id: 'ingestDelivery',
    summary: 'Where a vendor sends its events',
    description: `Signed as the vendor signs. Recorded before it is answered; at most ${MAX_DELIVERY_BYTES} bytes, as they are (no content encoding).`,
    tag: 'Ingest',
    policy: null,
    rawBody: '*/*',
    responses: {
      200: {
        description: 'Recorded; a duplicate was recorded before.',
        schema: z.object({ event_ids: z.array(z.string()), duplicate: z.boolean() }),
      },
    },
    faults: [
      'unknown_connection',
      'connection_disabled',
      'signature_missing',
      'signature_malformed',
      'signature_mismatch',
      'signature_timestamp',
      'payload_too_large',
      'unsupported_encoding',
      'rate_limited',
    ],
  }),
  async (c) => c.json(await ingest(c), 200),
)
