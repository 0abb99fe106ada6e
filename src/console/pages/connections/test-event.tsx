import { Hono } from 'hono'
import { changeOf } from '../../../http/auth'
import type { HttpEnv } from '../../../http/context'
import type { ConnectionRow } from '../../../inbox/connections/connection'
import { ingestUrl } from '../../../inbox/connections/present'
import { type NoTest, sendTestEvent } from '../../../inbox/receive/test-event'
import { vendorOf } from '../../../vendors'
import type { Samples } from '../../../vendors/samples'
import { action } from '../../action'
import { can, pathsOf, type Visit } from '../../page'
import { type Mistakes, Refused, type Sent } from '../../refusal'
import { Field, Post, Select, Wrong } from '../../ui/controls'
import { VENDORS_WITH_SAMPLES, vendorTitle } from '../../ui/vendor-titles'
import { connectionPath } from './describe'
import { guideOf } from './guides'
import { hasExample, SendExample } from './local'
import { addressedConnection, type ShownConnection } from './read'

const WHY_NOT: Record<NoTest, string> = {
  live: 'Nothing was sent: the connection receives live events. You can send test events only to a connection in test mode.',
  no_secret: 'Nothing was sent: the connection has no signing secret. Add one first.',
  no_sample: 'Nothing was sent: choose a test event from the list.',
}

/** The form that sends a test event. @param shown shows the connection again, with what was wrong */
export function testEventAction(shown: (c: Visit, sent: Sent) => Response | Promise<Response>): Hono<HttpEnv> {
  const send = action({
    posts: '/:id/test-events',
    needs: 'connections:write',
    counted: { costly: true },
    run: async (c) => {
      const of = addressedConnection(c)
      const name = c.get('form').get('sample') ?? ''
      const sent = await sendTestEvent(c.get('rt'), { ...of, name, url: ingestUrl(c, of.id) }, changeOf(c))
      if (typeof sent === 'string') throw new Refused({ form: WHY_NOT[sent] }, 409)
      return sent.event_id
    },
    done: (c, id) => [`${pathsOf(c).events}/${id}`, 'test_event_sent'],
    again: shown,
    explains: { connection_disabled: true, encryption_key_unavailable: true, rate_limited: true },
  })
  return new Hono<HttpEnv>().route('/', send)
}

type Shown = { c: Visit; of: ShownConnection; mistakes: Mistakes }

/** Whether the page of a connection has a part about test events. */
export function hasTestEvents(c: Visit, row: ConnectionRow): boolean {
  return can(c, 'connections:write') && row.status !== 'disabled' && row.secrets.length > 0 && !row.livemode
}

/**
 * Offers test events, where the connection can take them; or says what to do instead, where we have none of the vendor. Until the first
 * event has arrived, the step that waits for it offers them: {@link FirstTestEvent}.
 */
export function TestEvent({ c, of, mistakes }: Shown) {
  const { row } = of
  const samples = vendorOf(row.vendor)?.samples
  if (!hasTestEvents(c, row)) return <Wrong>{mistakes.form}</Wrong>
  if (samples && row.last_event_id === null) return null
  return (
    <section aria-labelledby="test-event">
      <h2 id="test-event">Test event</h2>
      {samples ? <Offer c={c} row={row} samples={samples} mistakes={mistakes} /> : <Instead c={c} of={of} />}
      {!samples && <Wrong>{mistakes.form}</Wrong>}
    </section>
  )
}

/** The test events as a way to get the first event. Renders nothing where there are none. */
export function FirstTestEvent({ c, row, mistakes }: Omit<OfferProps, 'samples' | 'first'>) {
  const samples = hasTestEvents(c, row) ? vendorOf(row.vendor)?.samples : undefined
  return samples ? <Offer c={c} row={row} samples={samples} mistakes={mistakes} first /> : null
}

/** `first`: whether it is what to do next on the page. */
type OfferProps = { c: Visit; row: ConnectionRow; samples: Samples; mistakes: Mistakes; first?: boolean }

function Offer({ c, row, samples, mistakes, first = false }: OfferProps) {
  const options = Object.entries(samples.list).map(([name, { type, does }]) => [name, `${type}: ${does}`] as const)
  return (
    <>
      <p class="quiet">
        We create the event, sign it with this connection’s secret, and process it like an event from{' '}
        {vendorTitle(row.vendor)}.{' '}
        {row.status === 'paused' && 'The connection is paused, so the event is held until you resume it. '}
        All test events are about one test customer and its subscription.
      </p>
      <Post c={c} to={`${connectionPath(c, row)}/test-events`} class="form">
        <Field name="sample" label="What happens">
          <Select name="sample" options={options} />
        </Field>
        <Wrong>{mistakes.form}</Wrong>
        <button type="submit" class={first ? 'primary' : undefined}>
          Send a test event
        </button>
      </Post>
    </>
  )
}

/** How to test with a vendor of which we have no test events. Until the first event has arrived, a step above says it. */
function Instead({ c, of: { row, example } }: Omit<Shown, 'mistakes'>) {
  const isNew = row.last_event_id === null
  const advice = isNew ? 'The step above says how to get a first event.' : guideOf(row.vendor)?.first
  return (
    <>
      <p class="quiet">
        We write test events for {VENDORS_WITH_SAMPLES} only.{(isNew || !hasExample(c, row)) && <> {advice}</>}
      </p>
      {!isNew && <SendExample c={c} row={row} secret={example} />}
    </>
  )
}
