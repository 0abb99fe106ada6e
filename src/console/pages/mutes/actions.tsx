import { Hono } from 'hono'
import type { Child } from 'hono/jsx'
import { run } from '../../../db/client'
import { changeOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import type { PagePolicy } from '../../../http/meta'
import { invalidField } from '../../../http/validate'
import { MuteBody, untilOf } from '../../../inbox/mutes/fields'
import { findMutable, type MutedCause, muteCause, unmuteCause } from '../../../inbox/mutes/mutes'
import { requireFound } from '../../../lib/fault'
import { DAY, HOUR, iso } from '../../../lib/time'
import { type Ask, action } from '../../action'
import { choice, form, text } from '../../form'
import type { Visit } from '../../page'
import { utc } from '../entitlements/form'

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
  if (!CHOICES.some(([value]) => value === chosen)) throw invalidField('/for', 'not_one_of', 'must be selected')
  if (chosen === 'open') return null
  if (chosen === 'date' && date === '') throw invalidField('/until', 'required', 'must be entered')
  const span = SPANS[chosen]
  const until = span === undefined ? utc(date) : iso(now + span)
  return untilOf(MUTE.body(sent, { until }), now)
}

type Connection = { connection_id: string; name: string; vendor: string }

/** Causes of one kind: `at` is the path of one, and `list` that of the list of them, on which mutes are shown. */
type Causes = Pick<Ask, 'title' | 'section'> & {
  at: string
  needs: PagePolicy
  causeIn: (c: Visit) => MutedCause
  list: (c: Visit) => readonly [label: string, path: string]
  /** What the cause is, and what stays as it is while it is muted. */
  says: (cause: MutedCause, connection: Connection) => Child
}

/** The page that asks how long to mute a cause, its form, and the form that unmutes it. */
export function muteActions({ at, needs, causeIn, list, says, ...view }: Causes): Hono<HttpEnv> {
  const mute = action({
    at: `${at}/mute`,
    needs,
    read: async (c) => requireFound(await run(c.get('rt').db, findMutable(c.get('rt').db, causeIn(c))), 'Connection'),
    ask: (c, connection, sent) => {
      const asked = { ...sent, entered: sent.entered ?? new URLSearchParams({ for: 'day' }) }
      return {
        ...view,
        above: list(c),
        question: 'Mute this cause?',
        says: says(causeIn(c), connection),
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
    done: (c) => [list(c)[1], 'cause_muted'],
  })
  const unmute = action({
    posts: `${at}/unmute`,
    needs,
    run: (c) => unmuteCause(c.get('rt').db, causeIn(c), changeOf(c)),
    done: (c) => [list(c)[1], 'cause_unmuted'],
  })
  return new Hono<HttpEnv>().route('/', mute).route('/', unmute)
}
