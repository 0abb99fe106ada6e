import { publicOrigin } from '../../../http/origin'
import type { ConnectionRow } from '../../../inbox/connections/connection'
import { ingestUrl } from '../../../inbox/connections/present'
import { can, type Visit } from '../../page'
import type { Mistakes, Sent } from '../../refusal'
import { Post, Wrong } from '../../ui/controls'
import { Copyable } from '../../ui/parts'
import { whoMay } from '../../ui/roles'
import { Step, Steps } from '../../ui/steps'
import { vendorTitle } from '../../ui/vendor-titles'
import { connectionPath } from './describe'
import { SetUpForm } from './endpoint'
import type { Guide } from './guide'
import { guideOf } from './guides'
import { isLocal, NotReachable, TrySecret } from './local'
import type { ShownConnection } from './read'
import { SecretField } from './secrets'
import { FIRST, FirstDelivery } from './waiting'

type SetupProps = {
  c: Visit
  of: ShownConnection
  mistakes: Mistakes
  /** Of the form that sends a test event. */
  mistakesOfTest: Mistakes
  /** The form that creates the endpoint with a key. */
  sentKey: Sent
  suggested: string
}

/** What is left to do before a new connection receives events, in the order in which the vendor asks for it. */
export function Setup({ c, of, mistakes, mistakesOfTest, sentKey, suggested }: SetupProps) {
  const { row } = of
  const title = vendorTitle(row.vendor)
  const guide = guideOf(row.vendor)
  const hasSecret = row.secrets.length > 0
  const local = isLocal(c)
  // The user does both in one visit to the vendor, so both steps are current until the secret is stored.
  const entering = hasSecret ? 'done' : 'current'
  return (
    <Steps>
      <Step state={entering} title={`Add a webhook at ${title}`} level="h2">
        {local && !hasSecret && <NotReachable c={c} row={row} guide={guide} />}
        {!hasSecret && <SetUpForm c={c} row={row} sent={sentKey} label="Create the endpoint with a key" />}
        <p>{local ? 'The ingest URL of this connection:' : 'Enter this ingest URL there:'}</p>
        <IngestUrl c={c} row={row} />
        {(hasSecret || local) && <Guidance vendor={row.vendor} />}
        {!hasSecret && !local && guide && (
          <>
            <AtVendor guide={guide} title={title} />
            {guide.chosen && can(c, 'connections:write') && <Random what={guide.chosen} secret={suggested} />}
          </>
        )}
      </Step>
      <Step state={entering} title="Enter the signing secret" level="h2">
        {hasSecret ? (
          <p class="quiet">The secret is stored encrypted. It verifies every delivery.</p>
        ) : (
          <EnterSecret c={c} of={of} guide={guide} mistakes={mistakes} />
        )}
      </Step>
      {row.vendor === 'hmac' && <Describe c={c} row={row} />}
      {hasSecret ? (
        <FirstDelivery c={c} of={of} mistakes={mistakesOfTest} />
      ) : (
        <Step state={row.last_event_id === null ? 'later' : 'done'} title={FIRST} level="h2">
          <p class="quiet">This page shows it as soon as it arrives.</p>
        </Step>
      )}
    </Steps>
  )
}

/** The steps at the vendor, to look up later. */
export function Guidance({ vendor }: { vendor: string }) {
  const guide = guideOf(vendor)
  const title = vendorTitle(vendor)
  if (!guide) return null
  return (
    <details>
      <summary>How to send {title}’s events here</summary>
      <AtVendor guide={guide} title={title} />
    </details>
  )
}

/** What to do at the vendor. */
function AtVendor({ guide, title }: { guide: Guide; title: string }) {
  return (
    <>
      <ol class="guide">
        {guide.steps.map((step) => (
          <li>{step}</li>
        ))}
      </ol>
      <p class="quiet">
        <a href={guide.docs} target="_blank" rel="noreferrer">
          {title}’s own instructions<span class="unseen"> (opens in a new tab)</span>
        </a>
      </p>
    </>
  )
}

/** A secret for a webhook whose secret the user chooses. */
function Random({ what, secret }: { what: string; secret: string }) {
  return (
    <>
      <p>You choose the {what}. Here is a long random one:</p>
      <Copyable id="suggested" label="random secret">
        {secret}
      </Copyable>
    </>
  )
}

/** The step that says how a sender signs. */
function Describe({ c, row }: { c: Visit; row: ConnectionRow }) {
  return (
    <Step state={row.verification ? 'done' : 'current'} title="Set how the sender signs" level="h2">
      {row.verification ? (
        <p class="quiet">The verification is set.</p>
      ) : (
        <>
          <p>Until then, the connection refuses every delivery.</p>
          {can(c, 'connections:write') && (
            <a class="button primary" href={`${connectionPath(c, row)}/verification`}>
              Set verification
            </a>
          )}
        </>
      )}
    </Step>
  )
}

type EnterProps = {
  c: Visit
  of: ShownConnection
  guide: Guide | null
  mistakes: Mistakes
}

function EnterSecret({ c, of: { row, example }, guide, mistakes }: EnterProps) {
  if (!can(c, 'connections:write'))
    return <p class="quiet">Ask {whoMay('connections:write')} of this project to enter it.</p>
  return (
    <>
      {example === null ? guide && <p>{guide.where}</p> : <TrySecret guide={guide} secret={example} />}
      <Post c={c} to={`${connectionPath(c, row)}/secrets`} class="form">
        <SecretField mistakes={mistakes} vendor={row.vendor} />
        <Wrong>{mistakes.form}</Wrong>
        <button type="submit" class="primary">
          Save secret
        </button>
      </Post>
    </>
  )
}

/** The address to give the vendor, to copy. */
export function IngestUrl({ c, row }: { c: Visit; row: ConnectionRow }) {
  return (
    <>
      <Copyable id="ingest-url" label="ingest URL">
        {ingestUrl(c, row.id)}
      </Copyable>
      {publicOrigin(c) === null && (
        <p class="warning" role="note">
          This is only the path. The operator of this deployment must set <code>PUBLIC_ORIGIN</code> to its public
          address.
        </p>
      )}
    </>
  )
}
