import { StartBody } from '../../../inbox/imports/fields'
import { INVOICE_MONTHS, MAX_INVOICE_MONTHS } from '../../../inbox/imports/limits'
import type { RunRow } from '../../../inbox/imports/runs'
import type { KindProgress, RunError } from '../../../inbox/imports/schema'
import { vendorOf } from '../../../vendors'
import { LISTED_KINDS, type ListedKind } from '../../../vendors/calls'
import { choice, form, number } from '../../form'
import { can, type Visit } from '../../page'
import type { Mistakes } from '../../refusal'
import { Badge } from '../../ui/badge'
import { Post, Wrong } from '../../ui/controls'
import { sentence } from '../../ui/format'
import { live, Time } from '../../ui/parts'
import { Table } from '../../ui/table'
import { vendorTitle } from '../../ui/vendor-titles'
import { connectionPath } from './describe'
import type { ShownConnection } from './read'

const WHAT = [
  [LISTED_KINDS.join(), 'Customers, subscriptions, invoices, payment methods and prices'],
  ['customers,subscriptions', 'Customers and subscriptions'],
  ['invoices', 'Invoices'],
  ['payment_methods', 'Payment methods'],
  ['prices', 'Prices and products'],
] as const

const METHODS = [
  ['default', 'Only those used for subscriptions'],
  ['all', 'All of every customer'],
] as const

export const IMPORT = form(StartBody, {
  kinds: { ...choice('What', WHAT, { required: true }), read: (sent) => sent.split(',') },
  invoice_months: number('Months of invoices', {
    required: true,
    hint: `0 to ${MAX_INVOICE_MONTHS}. Older invoices are skipped.`,
  }),
  payment_methods: choice('Payment methods', METHODS, {
    required: true,
    hint: 'Reading all of them takes one request per customer.',
  }),
})

/** Why an import waits, or has ended before it was done. */
const WHY: Record<RunError, string> = {
  rate_limited: 'The vendor limited the rate of our requests.',
  vendor_unavailable: 'The vendor did not send a usable response.',
  vendor_refused: 'The vendor rejected the request.',
  api_key_refused: 'The vendor no longer accepts the API key. Replace it.',
  api_key_removed: 'The API key was removed.',
  encryption_key_unavailable: 'The service cannot decrypt the API key. Tell the people who run the service.',
  database_filling: 'The database is too full for an import. Tell the people who run the service.',
}

type Props = { c: Visit; of: ShownConnection; mistakes: Mistakes }

/** The newest import of a connection with an API key: how far it is; and a form to start one. */
export function Imports({ c, of: { row, key, run }, mistakes }: Props) {
  if (!run && !(key && vendorOf(row.vendor)?.api?.imports)) return null
  const isOpen = run !== null && run.finished_at === null
  return (
    <div id="import" {...(isOpen && live('import', connectionPath(c, row), '3s'))}>
      <h2>Import</h2>
      <p class="quiet">
        An import reads the account at {vendorTitle(row.vendor)} page by page, and records what is new.
      </p>
      {run && <Progress c={c} run={run} />}
      {isOpen && can(c, 'connections:write') && (
        <Post c={c} to={`${connectionPath(c, row)}/imports/${run.id}/cancel`}>
          <button type="submit">Cancel import</button>
        </Post>
      )}
      {!isOpen && key && can(c, 'connections:write') && <Start c={c} row={row} mistakes={mistakes} />}
    </div>
  )
}

function Progress({ c, run }: { c: Visit; run: RunRow }) {
  const { now } = c.get('rt')
  const { state, error, waiting_until, created_at, finished_at } = run
  return (
    <>
      <p>
        <Badge of={state} /> started <Time at={created_at} now={now} />
        {finished_at !== null && (
          <>
            , ended <Time at={finished_at} now={now} />
          </>
        )}
        {waiting_until !== null && (
          <>
            , continues <Time at={waiting_until} now={now} />
          </>
        )}
      </p>
      {error && (
        <p class="warning" role="note">
          {WHY[error]}
        </p>
      )}
      <Table
        label="Progress of the import"
        rows={Object.entries(run.kinds) as [ListedKind, KindProgress][]}
        columns={[
          ['What', ([kind]) => sentence(kind).replace(/\.$/, '')],
          ['State', ([, { state }]) => <Badge of={state} />],
          ['Read', ([, { seen }]) => seen.toLocaleString('en'), 'number'],
          ['New', ([, { recorded }]) => recorded.toLocaleString('en'), 'number'],
          ['Already recorded', ([, { unchanged }]) => unchanged.toLocaleString('en'), 'number'],
          ['Skipped', ([, { left_out = 0 }]) => left_out.toLocaleString('en'), 'number'],
        ]}
      />
    </>
  )
}

function Start({ c, row, mistakes }: { c: Visit; row: ShownConnection['row']; mistakes: Mistakes }) {
  const entered = IMPORT.opened({ kinds: LISTED_KINDS, invoice_months: INVOICE_MONTHS, payment_methods: 'default' })
  return (
    <details class="more-form" open={Object.keys(mistakes).length > 0}>
      <summary>Start an import</summary>
      <p>If the last import failed or was canceled less than a week ago, the new one continues from there.</p>
      <Post c={c} to={`${connectionPath(c, row)}/imports`} class="form">
        {IMPORT.field('kinds', { mistakes, entered })}
        {IMPORT.field('invoice_months', { mistakes, entered })}
        {IMPORT.field('payment_methods', { mistakes, entered })}
        <Wrong>{mistakes.form}</Wrong>
        <button type="submit">Start import</button>
      </Post>
    </details>
  )
}
