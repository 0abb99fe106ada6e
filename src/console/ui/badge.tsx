const TONES: Record<string, string> = {
  processed: 'good',
  accepted: 'good',
  active: 'good',
  verified: 'good',
  grace: 'warn',
  paid: 'good',
  applied: 'good',
  ok: 'good',
  failed: 'bad',
  failing: 'bad',
  died: 'bad',
  expired: 'bad',
  revoked: 'bad',
  blocked: 'bad',
  running: 'warn',
  done: 'good',
  'expires soon': 'warn',
  'former member': 'warn',
  'permission missing': 'warn',
  retrying: 'warn',
  degraded: 'warn',
  disabled: 'warn',
  paused: 'warn',
  held: 'warn',
  enforced: 'good',
  'break-glass': 'warn',
  'no secret': 'bad',
  refused: 'bad',
  past_due: 'warn',
  unpaid: 'bad',
  ambiguous: 'warn',
  allowed: 'good',
}

/** A status: a word with a color. */
export function Badge({ of }: { of: string }) {
  return <span class={`badge ${TONES[of] ?? ''}`}>{of}</span>
}
