import { Hono } from 'hono'
import * as z from 'zod'
import { answer } from '../../http/answer'
import { changeOf, projectOf } from '../../http/auth'
import type { HttpEnv } from '../../http/context'
import { named } from '../../http/fields'
import { route } from '../../http/route'
import { SAMPLE } from '../../http/samples'
import { body } from '../../http/validate'
import { VerificationBody, verificationOf } from '../../vendors/verification-fields'
import { readConnection } from './connection'
import { TrialBody } from './fields'
import { SIGNED_SHOWS } from './limits'
import { ConnectionShown, ingestUrl, presentConnection } from './present'
import { STEPS, tryVerification } from './try-verification'
import { setVerification } from './verification'

const tag = 'Billing connections'
const mayWrite = { actors: ['session', 'api_key'], scope: 'connections:write', project: true } as const

const TrialShown = named(
  'VerificationTrial',
  z.object({
    accepted: z.boolean().describe('Whether the connection would accept the delivery.'),
    failed: named('VerificationStep', z.enum(STEPS))
      .nullable()
      .describe(
        'The step that failed, in the order: `verification`, `header`, `form`, `secret`, `signature`, `time`, `event`.',
      ),
    reason: z.string(),
    signed: z.string().nullable().describe(`The first ${SIGNED_SHOWS} characters of what was signed.`),
    secret_id: z.string().nullable().describe('The live secret that made the signature.'),
    event: z
      .object({
        id: z.string().nullable().describe('If null, the id would be the SHA-256 of the bytes.'),
        type: z.string(),
        occurred_at: z.string().nullable(),
        livemode: z.boolean().nullable(),
      })
      .nullable(),
  }),
  {
    accepted: true,
    failed: null,
    reason: 'The delivery is accepted.',
    signed: '{"id":"evt_1","type":"order.paid"}',
    secret_id: SAMPLE.secret,
    event: { id: 'evt_1', type: 'order.paid', occurred_at: null, livemode: null },
  },
)

export const verificationRoutes = new Hono<HttpEnv>()
  .put(
    '/:id/verification',
    route({
      id: 'setVerification',
      summary: 'Set how the sender signs',
      description:
        'For a connection of the vendor `hmac`. The verification replaces the one that the connection has. A preset alone is enough for a sender that has one. Unsafe settings are refused with 422. The call takes a second. After that, the verification applies to every delivery.',
      tag,
      policy: mayWrite,
      responses: { 200: { description: 'The connection.', schema: ConnectionShown } },
      faults: ['not_found', 'verification_unsupported'],
    }),
    body(VerificationBody),
    async (c) => {
      const connection = { project_id: projectOf(c.get('actor')), id: c.req.param('id') }
      const row = await setVerification(c.get('rt'), connection, verificationOf(c.req.valid('json')), changeOf(c))
      return answer(c, presentConnection(c, row), 200)
    },
  )
  .post(
    '/:id/verification/try',
    route({
      id: 'tryVerification',
      summary: 'Try a delivery',
      description:
        'Verifies and reads a delivery as the connection would, and says which step fails. Nothing is recorded. The time of the signature is compared with the present time, so an older delivery fails at the step `time`.',
      tag,
      policy: mayWrite,
      responses: { 200: { description: 'Whether the delivery would be accepted.', schema: TrialShown } },
      faults: ['not_found', 'verification_unsupported', 'encryption_key_unavailable'],
    }),
    body(TrialBody),
    async (c) => {
      const rt = c.get('rt')
      const connection = await readConnection(rt.db, projectOf(c.get('actor')), c.req.param('id'))
      const url = ingestUrl(c, connection.id)
      return answer(c, await tryVerification(rt, connection, { ...c.req.valid('json'), url }), 200)
    },
  )
