import type { Child } from 'hono/jsx'
import { type CalledCustomer, findNumbered, listCalled } from '../../../billing/customers/called'
import type { Consumer } from '../../../consumers/read'
import { NAMES_CONSUMER } from '../../../consumers/ref'
import { batch } from '../../../db/client'
import { projectOf } from '../../../http/auth'
import type { ObjectKind } from '../../../lib/billing-kinds'
import { changed } from '../../list'
import { can, pathsOf, type Visit } from '../../page'
import { Id } from '../../ui/id'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { EMAIL_COLUMN, Table } from '../../ui/table'
import { vendorTitle } from '../../ui/vendor-titles'
import { findTyped } from '../consumers/find'
import { Choices, titleOf } from '../consumers/parts'
import { Box } from './narrow'
import type { ObjectList } from './object-list'

/** The most customers to choose from. */
const CUSTOMERS = 10

/** What a text can mean. `more`: there are others. */
type Ambiguous = { consumers: Consumer[]; customers: CalledCustomer[]; more: boolean }
/** What a text in the search box of a list stands for: one object, the list of one owner, or several owners to choose from. */
export type Meant =
  | { object: { id: string; vendor: string } }
  | { filter: Record<string, string | null> }
  | { choices: Ambiguous }

const owner = (name: 'consumer' | 'customer', id: string) => ({
  filter: { consumer: null, customer: null, [name]: id },
})

/**
 * Finds what a typed text can mean: first the consumers, then the object with this number, then the customers. A text that means none of them
 * is taken as the vendor's id of a customer.
 */
export async function meantBy(c: Visit, kind: ObjectKind, text: string): Promise<Meant> {
  if (NAMES_CONSUMER.test(text)) return owner('consumer', text)
  if (!can(c, 'consumers:read')) return meantOther(c, kind, text)
  const { found, exact, more } = await findTyped(c, text)
  const [one, another] = found
  if (!one) return meantOther(c, kind, text)
  // The text can be the whole id of a customer, and only the beginning of a consumer's.
  const isSure = exact || !one.external_ids.some((id) => id.startsWith(text))
  return !another && isSure ? owner('consumer', one.id) : { choices: { consumers: found, customers: [], more } }
}

/** Finds the object with this number, or the customers whose name or email address a text begins. */
async function meantOther(c: Visit, kind: ObjectKind, text: string): Promise<Meant> {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const { numbered, found } = await batch(db, {
    numbered: findNumbered(db, project, kind, text),
    found: listCalled(db, project, text, CUSTOMERS + 1),
  })
  const [object, second] = numbered
  if (object && !second) return { object }
  const [one, another] = found
  if (!another) return owner('customer', one?.id ?? text)
  return { choices: { consumers: [], customers: found.slice(0, CUSTOMERS), more: found.length > CUSTOMERS } }
}

type Props<K extends ObjectKind> = {
  list: ObjectList<K>
  query: URLSearchParams
  text: string
  choices: Ambiguous
}

/** Asks which of several consumers or customers the list is for. */
export function choosePage<K extends ObjectKind>(c: Visit, { list, query, text, choices }: Props<K>) {
  const { path, title } = list
  const to = (owner: Record<string, string>) =>
    `${pathsOf(c).billing}/${path}${changed(query, { consumer: null, customer: null, ...owner })}`
  return show(
    c,
    { title, section: path },
    <>
      <Head title={title} />
      <Box c={c} list={list} address={query} text={text} />
      {choices.consumers.length > 0 ? (
        <Choices
          c={c}
          rows={choices.consumers}
          more={choices.more}
          choose={(row) => <Show to={to({ consumer: row.id })} what={titleOf(row)} />}
        />
      ) : (
        <Customers {...choices} choose={({ id, name }) => <Show to={to({ customer: id })} what={name ?? id} />} />
      )}
      <p>
        Or <a href={to({ customer: text })}>show the customer with the vendor’s ID “{text}”</a>.
      </p>
    </>,
  )
}

const Show = ({ to, what }: { to: string; what: string }) => (
  <a class="button" href={to}>
    Show<span class="unseen"> {what}</span>
  </a>
)

function Customers({
  customers,
  more,
  choose,
}: Omit<Ambiguous, 'consumers'> & { choose: (row: CalledCustomer) => Child }) {
  return (
    <>
      <p>Several customers match. Choose one:</p>
      <Table<CalledCustomer>
        label="Customers that match"
        rows={customers}
        columns={[
          ['Customer', ({ name }) => <span class="name">{name}</span>],
          EMAIL_COLUMN,
          ['ID', ({ id }) => <Id>{id}</Id>],
          ['Vendor', ({ vendor }) => vendorTitle(vendor)],
          ['', choose],
        ]}
      />
      {more && <p>Only the first {customers.length} are listed. Enter more letters to find others.</p>}
    </>
  )
}
