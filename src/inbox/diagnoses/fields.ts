import * as z from 'zod'
import { count, named, timestamp } from '../../http/fields'
import { SAMPLE } from '../../http/samples'
import { iso, SECOND } from '../../lib/time'
import { MAX_HEADER_NAMES } from './limits'
import type { DiagnosisRow } from './store'
import { VERDICT_ADVICE, VERDICTS } from './verdicts'

/** Why a delivery was refused, as the API shows it. */
export const Diagnosis = named(
  'Diagnosis',
  z.object({
    at: timestamp.describe('When the delivery was refused.'),
    code: z.string().describe('The error code of the response.'),
    verdict: named('Verdict', z.enum(VERDICTS)),
    advice: z.string().describe('What to do, for people to read. The text may change.'),
    secret_id: z.string().nullable().describe('The removed secret that signed the delivery.'),
    connection_id: z.string().nullable().describe('The other connection whose secret signed the delivery.'),
    sender: z.string().nullable().describe('The vendor or preset that uses this signature header, if that is clear.'),
    skew_s: z
      .int()
      .nullable()
      .describe('Our clock minus the time of the signature, in seconds, if the two are too far apart.'),
    secrets_tried: count.describe('How many secrets were compared with the signature and did not match.'),
    reason: z
      .string()
      .nullable()
      .describe('What is wrong with the form of the signature, on a connection of the vendor `hmac`.'),
    bytes: count.describe('The size of the body.'),
    media_type: z.string().nullable(),
    headers: z
      .array(z.string())
      .describe(`Names of headers that matter to a vendor, at most ${MAX_HEADER_NAMES}. Their values are not kept.`),
  }),
  {
    at: SAMPLE.time,
    code: 'signature_mismatch',
    verdict: 'removed_secret',
    advice: VERDICT_ADVICE.removed_secret,
    secret_id: SAMPLE.secret,
    connection_id: null,
    sender: null,
    skew_s: null,
    secrets_tried: 1,
    reason: null,
    bytes: 2048,
    media_type: 'application/json',
    headers: ['content-type', 'user-agent'],
  },
)

export function presentDiagnosis(row: DiagnosisRow): z.infer<typeof Diagnosis> {
  const { at, cause, verdict, signed_by, sender, skew_ms, tried, reason, size, media_type, headers } = row
  const isSecret = verdict === 'removed_secret'
  return {
    at: iso(at),
    code: cause,
    verdict,
    advice: VERDICT_ADVICE[verdict],
    secret_id: isSecret ? signed_by : null,
    connection_id: isSecret ? null : signed_by,
    sender,
    skew_s: skew_ms === null ? null : Math.round(skew_ms / SECOND),
    secrets_tried: tried,
    reason,
    bytes: size,
    media_type,
    headers,
  }
}
