import { Hono } from 'hono'
import { run } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import { invalidField } from '../../../http/validate'
import { codeNamed, MuteBody } from '../../../inbox/failures/fields'
import { failureCause, untilOf } from '../../../inbox/failures/mute'
import { findMutable, muteCause, unmuteCause } from '../../../inbox/mutes/mutes'
import { requireFound } from '../../../lib/fault'
import { DAY, HOUR, iso } from '../../../lib/time'
import { action } from '../../action'
import { choice, form, text } from '../../form'
import { pathsOf, type Visit } from '../../page'
import { utc } from '../entitlements/form'
import { adviceOnCause } from './cause-parts'

/** How long a cause can be muted with one choice (ms). */
const SPANS: Record<string, number> = { hour: HOUR, day: DAY, week: 7 * DAY }
const CHOICES = [
  ['hour', '1 hour'],
  ['day', '1 day'],
  ['week', '1 week'],
  ['date', 'Until a time'],
  ['open', 'Until someone unmutes it'],
] as const

const MUTE = form(MuteBody, {
  for: { ...choice('How long', CHOICES), read: () => undefined },
  until: { ...text('Until (UTC)', { type: 'datetime-local' }), read: () => undefined },
})

/** When the mute that a form asks for ends. @throws {Fault} `validation_failed` */
function untilIn(sent: URLSearchParams, now: number): number | null {
  const chosen = sent.get('for') ?? ''
  const date = (sent.get('until') ?? '').trim()
  if (!CHOICES.some(([value]) => value === chosen)) throw invalidField('/for', 'not_one_of', 'must be chosen')
  if (chosen === 'open') return null
  if (chosen === 'date' && date === '') throw invalidField('/until', 'required', 'must be chosen')
  const span = SPANS[chosen]
  const until = span === undefined ? utc(date) : iso(now + span)
  return untilOf(MUTE.body(sent, { until }), now)
}

const causeIn = (c: Visit) =>
  failureCause(projectOf(c.get('actor')), c.req.param('connection') ?? '', c.req.param('code') ?? '')

/** The list of failed events, which shows their causes. */
const listOf = (c: Visit) => `${pathsOf(c).events}?status=failed`

const mute = action({
  at: '/failures/:connection/:code/mute',
  needs: 'billing:write',
  read: async (c) => {
    const of = causeIn(c)
    const connection = requireFound(await run(c.get('rt').db, findMutable(c.get('rt').db, of)), 'Connection')
    return { ...connection, last_error_code: codeNamed(of.code) ?? null }
  },
  ask: (c, cause, sent) => {
    const asked = { ...sent, entered: sent.entered ?? new URLSearchParams({ for: 'day' }) }
    return {
      title: 'Mute failed events',
      section: 'events',
      above: ['Failed events', listOf(c)],
      question: 'Mute this cause?',
      says: (
        <>
          <p>
            <strong>{adviceOnCause(cause).what}</strong> Connection: {cause.name}
          </p>
          <p>
            While the cause is muted, <em>Needs attention</em> does not list it, and it alone sends no notice. Its
            events are still counted and listed, and health still reports them.
          </p>
        </>
      ),
      choice: (
        <div class="mute">
          {MUTE.field('for', asked)}
          <div class="of-date">{MUTE.field('until', asked)}</div>
        </div>
      ),
      verb: 'Mute',
    }
  },
  run: (c) => {
    const { db, now } = c.get('rt')
    return muteCause(db, causeIn(c), untilIn(c.get('form'), now), changeOf(c))
  },
  done: (c) => [listOf(c), 'cause_muted'],
})

const unmute = action({
  posts: '/failures/:connection/:code/unmute',
  needs: 'billing:write',
  run: (c) => unmuteCause(c.get('rt').db, causeIn(c), changeOf(c)),
  done: (c) => [listOf(c), 'cause_unmuted'],
})

/** Mutes causes of failures, and unmutes them. */
export const muteActions = new Hono<HttpEnv>().route('/', mute).route('/', unmute)
