import type { Child } from 'hono/jsx'
import { amountIn, isYear, labelOf, modeWord, priceOf, timeOf, words } from '../../ui/format'
import { Id, NamedId } from '../../ui/id'
import { ExactTime, Fact, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { isOfVendor } from '../../ui/vendor-titles'

type Row = Record<string, unknown>

/** `now` in ms; `currency` of the object's amounts. */
type Around = { now: number; currency: string | null }

const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/
const ADDRESS = /^https?:\/\//

type ValueProps = {
  name: string
  value: unknown
  label?: string | undefined
  /** Whether a time is as in a list: how far away it is. */
  brief?: boolean
  /** The path of the page of the object that the value names. */
  to?: string | undefined
  /** What that object is called, if that is known. */
  title?: string | undefined
}

/** A field of an object as a term and its value. A field without a value is not shown. */
export function Value({ name, value, label = labelOf(name), brief, to, title, ...around }: ValueProps & Around) {
  if (value === null || value === undefined || (Array.isArray(value) && value.length === 0)) return null
  if (name === 'livemode') return <Fact name={label}>{modeWord(value === true)}</Fact>
  if (to !== undefined) {
    return (
      <Fact name={label}>
        <NamedId to={to} title={title} id={String(value)} />
      </Fact>
    )
  }
  const at = brief && typeof value === 'string' ? timeOf(value) : null
  return <Fact name={label}>{at === null ? shown(name, value, around) : <Time at={at} now={around.now} />}</Fact>
}

function shown(name: string, value: unknown, { now, currency }: Around): Child {
  if (typeof value === 'boolean') return value ? 'Yes' : 'No'
  if (typeof value === 'string' && TIME.test(value)) return <ExactTime at={timeOf(value)} now={now} />
  if (typeof value === 'string' && ADDRESS.test(value)) return <Address of={value} />
  if (typeof value === 'string' && /^[a-z]{2,8}_\w+$/.test(value)) return <Id>{value}</Id>
  if (isPlain(value)) return <Parted of={value} />
  return amountIn(name, value, currency) ?? words(value)
}

/** An address that came with an event. Only a page of the vendor is a link. */
function Address({ of }: { of: string }) {
  const url = URL.parse(of)
  if (!url || !isOfVendor(url)) {
    return (
      <>
        <code>{of}</code> <span class="quiet">(not on the vendor’s own domain: check it before you open it)</span>
      </>
    )
  }
  return (
    <a href={of} rel="noreferrer" target="_blank">
      Open at {url.hostname}
    </a>
  )
}

const isPlain = (value: unknown): value is Row => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value with parts, such as a card: each part that has a value, on its own line. */
function Parted({ of }: { of: Row }) {
  return (
    <ul class="changes">
      {Object.entries(of).map(
        ([name, part]) =>
          part !== null && (
            <li>
              <span class="quiet">{labelOf(name)}:</span> {isYear(name) ? String(part) : words(part)}
            </li>
          ),
      )}
    </ul>
  )
}

/** The parts of a subscription or of an invoice: what is paid for, how often, and for how much. */
export function BillingParts({
  label,
  rows,
  currency,
  planOf,
  gives,
}: {
  label: string
  rows: readonly Row[]
  currency: string | null
  planOf: (row: Row) => Child
  /** The column of what each of them gives. */
  gives?: Column<Row> | null | undefined
}) {
  const all: Column<Row>[] = [
    [
      'What',
      (row) => (
        <span class="text">{words(row.description ?? row.price_name ?? row.product ?? row.price ?? row.id)}</span>
      ),
    ],
    ['Plan', planOf],
    ...(gives ? [gives] : []),
    ['Price', ({ price }) => (price ? <code>{words(price)}</code> : '')],
    ['Quantity', ({ quantity }) => words(quantity), 'number'],
    ['Returned', ({ quantity_returned }) => words(quantity_returned), 'number'],
    ['Amount', (row) => priceOf(row, currency) ?? words(row.amount_decimal), 'number'],
    ['Usage', ({ usage_type }) => words(usage_type)],
    ['Tax', ({ tax }) => amountIn('tax', tax, currency) ?? '', 'number'],
    ['Period', (row) => periodOf(row)],
  ]
  // Only columns that some row has a value for.
  const has: Record<string, (row: Row) => boolean> = {
    Plan: (row) => Boolean(planOf(row)),
    Price: ({ price }) => Boolean(price),
    Returned: ({ quantity_returned }) => typeof quantity_returned === 'number',
    Usage: ({ usage_type }) => Boolean(usage_type),
    Tax: ({ tax }) => typeof tax === 'number',
    Period: (row) => periodOf(row) !== '',
  }
  return (
    <Table
      label={label}
      rows={rows}
      columns={all.filter(([head]) => has[head] === undefined || rows.some(has[head]))}
    />
  )
}

/** `2026-05-04 to 2026-06-04`, in UTC. */
function periodOf(row: Row): string {
  const from = row.period_start ?? row.current_period_start
  const to = row.period_end ?? row.current_period_end
  if (typeof from !== 'string' || typeof to !== 'string') return ''
  return `${from.slice(0, 10)} to ${to.slice(0, 10)}`
}
