import { Hono } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { can, page, pathsOf, type Visit } from '../../page'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { Activity } from './activity'
import { Attention, attentionOf, mutedOf } from './attention'
import { Business } from './business'
import { PaidInvoices } from './paid'
import { type Overview, readOverview, readSetup, receivedIn } from './read'
import { doneOf, hasEvent, isSetUp, SetupSteps, seenOf } from './steps'
import { Connections, Keys } from './summary'

/**
 * The first page of a project. Until everything is set up, it shows the steps. Once an event has been received, it shows
 * the figures, with what needs attention above them.
 */
export function overviewPage(c: Visit, of: Overview) {
  const done = doneOf(of)
  const isRunning = receivedIn(of) > 0
  const items = attentionOf(c, of)
  const muted = mutedOf(c, of)
  // Once everything else is set up, the figures come before the call from a server.
  const { use, ...others } = done
  const isAlmost = isRunning && isSetUp(others) && !use
  const setup = !isSetUp(done) && (
    <section aria-labelledby="setup">
      <h2 id="setup">
        {hasEvent(done) && done.answer === false
          ? 'Next: your first entitlement check'
          : isRunning
            ? 'Finish setting up'
            : 'Set up this project'}
      </h2>
      <SetupSteps c={c} of={of} />
    </section>
  )
  return show(
    c,
    { title: 'Overview', section: 'overview' },
    <>
      <Head title="Overview" />
      {isRunning && <Attention c={c} items={items} muted={muted} />}
      {!isAlmost && setup}
      {!isRunning && items.length > 0 && <Attention c={c} items={items} muted={muted} />}
      {isRunning && (
        <>
          {can(c, 'billing:read') && (
            <>
              <Business c={c} of={of} />
              <PaidInvoices c={c} of={of} />
            </>
          )}
          {isAlmost && setup}
          {can(c, 'billing:read') && <Activity c={c} of={of} />}
          {can(c, 'connections:read') && <Connections c={c} of={of} />}
          <Keys c={c} of={of} />
        </>
      )}
    </>,
  )
}

/** The first page of a project, and redirects from the paths above its other pages. */
export const overviewPages = new Hono<HttpEnv>()
  .get('/', page('projects:read'), async (c) => overviewPage(c, await readOverview(c)))
  .get('/steps', page('projects:read'), async (c) => {
    const of = await readSetup(c)
    const seen = c.req.query('seen') ?? ''
    return seen === seenOf(of) ? c.body(null, 204) : c.html(SetupSteps({ c, of, seen }))
  })
  .get('/platform', page('projects:read'), (c) => c.redirect(pathsOf(c).start, 303))
  .get('/platform/settings', page('projects:read'), (c) => c.redirect(pathsOf(c).general, 303))
  .get('/platform/billing', page('billing:read'), (c) => c.redirect(`${pathsOf(c).billing}/subscriptions`, 303))
