import type { Context } from 'hono'
import type { Grant } from '../../../entitlements/grants'
import { MAX_SOURCES } from '../../../entitlements/limits'
import type { HttpEnv } from '../../../http/context'
import { can, pathsOf } from '../../page'
import { exact, plural } from '../../ui/format'
import { GrantsTable } from './grants'
import type { Entitlements } from './read'
import { EntitlementsTable, UnmappedItems } from './table'

/** How many features the page of a consumer shows. */
const FEATURES = 20

type Props = { c: Context<HttpEnv>; consumer: string; of: Entitlements | null }

/** What the consumer may do, on its page. */
export function EntitlementsSection({ c, consumer, of }: Props) {
  const path = `${pathsOf(c).consumers}/${consumer}/entitlements`
  return (
    <>
      <h2>Entitlements</h2>
      <Shown c={c} consumer={consumer} of={of} most={FEATURES} />
      {of !== null && of.all.length > 0 && (
        <p>
          <a href={path}>
            {of.all.length > FEATURES ? `All ${plural(of.all.length, 'feature')}` : 'At an earlier time'}
          </a>
        </p>
      )}
    </>
  )
}

/** @param most how many features are shown */
export function Shown({ c, consumer, of, most }: Props & { most: number }) {
  if (of === null) {
    return (
      <p class="warning" role="note">
        This consumer has more than {MAX_SOURCES.toLocaleString('en')} subscriptions or grants. That is too much for one
        answer.
      </p>
    )
  }
  if (of.all.length === 0 && of.missing !== null) return <p class="quiet">The catalog had no features at that time.</p>
  if (of.all.length === 0) {
    return (
      <p class="quiet">
        The catalog has no <a href={pathsOf(c).features}>features</a> yet.
      </p>
    )
  }
  return (
    <>
      <p class="quiet">As of {exact(of.now)}.</p>
      <UnmappedItems c={c} of={of} add={can(c, 'catalog:write')} />
      <EntitlementsTable c={c} consumer={consumer} of={of} rows={of.all.slice(0, most)} />
    </>
  )
}

type GrantsProps = { c: Context<HttpEnv>; consumer: string; rows: readonly Grant[]; more: boolean }

/** The newest grants of the consumer, on its page. */
export function GrantsSection({ c, consumer, rows, more }: GrantsProps) {
  const path = `${pathsOf(c).consumers}/${consumer}/grants`
  return (
    <>
      <h2>Grants</h2>
      {rows.length > 0 ? (
        <GrantsTable c={c} consumer={consumer} rows={rows} />
      ) : (
        <p class="quiet">Nothing is granted or denied to this consumer beyond what it pays for.</p>
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
