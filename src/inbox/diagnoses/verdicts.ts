/** Why a delivery was refused. What is first is looked for first. */
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
export type Verdict = (typeof VERDICTS)[number]

/** Verdicts that a signature proves. Who knows no secret can cause none of them, so junk does not stand in their way. */
export const PROVEN: readonly Verdict[] = ['clock', 'removed_secret', 'body_changed', 'other_connection', 'mode_mixup']

/** What to do about each verdict. */
export const VERDICT_ADVICE: Readonly<Record<Verdict, string>> = {
  clock:
    'The signature is right, but its time is too far from ours. If it is minutes off, correct the clock of the sender. If it is hours old, something on the way holds deliveries back or repeats old ones: have the vendor send the event again.',
  removed_secret:
    'The delivery was signed with a secret that was removed from this connection in the last 72 hours. Switch the vendor to a live secret, or add this one again until you have.',
  body_changed:
    'The signature is right for the same body in another form: something on the way changed it, such as a proxy that parses JSON and writes it anew, or that adds or removes a line break. Pass the bytes on unchanged.',
  other_connection:
    'The delivery was signed with a secret of another connection of this project. At the vendor, give each endpoint the ingest URL of the connection that has its secret.',
  mode_mixup:
    'The delivery was signed with a secret of a connection of the other mode: live events arrive on the connection for test events, or the reverse. Swap the ingest URLs at the vendor, or the secrets here.',
  other_vendor:
    'The delivery has the signature header of another vendor. Give that vendor the ingest URL of a connection of its own.',
  header_missing:
    'The delivery has no signature header. If the vendor signs, a proxy removes the header on the way: let it pass. Else turn on signing at the vendor.',
  not_set_up:
    'The connection has no signing secret, or does not say yet how the sender signs. Add what is missing, then have the vendor send the event again.',
  unknown:
    'No secret that we know made the signature. Copy the secret of this endpoint from the vendor again, and add it. A body that was changed on the way looks the same as a wrong secret, so also check what is in between. Anybody who knows the ingest URL can send such a delivery.',
}
