import type { CustomerKey } from '../../../billing/customers/read'
import { customerNamed, keyIn, keyOf } from '../../../consumers/customer-fields'
import { CreateConsumerBody } from '../../../consumers/fields'
import { pinCustomer, pinToNobody } from '../../../consumers/pins'
import { insertConsumer } from '../../../consumers/put'
import { type Consumer, isConsumer, listConsumers } from '../../../consumers/read'
import { batch } from '../../../db/client'
import { changeOf, projectOf } from '../../../http/auth'
import { Fault } from '../../../lib/fault'
import { action } from '../../action'
import { chosenIn } from '../../list'
import { pathsOf, type Visit } from '../../page'
import { Refused } from '../../refusal'
import { NothingChosen } from '../../ui/choosing'
import { plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Email } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { titleOf } from '../consumers/parts'
import { isLiving } from '../consumers/read'
import { CustomerName } from './list'
import { isWaiting, LISTED, readCustomers, type ShownCustomer } from './read'

/** What is to be done with a customer: link it to the only consumer that has its email address, or to a new one. */
type Planned = { of: ShownCustomer; to: Consumer | null }
type Chosen = { planned: Planned[] /** How many are linked or settled by now. */; left: number }

/** In the form: a new consumer. */
const NEW = 'new'
/** Consumers that are created, or linked to, at the same time. */
const GROUPS_AT_ONCE = 5

/** The customers that were chosen, up to a page of them. @throws {Fault} `not_found` for a key that names none */
function customersIn(c: Visit): CustomerKey[] {
  return chosenIn(c)
    .slice(0, LISTED)
    .map((id) => {
      const key = keyIn(id)
      return customerNamed(key.vendor, key.id)
    })
}

async function readChosen(c: Visit): Promise<Chosen> {
  const { db } = c.get('rt')
  const project = projectOf(c.get('actor'))
  const all = await readCustomers(c, customersIn(c))
  const open = all.filter(isWaiting)
  const statements = open.map(({ email }, at) => {
    const query = listConsumers(db, project, { email: (email ?? '').toLowerCase() }, { before: null, take: 2 })
    return [at, query] as const
  })
  if (statements.length === 0) return { planned: [], left: all.length }
  const found = await batch(db, Object.fromEntries(statements))
  const planned = open.map((of, at) => {
    const same = (of.email === null ? [] : (found[at] ?? [])).filter(isConsumer).filter(isLiving)
    // Of two with the same address, nobody knows which one it is.
    return { of, to: same.length === 1 ? (same[0] as Consumer) : null }
  })
  return { planned, left: all.length - open.length }
}

/** Links the customers that were ticked in the list, each to the consumer that the page has named, or says that they have none. */
export const linkChosen = action({
  at: '/link',
  needs: 'consumers:write',
  counted: { costly: true }, // for as many customers as a page has
  read: readChosen,
  ask: (c, { planned, left }, { status }) => {
    const above = ['Unlinked customers', pathsOf(c).unlinked] as const
    const view = { title: 'Link customers', section: 'unlinked', above } as const
    if (planned.length === 0) {
      return show(
        c,
        { ...view, status },
        <NothingChosen title="No customers to link" what="customers" back={above[1]}>
          <Left n={left} />
        </NothingChosen>,
      )
    }
    return {
      ...view,
      question: `Link ${plural(planned.length, 'customer')}?`,
      says: <Plan c={c} rows={planned} left={left} />,
      choice: <Choice rows={planned} />,
      verb: 'Continue',
    }
  },
  run: async (c) => {
    const form = c.get('form')
    const isNobody = form.get('as') === 'nobody'
    const shown = new Map(form.getAll('id').map((id, at) => [id, form.getAll('to')[at] ?? NEW]))
    const open = (await readCustomers(c, customersIn(c))).filter(isWaiting)
    const toOf = (of: ShownCustomer) => shown.get(keyOf(of.link)) ?? NEW
    // Customers of one person must not become two consumers.
    const groups = Map.groupBy(open, (of) => (isNobody ? keyOf(of.link) : toOf(of) === NEW ? personOf(of) : toOf(of)))
    const faults = await inTurns([...groups.values()], (rows) =>
      isNobody ? toNobody(c, rows) : linkTo(c, rows, toOf(rows[0] as ShownCustomer)),
    )
    if (faults.length === groups.size) {
      throw new Refused({ form: faults[0]?.message ?? 'The selected customers are linked already.' }, 409)
    }
    return { isAll: faults.length === 0 && open.length === shown.size, isNobody }
  },
  done: (c, { isAll, isNobody }) => {
    const all = isNobody ? 'chosen_customers_without_consumer' : 'chosen_customers_linked'
    return [pathsOf(c).unlinked, isAll ? all : 'chosen_customers_changed_partly']
  },
})

