import { HOUR } from '../../lib/time'
import { REMOVED_KEPT_FOR } from './limits'

/** Why a delivery was refused, in the order in which the reasons are looked for. */
export const VERDICTS = [
  'clock',
  'removed_secret',
  'body_changed',
  'other_connection',
  'mode_mixup',
  'other_vendor',
  'header_missing',
  'not_set_up',
  'unknown',
] as const
export type RefusalVerdict = (typeof VERDICTS)[number]

/** Verdicts that a signature proves. Nobody can cause them without a secret, so junk does not stand in their way. */
export const PROVEN: readonly RefusalVerdict[] = [
  'clock',
  'removed_secret',
  'body_changed',
  'other_connection',
  'mode_mixup',
]

/** What to do about each verdict. */
export const VERDICT_ADVICE: Readonly<Record<RefusalVerdict, string>> = {
  clock:
    'The signature is right, but its time is too far from ours. If it is off by minutes, correct the clock of the sender. If it is hours old, something on the way delays deliveries or repeats old ones. Have the vendor send the event again.',
  removed_secret: `The delivery was signed with a secret that was removed from this connection in the last ${REMOVED_KEPT_FOR / HOUR} hours. Switch the vendor to a live secret. Until you have, you can add the removed secret again, but only if nobody else can know it.`,
  body_changed:
    'The signature is right for the same body in another form, so something on the way changed the body. It may be a proxy that parses JSON and writes it again, or that adds or removes a line break. Make it pass the bytes on unchanged.',
  other_connection:
    'The delivery was signed with a secret of another connection of this project. At the vendor, give each endpoint the ingest URL of the connection that has its secret.',
  mode_mixup:
    'The delivery was signed with the secret of a connection in the other mode. Live events arrive on the connection for test events, or the reverse. Swap the ingest URLs at the vendor, or the secrets here.',
  other_vendor:
    'The delivery has the signature header of another vendor. Give that vendor the ingest URL of its own connection.',
  header_missing:
    'The delivery has no signature header. If the vendor signs its deliveries, a proxy on the way removes the header. Let the header through. If not, turn on signing at the vendor.',
  not_set_up:
    'The connection has no signing secret, or its verification is not set yet. Add what is missing, then have the vendor send the event again.',
  unknown:
    'The signature does not match any secret that we know. Copy the secret of this endpoint from the vendor again, and add it. If something on the way changes the body, the secret looks wrong too, so also check your proxies. Anyone who knows the ingest URL can send such a delivery.',
}
