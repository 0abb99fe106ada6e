import type { Runtime } from '../../env'
import { Fault } from '../../lib/fault'
import { SECOND } from '../../lib/time'
import { vendorOf, vendorOfConnection } from '../../vendors'
import { TOLERANCE_MS } from '../../vendors/limits'
import type { SignatureCause, Vendor, VendorDelivery } from '../../vendors/vendor'
import { keyUnavailable } from '../connections/sealing'
import type { LiveConnection, LiveSecret } from './known-connections'
import { VENDOR_KEY_EVERY } from './limits'
import { publishedKeys } from './vendor-keys'

/** The connection and vendor of a delivery, and the secret that signed it. */
export type Verified = { connection: LiveConnection; vendor: Vendor; secret: LiveSecret }

/** Why a delivery was refused. `signature`: what is wrong with it, where that is the reason. */
export type Unverified = { refused: Fault; signature?: { cause: SignatureCause; skew_ms: number | null } }

/** Checks a delivery's signature against the live secrets of its connection. */
export async function verify(
  rt: Runtime,
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
  const keys = vendor?.keyAddress && publishedKeys(rt, connection.id, vendor.keyAddress)
  const verification = await vendor?.verify(keys ? { ...delivery, keys } : delivery, texts)
  const secret = verification?.ok ? connection.secrets[verification.secret] : undefined
  if (vendor && secret) return { connection, vendor, secret }
  const failed = verification && !verification.ok ? verification : null
  if (failed?.cause === 'key_unavailable') return { refused: keyNotRead() }
  const outcome: { cause: SignatureCause; skew_ms?: number } = failed ?? { cause: 'signature_mismatch' }
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

function keyNotRead(): Fault {
  return new Fault(
    'vendor_key_unavailable',
    "The vendor's public key could not be fetched. Send the delivery again later.",
    { headers: { 'Retry-After': String(VENDOR_KEY_EVERY / SECOND) } },
  )
}

function badSignature(
  { cause, skew_ms }: { cause: SignatureCause; skew_ms?: number },
  { vendor, verification, secrets, unreadable }: LiveConnection,
): Fault {
  const isUnset = vendor === 'hmac' && verification === null
  const detail = {
    signature_missing: "Send the vendor's signature header.",
    signature_malformed: "The signature header is not in the vendor's format.",
    signature_mismatch: isUnset
      ? 'The connection has no verification yet. Set it with PUT …/verification.'
      : secrets.length === 0 && !unreadable
        ? 'The connection has no signing secret yet. Add the one that the vendor signs with.'
        : "The signature matches none of the connection's live signing secrets.",
    signature_timestamp:
      skew_ms === undefined
        ? "The vendor's certificate is not valid now, or was not valid when the delivery was signed."
        : outOfTime(skew_ms, verification?.tolerance_s ?? toleranceOf(vendor, skew_ms)),
  }[cause]
  return new Fault(cause, detail)
}

/** How far the time of a signature may be from ours, in seconds. */
function toleranceOf(vendor: string, skewMs: number): number {
  return ((skewMs > 0 && vendorOf(vendor)?.tolerance) || TOLERANCE_MS) / SECOND
}

function outOfTime(skewMs: number, limit: number): string {
  const skew = `${Math.round(Math.abs(skewMs) / SECOND)} s ${skewMs > 0 ? 'behind' : 'ahead of'} our clock`
  return `The signature's timestamp is ${skew}. The limit is ${limit} s.`
}
