import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import { can } from '../../page'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { Activity } from './activity'
import { Attention, attentionOf } from './attention'
import { type Overview, receivedIn } from './read'
import { doneOf, SetupSteps } from './steps'
import { Connections, Keys } from './summary'

/**
 * The first page of a project. Until everything is set up, it shows the steps. Once an event has been received, it shows
 * the figures, with what needs attention above them.
 */
export function overviewPage(c: Context<HttpEnv>, of: Overview) {
  const isSetUp = doneOf(of).every(Boolean)
  const isRunning = receivedIn(of) > 0
  const items = attentionOf(c, of)
  return show(
    c,
    { title: 'Overview', section: 'overview' },
    <>
      <Head title="Overview" />
      {isRunning && <Attention items={items} />}
      {!isSetUp && (
        <section aria-labelledby="setup">
          <h2 id="setup">{isRunning ? 'Finish setting up' : 'Set up this project'}</h2>
          <SetupSteps c={c} of={of} />
        </section>
      )}
      {!isRunning && items.length > 0 && <Attention items={items} />}
      {isRunning && (
        <>
          {can(c, 'billing:read') && <Activity c={c} of={of} />}
          {can(c, 'connections:read') && <Connections c={c} of={of} />}
          <Keys c={c} of={of} />
        </>
      )}
    </>,
  )
}
