import type { ConnectionRow } from '../../../inbox/connections/connection'
import { MAX_RELEASED } from '../../../inbox/connections/limits'
import { isReleasing } from '../../../inbox/connections/present'
import { vendorOf } from '../../../vendors'
import { can, pathsOf, type Visit } from '../../page'
import type { Sent } from '../../refusal'
import { Post, Wrong } from '../../ui/controls'
import { Jumps, type Part } from '../../ui/jumps'
import { show } from '../../ui/layout'
import { Head, Time } from '../../ui/parts'
import { vendorTitle } from '../../ui/vendor-titles'
import { ApiKey } from './api-key'
import { CHANGED_CONNECTION, ModeField } from './connect'
import { connectionPath, heldWords } from './describe'
import { Diagnoses } from './diagnoses'
import { EndpointAtVendor } from './endpoint'
import { ConnectionStanding, Facts } from './facts'
import { FormatSection } from './format'
import { Imports } from './imports'
import type { ShownConnection } from './read'
import { ConnectionRefusals } from './refusals'
import { Secrets } from './secrets'
import { Guidance, IngestUrl, Setup } from './setup'
import { hasTestEvents, TestEvent } from './test-event'
import { VerificationSummary } from './verification'

/**
 * A connection. Until it has received its first event, the page begins with what is left to do.
 *
 * @param suggested a secret for vendors that sign with one that you choose
 */
export function inboxConnectionPage(c: Visit, of: ShownConnection & { suggested: string }, sent: Sent) {
  const { status, entered } = sent
  // Each form on the page shows only its own mistakes.
  const mistakesOf = (field: string) => (entered?.has(field) ? sent.mistakes : {})
  const settingEndpoint: Sent = { ...sent, mistakes: mistakesOf('write_key') }
  const { row, names, suggested } = of
  const { connections, events } = pathsOf(c)
  const isNew = row.last_event_id === null
  const settingUp = isNew || row.secrets.length === 0
  return show(
    c,
    { title: row.name, section: 'connections', status, above: ['Connections', connections] },
    <>
      <Head
        title={
          <>
            {row.name} <ConnectionStanding row={row} />
          </>
        }
      >
        {!isNew && (
          <a class="button" href={`${events}?connection_id=${row.id}`}>
            View events
          </a>
        )}
      </Head>
      {!settingUp && <Jumps to={partsOf(c, of)} />}
      {row.status === 'disabled' && (
        <p class="warning" role="note">
          This connection is disabled and refuses every delivery.
        </p>
      )}
      <Held c={c} of={of} />
      {settingUp ? (
        <Setup
          c={c}
          of={of}
          mistakes={mistakesOf('signing_secret')}
          mistakesOfTest={mistakesOf('sample')}
          sentKey={settingEndpoint}
          suggested={suggested}
        />
      ) : (
        <>
          <h2>Ingest URL</h2>
          <IngestUrl c={c} row={row} />
          <Guidance vendor={row.vendor} />
        </>
      )}
      <TestEvent c={c} of={of} mistakes={mistakesOf('sample')} />
      {(row.verification || !settingUp) && <VerificationSummary c={c} row={row} />}
      <h2 id="details">Details</h2>
      <Facts c={c} of={of} />
      {!isNew && <ConnectionRefusals c={c} of={of} />}
      <Diagnoses c={c} of={of} />
      <FormatSection c={c} of={of} />
      {row.secrets.length > 0 && <Secrets c={c} row={row} names={names} mistakes={mistakesOf('signing_secret')} />}
      {row.secrets.length > 0 && (
        <EndpointAtVendor c={c} of={of} sent={settingEndpoint} mistakesOfCheck={mistakesOf('check')} />
      )}
      <ApiKey c={c} of={of} mistakes={mistakesOf('api_key')} />
      <Imports c={c} of={of} mistakes={mistakesOf('invoice_months')} />
      {can(c, 'connections:write') && <Settings c={c} row={row} sent={{ ...sent, mistakes: mistakesOf('name') }} />}
    </>,
  )
}

