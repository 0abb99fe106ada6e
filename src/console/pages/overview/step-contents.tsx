import type { Child } from 'hono/jsx'
import { can, pathsOf, type Visit } from '../../page'
import { plural } from '../../ui/format'
import { Copyable, Time } from '../../ui/parts'
import { adviceOn, RefusedFor, totalOf } from '../../ui/refusals'
import { whoMay } from '../../ui/roles'
import { Pending } from '../../ui/steps'
import { VENDOR_OPTIONS } from '../../ui/vendor-titles'
import { curlExample, envFile } from '../api-keys/examples'
import { type Connected, type Progress, receivedIn } from './read'

export type StepName = 'key' | 'connect' | 'receive' | 'process' | 'feature' | 'plan' | 'consumer' | 'answer' | 'use'
/** Which steps are done; a step that a project does not have is missing. */
export type DoneSteps = Readonly<Partial<Record<StepName, boolean>>>
export type StepProps = { c: Visit; of: Progress; current: boolean; done: DoneSteps }

/** The first key: create one. */
export function KeyStep({ c, of, current, done }: StepProps) {
  const { keys } = pathsOf(c)
  if (done.key) {
    return (
      <p class="quiet">
        <a href={keys}>{of.keys.length === 0 ? 'No active API keys' : plural(of.keys.length, 'active API key')}</a>
      </p>
    )
  }
  return (
    <>
      <p class="quiet">
        Your server calls the API with it: to check what a consumer may do, and to read billing state.
      </p>
      {can(c, 'api_keys:write') ? (
        <Action href={`${keys}/new`} current={current}>
          Create API key
        </Action>
      ) : (
        <p>Ask {whoMay('api_keys:write')} of this project to create one.</p>
      )}
    </>
  )
}

/** The first use of the key: a command that makes a call. Until it is the next step, the command is folded away. */
export function UseStep({ c, of, current, done }: StepProps) {
  const { now } = c.get('rt')
  if (done.use) {
    const last = Math.max(...[...of.keys, ...of.revoked].map(({ last_used_at }) => last_used_at ?? 0))
    return (
      <p class="quiet">
        Last used <Time at={last} now={now} />
      </p>
    )
  }
  if (!done.key) return <p class="quiet">A first call shows that the key works.</p>
  return current ? (
    <FirstCall c={c} />
  ) : (
    <details>
      <summary>Show the first call</summary>
      <FirstCall c={c} />
    </details>
  )
}

function FirstCall({ c }: { c: Visit }) {
  return (
    <>
      <p>
        If you have not done so yet, put these lines in a file named <code>.env</code>, with the secret of your key:
      </p>
      <Copyable id="first-env" label=".env file">
        {envFile(c, 'svc_v1_…')}
      </Copyable>
      <p>Then run this in the same folder:</p>
      <Copyable id="first-call" label="curl command">
        {curlExample(c)}
      </Copyable>
      <Pending>Waiting for the first call…</Pending>
    </>
  )
}

/** The first connection: choose a vendor, or enter the secret that is missing. */
export function ConnectStep({ c, of, current, done }: StepProps) {
  const { connections } = pathsOf(c)
  const half = of.connections.find(({ secrets }) => secrets.length === 0)
  if (done.connect) {
    const [first, ...more] = of.connections.filter(({ secrets }) => secrets.length > 0)
    return (
      <p class="quiet">
        <a href={`${connections}/${first?.id}`}>{first?.name}</a>
        {more.length > 0 && ` and ${more.length} more`}
      </p>
    )
  }
  if (half) {
    return (
      <>
        <p>{half.name} still needs its signing secret.</p>
        <Action href={`${connections}/${half.id}`} current={current}>
          Finish {half.name}
        </Action>
      </>
    )
  }
  return (
    <>
      <p class="quiet">
        Stripe, Paddle and {VENDOR_OPTIONS.length - 2} more. You get a URL for its webhooks, and instructions for the
        vendor.
      </p>
      {can(c, 'connections:write') ? (
        <Action href={`${connections}/new`} current={current}>
          Connect a vendor
        </Action>
      ) : (
        <p>Ask {whoMay('connections:write')} of this project to connect one.</p>
      )}
    </>
  )
}

/** The first event: waiting for it, or the cause of a refusal. */
export function ReceiveStep({ c, of, done }: StepProps) {
  const { events, connections } = pathsOf(c)
  if (done.receive) {
    return (
      <p class="quiet">
        <a href={events}>{plural(receivedIn(of), 'event')}</a> received
      </p>
    )
  }
  if (!done.connect) return <p class="quiet">It appears here as soon as the vendor sends it.</p>
  const ready = of.connections.filter(({ secrets }) => secrets.length > 0)
  const refusing = ready.find(({ last_60m }) => totalOf(last_60m.refused) > 0)
  return (
    <>
      <Pending>Waiting for the first delivery…</Pending>
      {refusing ? (
        <Refused connection={refusing} href={`${connections}/${refusing.id}`} />
      ) : (
        <p class="quiet">
          <a href={`${connections}/${ready[0]?.id}`}>How to send the first event to {ready[0]?.name}</a>
        </p>
      )}
    </>
  )
}

function Refused({ connection: { name, last_60m }, href }: { connection: Connected; href: string }) {
  const [cause = ''] = Object.entries(last_60m.refused).sort(([, a], [, b]) => b - a)[0] ?? []
  return (
    <section class="refusal" role="alert">
      <p>
        <strong>
          A delivery from <a href={href}>{name}</a> was refused:
        </strong>{' '}
        <RefusedFor cause={cause} />.
      </p>
      <p>{adviceOn(cause)}</p>
    </section>
  )
}

/** How the first event was processed. */
export function ProcessStep({ c, of, done }: StepProps) {
  const { events } = pathsOf(c)
  if (done.process) {
    return (
      <p class="quiet">
        <a href={`${events}?status=processed&status=ignored`}>
          {plural(of.counts.processed + of.counts.ignored, 'event')}
        </a>{' '}
        processed
      </p>
    )
  }
  if (of.counts.failed > 0) {
    return (
      <p class="error">
        The event could not be processed. <a href={`${events}?status=failed`}>See why</a>
      </p>
    )
  }
  return done.receive ? (
    <Pending>The event is being processed…</Pending>
  ) : (
    <p class="quiet">It changes the billing state, and can be searched and replayed.</p>
  )
}

/** What to do in a step: the main button of the page in the current step only. */
export function Action({ href, current, children }: { href: string; current: boolean; children?: Child }) {
  return (
    <p>
      <a class={current ? 'button primary' : 'button'} href={href}>
        {children}
      </a>
    </p>
  )
}
