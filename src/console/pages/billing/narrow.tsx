import type { PropsWithChildren } from 'hono/jsx'
import type { CalledPlan } from '../../../catalog/plans'
import type { ObjectKind } from '../../../lib/billing-kinds'
import { changed } from '../../list'
import { pathsOf, type Visit } from '../../page'
import { ColumnsMenu } from '../../ui/columns'
import { Field, Select } from '../../ui/controls'
import {
  type ActiveFilter,
  ActiveFilters,
  FilterChips,
  FilterField,
  FilterMenu,
  spanWord,
  TimeMenu,
} from '../../ui/filters'
import { Finder } from '../../ui/finder'
import { asWords, exact, timeOf } from '../../ui/format'
import type { Column } from '../../ui/table'
import { SPANS, TIMES } from './find'
import type { ObjectList } from './object-list'

type NarrowProps<K extends ObjectKind, Row> = {
  c: Visit
  list: ObjectList<K>
  address: URLSearchParams
  /** The columns that can be hidden; null without rows. */
  columns: readonly Column<Row>[] | null
  /** What the customer or the consumer in the address is called; undefined if that is not known. */
  name: string | undefined
  /** The plans to filter by. */
  plans: readonly CalledPlan[]
}

/** Finds the objects of one customer, and narrows the list: by status, by time, by plan, and by missing renewals. */
export function Narrow<K extends ObjectKind, Row>({ c, list, address, columns, name, plans }: NarrowProps<K, Row>) {
  const { kind, path, statuses } = list
  const at = `${pathsOf(c).billing}/${path}`
  const isInvoice = kind === 'invoice'
  const plan = planIn(address, plans)
  const option = (label: string, chosen: Record<string, string | null>) => ({
    label,
    href: changed(address, chosen),
    on: Object.entries(chosen).every(([name, value]) => address.get(name) === value),
  })
  // An overdue invoice is open: the two are not chosen together.
  const status = (label: string, value: string | null) =>
    option(label, { status: value, ...(isInvoice && { overdue: null }) })
  return (
    <>
      <Box c={c} list={list} address={address} />
      <FilterChips
        label="Status"
        options={[
          status('All', null),
          ...statuses.flatMap((one) => [
            status(asWords(one), one),
            ...(isInvoice && one === 'open' ? [option('Overdue', { status: null, overdue: 'true' })] : []),
          ]),
        ]}
      />
      <div class="toolbar">
        {Object.entries(TIMES).map(([label, of]) => (
          <TimeMenu label={label} of={of} address={address}>
            <li class="last">
              <Apply at={at} address={address} without={[of.within, ...of.bounds]}>
                {of.bounds.map((bound) => (
                  <FilterField
                    of={{ query: address, mistakes: {} }}
                    name={bound}
                    label="Since (UTC)"
                    type="datetime-local"
                  />
                ))}
              </Apply>
            </li>
          </TimeMenu>
        ))}
        {plans.length > 0 && <PlanMenu at={at} address={address} plans={plans} chosen={plan} />}
        {kind === 'subscription' && (
          <FilterMenu
            label={`Renewal: ${address.has('overdue') ? 'overdue' : 'any'}`}
            options={[option('Any', { overdue: null }), option('Overdue', { overdue: 'true' })]}
          />
        )}
        {columns && <ColumnsMenu c={c} list={path} columns={columns} />}
      </div>
      <ActiveFilters
        of={activeIn(address, { customer: name, consumer: name, plan: plan?.name }, isInvoice ? ['overdue'] : [])}
        clear={address.size > 1}
      />
    </>
  )
}

/** The plan that the address names, by its id or its key; undefined if there is none. */
function planIn(address: URLSearchParams, plans: readonly CalledPlan[]): CalledPlan | undefined {
  const named = address.get('plan')
  return plans.find(({ id }) => id === named) ?? plans.find(({ key }) => key === named)
}

