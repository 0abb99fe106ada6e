import { Hono } from 'hono'
import * as z from 'zod'
import { addressOf } from '../http/address'
import { answer } from '../http/answer'
import type { HttpEnv } from '../http/context'
import { named, opaqueText } from '../http/fields'
import { limit } from '../http/rate-limit'
import { route } from '../http/route'
import { body } from '../http/validate'
import { KEY_HEADER, reportOfGitHub, SIGNATURE_HEADER } from './github'
import { ANSWER_AFTER_MS, MAX_REPORTED, MAX_TOKENS } from './limits'
import { report } from './report'

const tag = 'Service'
const ReportBody = named(
  'ReportExposure',
  z.strictObject({ secret: opaqueText(MAX_REPORTED).describe('What was found, exactly.') }),
  { secret: 'svc_v1_… and 96 hexadecimal characters' },
)
const Accepted = named('ExposureReport', z.object({ accepted: z.literal(true) }), { accepted: true })
const Feedback = named(
  'ExposureFeedback',
  z.array(
    z.object({
      token_hash: z.string().describe('SHA-256 of the token, in hex.'),
      token_type: z.string(),
      label: named('ExposureLabel', z.enum(['true_positive', 'false_positive'])).describe(
        'Whether it is, or was, a secret of this deployment.',
      ),
    }),
  ),
  [
    {
      token_hash: '65cd7fc5d7a4d2fb0d5ea1d8e5a4d1f7a4a6b1a3d6f9c4a1b5d0f6c3e8a7b2c9',
      token_type: 'platform_api_key',
      label: 'true_positive',
    },
  ],
)

/** Where anybody reports a secret that was found. Holding it is the proof. */
export const exposureRoutes = new Hono<HttpEnv>().post(
  '/',
  route({
    id: 'reportExposure',
    summary: 'Report an exposed secret',
    description:
      'For anyone who found an API key (`svc_v1_`), a session (`svc_cs_`) or the token of a device (`svc_dv_`) where others can read it. Needs no credentials. A secret that works is ended, and its owners are told. With the project setting `on_exposure`, they are only told of a key or a device. The response is always the same, and does not say whether the secret works.',
    tag,
    policy: null,
    responses: { 202: { description: 'The report was handled.', schema: Accepted } },
    faults: ['rate_limited'],
  }),
  body(ReportBody),
  async (c) => {
    const { limits, waitUntil } = c.get('rt')
    await limit(limits, 'exposures', addressOf(c), 'Too many reports from this address.')
    const { secret } = c.req.valid('json')
    const work = report(c, [{ secret, source: null, url: null }])
    waitUntil(work.catch(() => {})) // It goes on if the caller hangs up.
    await Promise.all([work, new Promise((resolve) => setTimeout(resolve, ANSWER_AFTER_MS))])
    return answer(c, { accepted: true as const }, 202)
  },
)

/** Where GitHub reports what it has found. No typed client calls it. */
export const githubRoutes = new Hono<HttpEnv>().post(
  '/',
  route({
    id: 'reportExposuresOfGitHub',
    summary: 'Report exposed secrets in the form of GitHub',
    description: `For GitHub’s secret scanning: its partner program sends what it finds here, at most ${MAX_TOKENS} tokens at once. Needs no credentials: GitHub’s signature over the body proves where it comes from. The response says for each token whether it is, or was, a secret of this deployment.`,
    tag,
    policy: null,
    rawBody: '*/*',
    headers: {
      [KEY_HEADER]: 'The id of the key that signed the body.',
      [SIGNATURE_HEADER]: 'An ECDSA signature (P-256, SHA-256) of the body: DER, in base64.',
    },
    responses: { 200: { description: 'What each token is.', schema: Feedback } },
    faults: ['signature_missing', 'signature_malformed', 'signature_mismatch', 'vendor_failed', 'rate_limited'],
  }),
  async (c) => {
    const { limits } = c.get('rt')
    await limit(limits, 'exposures', addressOf(c), 'Too many reports from this address.')
    return answer(c, await reportOfGitHub(c), 200)
  },
)
