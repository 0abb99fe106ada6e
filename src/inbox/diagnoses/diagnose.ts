import { batch } from '../../db/client'
import type { Runtime } from '../../env'
import { type Sealed, sealContext, unseal } from '../../lib/seal'
import { vendorOfConnection } from '../../vendors'
import { readSigned } from '../../vendors/hmac'
import type { Vendor, VendorDelivery } from '../../vendors/vendor'
import { rememberedKeys } from '../receive/vendor-keys'
import { isNamed, meantHeaders, mediaTypeOf, otherSender } from './clues'
import { otherForms } from './forms'
import type { HeldDelivery } from './held'
import { MAX_HELD_BYTES, MAX_TRIED_SECRETS } from './limits'
import { listRemoved } from './removed'
import { type DiagnosisRow, listOthers } from './store'
import type { RefusalVerdict } from './verdicts'

type Found = Pick<DiagnosisRow, 'verdict'> & Partial<Pick<DiagnosisRow, 'signed_by' | 'sender' | 'skew_ms'>>

/** Says why a delivery was refused, and what is kept of it. It reads the database at most once, and writes nothing. */
export async function diagnose(rt: Runtime, refused: HeldDelivery): Promise<DiagnosisRow> {
  const { connection, delivery, cause, size } = refused
  const vendor = vendorOfConnection(connection)
  const counted = { secrets: cause === 'signature_mismatch' ? connection.secrets.length : 0 }
  const found = (await whoSigned(rt, refused, counted)) ?? clueIn(refused, vendor)
  return {
    project_id: connection.project_id,
    connection_id: connection.id,
    at: delivery.now,
    cause,
    signed_by: null,
    sender: null,
    skew_ms: null,
    tried: counted.secrets,
    reason: formOf(refused),
    size,
    media_type: mediaTypeOf(delivery.headers),
    headers: meantHeaders(vendor, delivery.headers),
    ...found,
  }
}

/** Secrets that may have signed a delivery, and the verdict if one of them has. */
type Try = Required<Pick<Found, 'verdict' | 'signed_by'>> & {
  vendor: Vendor | undefined
  of: VendorDelivery
  secrets: string[]
}

/** Which secret signed a delivery, as it is or in another form. @param counted how many secrets were compared in vain */
async function whoSigned(rt: Runtime, refused: HeldDelivery, counted: { secrets: number }): Promise<Found | null> {
  if (refused.cause === 'signature_timestamp') return { verdict: 'clock', skew_ms: refused.skew_ms }
  if (refused.size > MAX_HELD_BYTES) return null
  // Without a signature there is nothing to compare. Only senders that we do not know can have it in another header.
  if (refused.cause === 'signature_missing' && refused.connection.vendor !== 'hmac') return null
  let left = MAX_TRIED_SECRETS
  for await (const { verdict, signed_by, vendor, of, secrets } of triesOf(rt, refused)) {
    left -= secrets.length
    if (left < 0) return null
    const result = await vendor?.verify({ ...of, keys: rememberedKeys }, secrets)
    if (result?.ok) return { verdict, signed_by }
    if (result?.cause === 'signature_timestamp') return { verdict, signed_by, skew_ms: result.skew_ms ?? null }
    if (result?.cause === 'signature_mismatch' && verdict !== 'body_changed') counted.secrets += secrets.length
  }
  return null
}

async function* triesOf(rt: Runtime, { connection, delivery }: HeldDelivery): AsyncGenerator<Try> {
  const { db, now } = rt
  const own = vendorOfConnection(connection)
  const { removed, others } = await batch(db, {
    removed: listRemoved(db, connection, now),
    others: listOthers(db, connection),
  })
  for (const secret of removed) {
    const secrets = await opened(rt, connection, [secret])
    yield { verdict: 'removed_secret', signed_by: secret.id, vendor: own, of: delivery, secrets }
  }
  const secrets = connection.secrets.map(({ text }) => text)
  for (const bytes of otherForms(delivery.bytes)) {
    yield { verdict: 'body_changed', signed_by: null, vendor: own, of: { ...delivery, bytes }, secrets }
  }
  for (const other of others) {
    const verdict = other.livemode === connection.livemode ? 'other_connection' : 'mode_mixup'
    const secrets = await opened(rt, { ...connection, id: other.id }, other.secrets)
    yield { verdict, signed_by: other.id, vendor: vendorOfConnection(other), of: delivery, secrets }
  }
}

/** Opens the sealed secrets of a connection. A secret that no key opens cannot be tried, so it is left out. */
async function opened(
  { settings }: Runtime,
  { project_id, id }: { project_id: string; id: string },
  secrets: readonly (Sealed & { id: string })[],
): Promise<string[]> {
  const opening = secrets.map((secret) =>
    unseal(settings.encryptionKeys, secret, sealContext(project_id, id, secret.id)).catch(() => null),
  )
  return (await Promise.all(opening)).filter((text) => text !== null)
}

/** What the headers of a delivery say, where no secret that we know signed it. */
function clueIn({ connection, delivery: { headers }, cause }: HeldDelivery, vendor: Vendor | undefined): Found {
  const verdict = (verdict: RefusalVerdict): Found => ({ verdict })
  const other = cause === 'signature_mismatch' ? null : otherSender(vendor, headers)
  if (other) return { verdict: 'other_vendor', ...other }
  const isSet = connection.vendor !== 'hmac' || connection.verification !== null
  if (!isSet || (connection.secrets.length === 0 && !connection.unreadable)) return verdict('not_set_up')
  if (cause === 'signature_missing' && isFromVendor(connection, headers)) return verdict('header_missing')
  return verdict('unknown')
}

/** Whether a delivery without a signature seems to come from the vendor of its connection. */
function isFromVendor({ vendor, verification }: HeldDelivery['connection'], headers: Headers): boolean {
  const sender = vendor === 'hmac' ? verification?.preset : vendor === 'standard' ? undefined : vendor
  return sender === undefined || isNamed(sender, headers)
}

/** What is wrong with the form of a signature, where the connection describes it. */
function formOf({ connection: { vendor, verification }, delivery }: HeldDelivery): string | null {
  if (vendor !== 'hmac' || verification === null) return null
  const read = readSigned(verification, delivery)
  return 'why' in read ? read.why : null
}
