import { Fault } from '../../lib/fault'
import { SECOND } from '../../lib/time'
import { vendorOfConnection } from '../../vendors'
import { TOLERANCE_MS } from '../../vendors/limits'
import type { SignatureCause, Vendor, VendorDelivery } from '../../vendors/vendor'
import { keyUnavailable } from '../connections/sealing'
import type { LiveConnection, LiveSecret } from './known-connections'

/** The connection and vendor of a delivery, and the secret that signed it. */
export type Verified = { connection: LiveConnection; vendor: Vendor; secret: LiveSecret }

/** Why a delivery was refused. `signature`: what is wrong with it, where that is the reason. */
export type Unverified = { refused: Fault; signature?: { cause: SignatureCause; skew_ms: number | null } }

/** Checks a delivery's signature against the live secrets of its connection. */
export async function verify(
  connection: LiveConnection | null,
  delivery: VendorDelivery,
): Promise<Verified | Unverified> {
  if (!connection) return { refused: unknownConnection() }
  if (connection.status === 'disabled') {
    return { refused: new Fault('connection_disabled', 'Enable the connection, then send the event again.') }
  }
  const vendor = vendorOfConnection(connection)
  if (connection.unreadable && vendor?.needsEverySecret) return { refused: unreadableSecret() }
  const texts = connection.secrets.map(({ text }) => text)
  const verification = await vendor?.verify(delivery, texts)
  const secret = verification?.ok ? connection.secrets[verification.secret] : undefined
  if (vendor && secret) return { connection, vendor, secret }
  const outcome: { cause: SignatureCause; skew_ms?: number } =
    verification && !verification.ok ? verification : { cause: 'signature_mismatch' }
  const refused = badSignature(outcome, connection)
  // It may have been signed with the secret that cannot be read: that is not the vendor's fault, and it must try again.
  if (connection.unreadable && refused.fault === 'signature_mismatch') {
    return { refused: unreadableSecret() }
  }
  const { cause, skew_ms = null } = outcome
  return { refused, signature: { cause, skew_ms } }
}

export function unknownConnection(): Fault {
  return new Fault('unknown_connection', 'Connection not found. Copy its ingest_url again.')
}

export function unreadableSecret(): Fault {
  return keyUnavailable('A signing secret of this connection cannot be decrypted.')
}

function badSignature(
  { cause, skew_ms = 0 }: { cause: SignatureCause; skew_ms?: number },
  { vendor, verification, secrets, unreadable }: LiveConnection,
): Fault {
  const skew = `${Math.round(Math.abs(skew_ms) / SECOND)} s ${skew_ms > 0 ? 'behind' : 'ahead of'} our clock`
  const isUnset = vendor === 'hmac' && verification === null
  const tolerance = verification?.tolerance_s ?? TOLERANCE_MS / SECOND
  const detail = {
    signature_missing: "Send the vendor's signature header.",
    signature_malformed: "The signature header is not in the vendor's format.",
    signature_mismatch: isUnset
      ? 'The connection has no verification yet. Set it with PUT …/verification.'
      : secrets.length === 0 && !unreadable
        ? 'The connection has no signing secret yet. Add the one that the vendor signs with.'
        : "The signature matches none of the connection's live signing secrets.",
    signature_timestamp: `The signature's timestamp is ${skew}. The limit is ${tolerance} s.`,
  }[cause]
  return new Fault(cause, detail)
}
