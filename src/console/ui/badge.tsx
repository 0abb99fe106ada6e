import { modeWord } from './format'

const TONES: Record<string, string> = {
  processed: 'good',
  accepted: 'good',
  active: 'good',
  verified: 'good',
  grace: 'warn',
  paid: 'good',
  applied: 'good',
  ok: 'good',
  healthy: 'good',
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
  permission_missing: 'warn',
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
  overdue: 'bad',
  unpaid: 'bad',
  ambiguous: 'warn',
  allowed: 'good',
  'grants access': 'good',
  'no access': 'warn',
  disputed: 'warn',
  charged_back: 'bad',
  lost: 'bad',
}

/** Words of the API that are not shown as they are. */
const SHOWN: Record<string, string> = { ok: 'OK', unplaced: 'no effect' }

/** Live or test, where every row says which. */
export function ModeBadge({ of }: { of: boolean }) {
  return <span class={`badge ${of ? 'good' : 'test'}`}>{modeWord(of)}</span>
}

/** Marks what is of test mode. What is live, or of no known mode, has no mark. */
export function TestBadge({ of }: { of: boolean | null | undefined }) {
  return of === false ? <ModeBadge of={of} /> : null
}

/** A status: a word with a color, which the style sheet capitalizes. */
export function Badge({ of }: { of: string }) {
  return <span class={`badge ${TONES[of] ?? ''}`}>{SHOWN[of] ?? of.replaceAll('_', ' ')}</span>
}