type ApplyProps = PropsWithChildren<{ at: string; address: URLSearchParams; without: readonly string[] }>

/** A form that sets filters and keeps the others. @param props.without the filters that it sets */
function Apply({ at, address, without, children }: ApplyProps) {
  return (
    <form action={at}>
      <Kept of={address} without={without} />
      {children}
      <button type="submit">Apply</button>
    </form>
  )
}

/** The most plans that are links: the address of each has all other filters. */
const LINKED_PLANS = 8

type PlanMenuProps = {
  at: string
  address: URLSearchParams
  plans: readonly CalledPlan[]
  chosen: CalledPlan | undefined
}

function PlanMenu({ at, address, plans, chosen }: PlanMenuProps) {
  const named = address.get('plan')
  const label = `Plan: ${chosen?.name ?? named ?? 'any'}`
  const called = plans.map(({ id, name, state }) => [id, state === 'archived' ? `${name} (archived)` : name] as const)
  if (plans.length > LINKED_PLANS)
    return (
      <FilterMenu label={label} options={[]}>
        <li>
          <Apply at={at} address={address} without={['plan']}>
            <Field name="plan" label="Plan">
              <Select name="plan" value={chosen?.id} options={[['', 'Any'], ...called]} />
            </Field>
          </Apply>
        </li>
      </FilterMenu>
    )
  const option = (label: string, id: string | null, on: boolean) => ({
    label,
    href: changed(address, { plan: id }),
    on,
  })
  return (
    <FilterMenu
      label={label}
      options={[
        option('Any', null, named === null),
        ...called.map(([id, name]) => option(name, id, id === chosen?.id)),
      ]}
    />
  )
}

type BoxProps<K extends ObjectKind> = Pick<NarrowProps<K, never>, 'c' | 'list' | 'address'> & { text?: string }

/** The search box of a list. It finds the objects of a customer or a consumer. @param props.text what was typed */
export function Box<K extends ObjectKind>({ c, list, address, text = '' }: BoxProps<K>) {
  const number = list.kind === 'invoice' || list.kind === 'purchase' ? 'number, ' : ''
  return (
    <Finder
      action={`${pathsOf(c).billing}/${list.path}`}
      q={text}
      label={number ? 'Find by customer, consumer or number' : 'Find by customer or consumer'}
      placeholder={`Name, email address, ${number}your own ID, csm_… or cus_…`}
      maxlength={204}
    >
      <Kept of={address} without={['customer', 'consumer']} />
    </Finder>
  )
}

/** The other filters, which a form keeps. */
function Kept({ of, without }: { of: URLSearchParams; without: readonly string[] }) {
  return (
    <>{[...of].map(([name, value]) => !without.includes(name) && <input type="hidden" name={name} value={value} />)}</>
  )
}

const since = (value: string) => `since ${exact(timeOf(value) ?? 0)}`
const span = (value: string) => spanWord(SPANS, value) ?? value

/** The filters that no chip or notice of the page says, in words. */
const WORDS: Record<string, (value: string, name: string | undefined) => string> = {
  customer: (value, name) => `Customer: ${name ?? value}`,
  consumer: (value, name) => `Consumer: ${name ?? value}`,
  plan: (value, name) => `Plan: ${name ?? value}`,
  created_after: (value) => `Created ${since(value)}`,
  updated_after: (value) => `Updated ${since(value)}`,
  created_within: (value) => `Created: ${span(value)}`,
  updated_within: (value) => `Updated: ${span(value)}`,
  overdue: () => 'Renewal: overdue',
}

/** @param called what the values of filters are called, if that is known. @param shown filters that a chip says */
const activeIn = (
  address: URLSearchParams,
  called: Record<string, string | undefined>,
  shown: string[],
): ActiveFilter[] =>
  [...address].flatMap(([name, value]) => {
    const words = shown.includes(name) ? undefined : WORDS[name]?.(value, called[name])
    return words === undefined ? [] : [[words, changed(address, { [name]: null })] as const]
  })
