import type { Runtime } from '../../env'
import { utf8 } from '../../lib/crypto'
import { sealContext, unseal } from '../../lib/seal'
import { SECOND } from '../../lib/time'
import { hmacOf, readSigned } from '../../vendors/hmac'
import { Undecodable, type VendorDelivery } from '../../vendors/vendor'
import type { Verification } from '../../vendors/verification'
import { keptHeaders } from '../receive/read-delivery'
import type { Connection } from './connection'
import { SIGNED_SHOWS } from './limits'
import { keyUnavailable } from './sealing'
import { unsupported } from './verification'

/** The steps of a trial, in their order. */
export const STEPS = ['verification', 'header', 'form', 'secret', 'signature', 'time', 'event'] as const

/** What became of a delivery that was tried. */
export type Trial = {
  accepted: boolean
  /** The step that failed; null if none did. */
  failed: (typeof STEPS)[number] | null
  /** What is wrong there, or that nothing is, as sentences. */
  reason: string
  /** The beginning of what the signature is over; null if that cannot be said. */
  signed: string | null
  /** The secret that made the signature. */
  secret_id: string | null
  event: { id: string | null; type: string; occurred_at: string | null; livemode: boolean | null } | null
}

type Delivered = { body: string; headers: Readonly<Record<string, string>>; url: string }

/**
 * Verifies and reads a delivery as the connection would. Nothing is recorded.
 *
 * @throws {Fault} `verification_unsupported`, `encryption_key_unavailable`
 */
export async function tryVerification(
  rt: Runtime,
  connection: Pick<Connection, 'id' | 'project_id' | 'vendor' | 'verification' | 'secrets'>,
  { body, headers, url }: Delivered,
): Promise<Trial> {
  const { vendor, verification } = connection
  if (vendor !== 'hmac') throw unsupported(connection)
  if (!verification) return failed('verification', 'The connection has no verification yet. Set one first.')
  const delivery = { headers: new Headers(headers), bytes: utf8(body), url, now: rt.now }
  const read = readSigned(verification, delivery)
  if ('cause' in read) return failed(read.cause === 'signature_missing' ? 'header' : 'form', read.why)
  const signed = beginningOf(read.signed)
  const secrets = await open(rt, connection)
  if (secrets.length === 0) {
    return {
      ...failed('secret', 'The connection has no signing secret yet. Add the one that the sender signs with.'),
      signed,
    }
  }
  const verdict = await hmacOf(verification).verify(
    delivery,
    secrets.map(({ text }) => text),
  )
  if (!verdict.ok) {
    const { cause, skew_ms = 0 } = verdict
    return { ...(cause === 'signature_timestamp' ? late(verification, skew_ms) : mismatch()), signed }
  }
  return { ...eventOf(verification, delivery, body), signed, secret_id: secrets[verdict.secret]?.id ?? null }
}

function failed(step: Trial['failed'], reason: string): Trial {
  return { accepted: false, failed: step, reason, signed: null, secret_id: null, event: null }
}

function mismatch(): Trial {
  return failed(
    'signature',
    'The signature matches none of the live secrets. The sender uses another secret, it signs something else, or the body was changed on its way.',
  )
}

function late({ tolerance_s }: Verification, skew: number): Trial {
  const seconds = `${Math.round(Math.abs(skew) / SECOND)} s ${skew > 0 ? 'behind' : 'ahead of'} our clock`
  return failed('time', `The signature is right, but its time is ${seconds}. The limit is ${tolerance_s} s.`)
}

/** The event of a delivery that was accepted. It is recorded even if it cannot be read. */
function eventOf(verification: Verification, { headers }: VendorDelivery, body: string): Trial {
  const vendor = hmacOf(verification)
  const accepted = { accepted: true, signed: null, secret_id: null }
  try {
    const [event] = vendor.decode(body, keptHeaders(vendor, headers))
    const { vendor_event_id: id = null, event_type: type = '', occurred_at = null, livemode = null } = event ?? {}
    return {
      ...accepted,
      failed: null,
      reason: 'The delivery is accepted.',
      event: { id, type, occurred_at, livemode },
    }
  } catch (error) {
    if (!(error instanceof Undecodable)) throw error
    const reason = `The signature is right, but ${error.message}. The event would be recorded, but its processing would fail.`
    return { ...accepted, failed: 'event', reason, event: null }
  }
}

/** The first characters of what was signed. A character may take four bytes. */
function beginningOf(signed: Uint8Array): string {
  return [...new TextDecoder().decode(signed.subarray(0, SIGNED_SHOWS * 4))].slice(0, SIGNED_SHOWS).join('')
}

/** The live secrets of a connection, decrypted. @throws {Fault} `encryption_key_unavailable` */
async function open(
  { settings }: Runtime,
  { id, project_id, secrets }: Pick<Connection, 'id' | 'project_id' | 'secrets'>,
): Promise<{ id: string; text: string }[]> {
  const opened: { id: string; text: string }[] = []
  for (const secret of secrets) {
    const text = await unseal(settings.encryptionKeys, secret, sealContext(project_id, id, secret.id)).catch(() => {
      throw keyUnavailable('A signing secret of this connection cannot be decrypted.')
    })
    opened.push({ id: secret.id, text })
  }
  return opened
}
