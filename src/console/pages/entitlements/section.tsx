import { MAX_FEATURES } from '../../../catalog/limits'
import type { Consumer } from '../../../consumers/read'
import { EXTERNAL } from '../../../consumers/ref'
import { MAX_DAYS_FROM_NOW, MAX_SOURCES } from '../../../entitlements/limits'
import { can, pathsOf, type Visit } from '../../page'
import { type Refusal, UNSENT } from '../../refusal'
import { Field } from '../../ui/controls'
import { exact, plural } from '../../ui/format'
import { show } from '../../ui/layout'
import { Head } from '../../ui/parts'
import { titleOf } from '../consumers/parts'
import type { ShownConsumer } from '../consumers/read'
import { ExampleAnswer, TestMode } from './answer'
import { GrantsTable } from './grants'
import { type Entitlements, FEATURES } from './read'
import { EntitlementsTable, UnmappedItems } from './table'

type Props = { c: Visit; consumer: Pick<Consumer, 'id' | 'external_ids'>; of: Entitlements | null }

/** What the consumer may do, on its page. */
export function EntitlementsSection({ c, consumer, of }: Props) {
  const path = `${pathsOf(c).consumers}/${consumer.id}/entitlements`
  return (
    <>
      <h2>Entitlements</h2>
      <Shown c={c} consumer={consumer} of={of} most={FEATURES} />
      {of !== null && of.all.length > 0 && (
        <p>
          <a href={path}>{of.all.length > FEATURES ? `All ${plural(of.all.length, 'feature')}` : 'At another time'}</a>
        </p>
      )}
    </>
  )
}

/** @param most how many features are shown */
function Shown({ c, consumer, of, most }: Props & { most: number }) {
  if (of === null) {
    return (
      <p class="warning" role="note">
        This consumer has more than {MAX_SOURCES.toLocaleString('en')} subscriptions or grants. That is too many to
        evaluate at once.
      </p>
    )
  }
  if (of.all.length === 0 && of.missing !== null && of.now <= c.get('rt').now)
    return <p class="quiet">The catalog had no features at that time.</p>
  if (of.all.length === 0) {
    return (
      <p class="quiet">
        The catalog has no <a href={pathsOf(c).features}>features</a> yet.
      </p>
    )
  }
  const [externalId] = consumer.external_ids
  const asked = externalId === undefined ? consumer.id : `${EXTERNAL}${externalId}`
  return (
    <>
      <p class="quiet">As of {exact(of.now)}.</p>
      <UnmappedItems c={c} of={of} add={can(c, 'catalog:write')} />
      <TestMode c={c} consumer={consumer.id} of={of} />
      {of.missing === null && <ExampleAnswer c={c} asked={asked} of={of} />}
      <EntitlementsTable c={c} consumer={consumer.id} of={of} rows={of.all.slice(0, most)} />
    </>
  )
}

type GrantsProps = { c: Visit; consumer: string; of: ShownConsumer['grants'] }

/** The newest grants of the consumer, on its page. */
export function GrantsSection({ c, consumer, of: { data, more, names } }: GrantsProps) {
  const path = `${pathsOf(c).consumers}/${consumer}/grants`
  return (
    <>
      <h2>Grants</h2>
      {data.length > 0 ? (
        <GrantsTable c={c} consumer={consumer} rows={data} names={names} />
      ) : (
        <p class="quiet">This consumer has no grants or denials beyond what it pays for.</p>
      )}
      {more && (
        <p>
          <a href={path}>All grants</a>
        </p>
      )}
      {can(c, 'entitlements:write') && (
        <p>
          <a class="button" href={`${path}/new`}>
            Grant or deny…
          </a>
        </p>
      )}
    </>
  )
}

/** All entitlements of a consumer: now, or at the time `at` of the form. */
export function entitlementsPage(
  c: Visit,
  row: Consumer,
  { of, at }: { of: Entitlements | null; at: string },
  { mistakes, status }: Refusal = UNSENT,
) {
  const path = `${pathsOf(c).consumers}/${row.id}`
  return show(
    c,
    { title: 'Entitlements', section: 'consumers', above: [titleOf(row), path], status },
    <>
      <Head title={`Entitlements of ${titleOf(row)}`} />
      <form method="get" action={`${path}/entitlements`} class="form at">
        <Field
          name="at"
          label="At another time (UTC)"
          type="datetime-local"
          value={at}
          hint={`Up to ${MAX_DAYS_FROM_NOW} days ago or ahead. Leave it empty for the current time.`}
          mistakes={mistakes}
        />
        <div class="actions">
          <button type="submit">Show</button>
        </div>
      </form>
      <Missing of={of?.missing ?? null} ahead={of !== null && of.now > c.get('rt').now} />
      <Shown c={c} consumer={row} of={of} most={MAX_FEATURES} />
    </>,
  )
}

/** What is not known of another time. Renders nothing for now. */
function Missing({ of, ahead }: { of: readonly string[] | null; ahead: boolean }) {
  if (of === null) return null
  if (ahead) {
    return (
      <p class="notice">
        This is what applies at that time if nothing happens before it: no event, no grant, and no change to a plan or
        setting.
      </p>
    )
  }
  if (of.length === 0) return <p class="notice">This is exactly what applied at that time.</p>
  return (
    <div class="warning" role="note">
      <p>What applied at that time may have been different:</p>
      <ul>
        {of.map((line) => (
          <li>{line}</li>
        ))}
      </ul>
    </div>
  )
}