/** The parts of the page of a connection that is set up. */
function partsOf(c: Visit, { row, formats, key, run }: ShownConnection): Part[] {
  const { api, endpoints } = vendorOf(row.vendor) ?? {}
  const all: [...Part, isShown: boolean][] = [
    ['test-event', 'Test event', hasTestEvents(c, row)],
    ['details', 'Details', true],
    ['refused', 'Refused deliveries', true],
    ['format', 'Format', formats.length > 0],
    ['secrets', 'Signing secrets', true],
    ['endpoint', 'Webhook endpoint', endpoints !== undefined],
    ['api-key', 'API key', api !== undefined],
    ['import', 'Import', run !== null || (key !== null && api?.imports !== undefined)],
    ['settings', 'Settings', can(c, 'connections:write')],
  ]
  return all.flatMap(([id, label, isShown]) => (isShown ? [[id, label] as const] : []))
}

const ENDS = {
  active: 'Pause, disable or delete',
  paused: 'Resume, disable or delete',
  disabled: 'Enable or delete',
} as const

/** Resumes a paused connection, or enables a disabled one. */
function Activate({ c, row }: { c: Visit; row: ConnectionRow }) {
  return (
    <Post c={c} to={connectionPath(c, row)}>
      <input type="hidden" name="status" value="active" />
      <button type="submit" class="primary">
        {row.status === 'paused' ? 'Resume' : 'Enable'}
      </button>
    </Post>
  )
}

/** Says that the connection is paused, or how many events are still to be released. */
function Held({ c, of: { row, held } }: { c: Visit; of: ShownConnection }) {
  const count =
    held === 0 ? null : <a href={`${pathsOf(c).events}?connection_id=${row.id}&status=held`}>{heldWords(held, held)}</a>
  if (row.status === 'paused')
    return (
      <section class="warning" role="note">
        <p>
          This connection was paused <Time at={row.paused_at} now={c.get('rt').now} />. Deliveries are recorded but not
          processed. {count && <>{count} until you resume the connection.</>}
        </p>
        {can(c, 'connections:write') && <Activate c={c} row={row} />}
      </section>
    )
  if (!isReleasing(row) || !count) return null
  return (
    <p class="notice" role="status">
      {count}, and {held === 1 ? 'is' : 'are'} being released: the oldest first, up to{' '}
      {MAX_RELEASED.toLocaleString('en')} a minute.
    </p>
  )
}

type SettingsProps = { c: Visit; row: ConnectionRow; sent: Sent }

/** Changes, pauses, resumes, disables, enables or deletes a connection. */
function Settings({ c, row, sent: { entered, mistakes } }: SettingsProps) {
  // The forms that add a secret or set a key have no name.
  const filled = entered?.has('name') ? entered : CHANGED_CONNECTION.opened(row)
  const at = connectionPath(c, row)
  const { status } = row
  return (
    <>
      <h2 id="settings">Settings</h2>
      <Post c={c} to={at} class="form">
        {CHANGED_CONNECTION.field('name', { mistakes, entered: filled })}
        <ModeField title={vendorTitle(row.vendor)} value={String(row.livemode)} mistakes={mistakes}>
          <p class="hint">
            A change also applies to events that are already stored, and to billing state from the next event on.
          </p>
        </ModeField>
        {vendorOf(row.vendor)?.takesCustomerIds &&
          CHANGED_CONNECTION.field('customer_is_external_id', { mistakes, entered: filled })}
        <Wrong>{mistakes.form}</Wrong>
        <button type="submit">Save</button>
      </Post>
      <h2>{ENDS[status]}</h2>
      <p class="quiet">
        {status === 'disabled'
          ? 'This connection is disabled and refuses every delivery.'
          : 'A paused connection records deliveries, and processes them once you resume it. A disabled connection refuses deliveries until you enable it again. A deleted connection cannot be restored, but its events stay.'}
      </p>
      <div class="choice">
        {status === 'active' && (
          <a class="button" href={`${at}/pause`} data-dialog>
            Pause
          </a>
        )}
        {status !== 'disabled' && (
          <a class="button" href={`${at}/disable`} data-dialog>
            Disable
          </a>
        )}
        {status !== 'active' && <Activate c={c} row={row} />}
        <a class="button danger" href={`${at}/delete`} data-dialog>
          Delete connection
        </a>
      </div>
    </>
  )
}
