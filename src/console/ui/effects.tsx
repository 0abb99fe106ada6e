import type { Effect } from '../../billing/effect'
import { projectPaths } from '../paths'
import { Badge } from './badge'
import { words } from './format'
import { Table } from './table'

const PARTS = { subscription: 'subscriptions', invoice: 'invoices', payment_method: 'payment-methods' }

/** The changes that an event made, or would make, to the billing state. */
export function Effects({ of, project }: { of: readonly Effect[]; project: string }) {
  if (of.length === 0) return <p class="quiet">None.</p>
  const { billing } = projectPaths(project)
  return (
    <Table
      label="Effects"
      rows={of}
      columns={[
        ['Kind', ({ kind }) => kind],
        [
          'ID',
          ({ kind, id }) => (
            // A card has no link: after a one-off payment there is often no payment method to show.
            <a href={kind === 'payment_card' ? undefined : `${billing}/${PARTS[kind]}/${encodeURIComponent(id)}`}>
              <code>{id}</code>
            </a>
          ),
        ],
        ['Result', ({ result }) => <Badge of={result} />],
        ['Change', ({ change }) => <Changes of={change} />],
      ]}
    />
  )
}

/** Changed fields with their old and new values. */
export function Changes({ of }: { of: Effect['change'] | undefined }) {
  if (!of) return <span class="quiet">None</span>
  return (
    <ul class="changes">
      {Object.entries(of).map(([field, { from, to, too_large }]) => (
        <li>
          {field}: {too_large ? 'changed; too large to be shown here' : `${short(from)} → ${short(to)}`}
        </li>
      ))}
    </ul>
  )
}

function short(value: unknown): string {
  const text = words(value)
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
