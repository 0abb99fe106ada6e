import type { Context } from 'hono'
import * as z from 'zod'
import { addressOf } from '../http/address'
import { readBytes } from '../http/body'
import type { HttpEnv } from '../http/context'
import { invalid } from '../http/validate'
import { fromBase64, sha256Hex } from '../lib/crypto'
import { rawSignature } from '../lib/der'
import { Fault } from '../lib/fault'
import { pooled } from '../lib/pooled'
import { factFrom } from '../notices/open'
import { githubKey } from './github-keys'
import { MAX_REPORT_BYTES, MAX_TOKENS } from './limits'
import { type Finding, report } from './report'

/** The headers of a report. */
export const KEY_HEADER = 'Github-Public-Key-Identifier'
export const SIGNATURE_HEADER = 'Github-Public-Key-Signature'

/** More than we know may be in it: GitHub adds fields. */
const Report = z
  .array(
    z.object({
      token: z.string(),
      type: z.string(),
      url: z.string().nullish(),
      source: z.string().nullish(),
    }),
  )
  .max(MAX_TOKENS)

/**
 * Takes a report in the form of GitHub's secret scanning partner program: what it says is done only if GitHub has signed it.
 *
 * @returns for each token whether it is or was a secret of ours
 * @throws {Fault} `signature_missing`, `signature_malformed`, `signature_mismatch`, `vendor_failed`, `payload_too_large`,
 *   `invalid_json`, `validation_failed`, `database_unavailable`
 */
export async function reportOfGitHub(c: Context<HttpEnv>) {
  const bytes = await signedBody(c)
  const tokens = parse(bytes)
  const findings = tokens.map(
    ({ token, source, url }): Finding => ({
      secret: token,
      source: source ? factFrom(source) : null,
      url: url ? factFrom(url) : null,
    }),
  )
  const known = await report(c, findings)
  return pooled(tokens.length, tokens, async ({ token, type }) => {
    const token_hash = await sha256Hex(token)
    return { token_hash, token_type: type, label: known.has(token_hash) ? 'true_positive' : 'false_positive' } as const
  })
}

/** The body, which GitHub has signed as it came. The id of the key is looked at first: it costs least. */
async function signedBody(c: Context<HttpEnv>): Promise<Uint8Array<ArrayBuffer>> {
  const id = c.req.header(KEY_HEADER)
  const sent = c.req.header(SIGNATURE_HEADER)
  if (!id || !sent) throw new Fault('signature_missing', `Send the headers ${KEY_HEADER} and ${SIGNATURE_HEADER}.`)
  const der = fromBase64(sent)
  const signature = der && rawSignature(der)
  if (!signature) {
    throw new Fault('signature_malformed', `${SIGNATURE_HEADER} must be an ECDSA signature on P-256: DER, in base64.`)
  }
  const key = await githubKey(c.get('rt'), id)
  if (!key) throw new Fault('signature_mismatch', `${KEY_HEADER} does not name a key with which GitHub signs reports.`)
  const bytes = await readBytes(c.req.raw, MAX_REPORT_BYTES, [addressOf(c)])
  if (await crypto.subtle.verify({ name: 'ECDSA', hash: 'SHA-256' }, key, signature, bytes)) return bytes
  throw new Fault('signature_mismatch', 'The signature does not match the body. GitHub signs the body as it is sent.')
}

/** @throws {Fault} `invalid_json`, `validation_failed` */
function parse(bytes: Uint8Array): z.infer<typeof Report> {
  let body: unknown
  try {
    body = JSON.parse(new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes))
  } catch {
    throw new Fault('invalid_json', 'Send one JSON value in UTF-8 as the body.')
  }
  const { data, error } = Report.safeParse(body)
  if (error) throw invalid(error.issues)
  return data
}