/** What tells that two customers are one person. */
function personOf({ link, email }: ShownCustomer): string {
  return link.external_id ?? email?.toLowerCase() ?? keyOf(link)
}

type Rows = readonly ShownCustomer[]

/** Does it with a few groups at a time. @returns why it was refused, for each of which it was */
async function inTurns(groups: readonly Rows[], run: (rows: Rows) => Promise<void>): Promise<Fault[]> {
  const faults: Fault[] = []
  for (let at = 0; at < groups.length; at += GROUPS_AT_ONCE) {
    const results = await Promise.allSettled(groups.slice(at, at + GROUPS_AT_ONCE).map(run))
    for (const result of results) {
      if (result.status === 'fulfilled') continue
      if (!(result.reason instanceof Fault)) throw result.reason
      faults.push(result.reason)
    }
  }
  return faults
}

async function toNobody(c: Visit, rows: Rows): Promise<void> {
  for (const { link } of rows) await pinToNobody(c.get('rt').db, customerOf(c, link), changeOf(c))
}

/** @param to the id of a consumer, or {@link NEW} */
async function linkTo(c: Visit, rows: Rows, to: string): Promise<void> {
  const { db } = c.get('rt')
  const isNew = to === NEW
  const body = bodyOf(rows[0] as ShownCustomer)
  const id = isNew ? (await insertConsumer(db, projectOf(c.get('actor')), body, changeOf(c))).id : to
  for (const { link } of rows) {
    // Events that name the id of a new consumer link the customer by themselves.
    if (!isNew || link.external_id === null) await pinCustomer(db, customerOf(c, link), { id }, changeOf(c))
  }
}

const customerOf = (c: Visit, { vendor, id }: CustomerKey) => ({
  project_id: projectOf(c.get('actor')),
  customer: { vendor, id },
})

/** What is known of the customer, and what a consumer can have of it. */
function bodyOf({ link, email, name }: ShownCustomer) {
  const { shape } = CreateConsumerBody
  const known = { external_id: link.external_id, email, name }
  const fits = ([field, value]: [string, unknown]) =>
    value !== null && shape[field as keyof typeof known].safeParse(value).success
  return CreateConsumerBody.parse(Object.fromEntries(Object.entries(known).filter(fits)))
}

/** The chosen customers that stay as they are, and why. */
function Left({ n }: { n: number }) {
  return n > 0 && <p>Linked already, or marked as having no consumer: {plural(n, 'selected customer')}.</p>
}

function Plan({ c, rows, left }: { c: Visit; rows: readonly Planned[]; left: number }) {
  return (
    <>
      <Left n={left} />
      <Table label="What happens" columns={planColumns(c)} rows={rows} class="consumers" />
    </>
  )
}

const planColumns = (c: Visit): Column<Planned>[] => [
  ['Customer', ({ of }) => <CustomerName c={c} of={of} />],
  ['Email address', ({ of: { email } }) => email && <Email of={email} />],
  ['Consumer', ({ of, to }) => (to ? <Existing c={c} to={to} /> : <New of={of} />)],
]

function Existing({ c, to }: { c: Visit; to: Consumer }) {
  return (
    <>
      <a href={`${pathsOf(c).consumers}/${to.id}`}>{titleOf(to)}</a>
      <span class="line quiet">has the same email address</span>
    </>
  )
}

function New({ of }: { of: ShownCustomer }) {
  const { external_id } = bodyOf(of)
  return (
    <>
      A new consumer
      {external_id !== undefined && (
        <>
          {' '}
          with the ID <code>{external_id}</code>
        </>
      )}
    </>
  )
}

function Choice({ rows }: { rows: readonly Planned[] }) {
  return (
    <>
      {rows.map(({ of, to }) => (
        <>
          <input type="hidden" name="id" value={keyOf(of.link)} autocomplete="off" />
          <input type="hidden" name="to" value={to?.id ?? NEW} autocomplete="off" />
        </>
      ))}
      <fieldset>
        <legend>What do you want to do?</legend>
        <label class="option">
          <input type="radio" name="as" value="consumer" checked />
          <span>
            <strong>Link</strong> <span class="quiet">Each customer to the consumer shown.</span>
          </span>
        </label>
        <label class="option">
          <input type="radio" name="as" value="nobody" />
          <span>
            <strong>Mark as having no consumer</strong>{' '}
            <span class="quiet">All of them. For test purchases, for example.</span>
          </span>
        </label>
      </fieldset>
    </>
  )
}
