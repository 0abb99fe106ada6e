import type { Consumer } from '../../../consumers/read'
import type { Grant } from '../../../entitlements/grants'
import type { Page } from '../../../http/page'
import { idTime } from '../../../lib/ids'
import { can, pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { titleOf } from '../consumers/parts'
import { shownValue } from '../plans/values'

/** All grants of a consumer, ended ones too. */
export function grantsPage(c: Visit, consumer: Consumer, page: Page<Grant>) {
  const path = `${pathsOf(c).consumers}/${consumer.id}`
  const writes = can(c, 'entitlements:write') && consumer.merged_into === null && consumer.state !== 'erased'
  return show(
    c,
    { title: 'Grants', section: 'consumers', above: [titleOf(consumer), path] },
    <>
      <Head title={`Grants of ${titleOf(consumer)}`}>
        {writes && (
          <a class="button primary" href={`${path}/grants/new`}>
            Grant or deny…
          </a>
        )}
      </Head>
      {page.data.length > 0 ? (
        <GrantsTable c={c} consumer={consumer.id} rows={page.data} />
      ) : (
        <p class="quiet">This consumer has no grants or denials.</p>
      )}
      <Pager c={c} cursor={page.next_cursor} />
    </>,
  )
}

/** What a grant does, in a few words: `Seats: 10`. */
export function whatOf({ feature, plan, plan_name, effect, value }: Grant): string {
  if (plan !== null) return `the plan ${plan_name}`
  if (effect === 'deny') return `no ${feature}`
  return value === true ? String(feature) : `${feature}: ${shownValue(value)}`
}

function stateOf({ revoked_at, starts_at, expires_at }: Grant, now: number) {
  if (revoked_at !== null) return 'revoked'
  if (expires_at !== null && expires_at <= now) return 'expired'
  return starts_at !== null && starts_at > now ? 'scheduled' : 'active'
}

type Props = { c: Visit; consumer: string; rows: readonly Grant[] }

export function GrantsTable({ c, consumer, rows }: Props) {
  const { now } = c.get('rt')
  const columns: Column<Grant>[] = [
    [
      'Grant',
      (grant) => (
        <>
          <span class="name">
            {grant.effect === 'deny' ? 'Denies' : 'Grants'} {whatOf(grant).replace(/^no /, '')}
          </span>
          <code class="line quiet">{grant.id}</code>
        </>
      ),
    ],
    ['State', (grant) => <Badge of={stateOf(grant, now)} />],
    ['From', ({ id, starts_at }) => <Time at={starts_at ?? idTime(id)} now={now} />],
    ['Until', ({ expires_at, revoked_at }) => <Time at={revoked_at ?? expires_at} now={now} none="No end" />],
    ['Reason', ({ reason }) => reason && <span class="text">{reason}</span>],
  ]
  const revoke: Column<Grant> = [
    '',
    (grant) =>
      ['active', 'scheduled'].includes(stateOf(grant, now)) && (
        <a class="button" href={`${pathsOf(c).consumers}/${consumer}/grants/${grant.id}/revoke`} data-dialog>
          Revoke<span class="unseen"> {whatOf(grant)}</span>
        </a>
      ),
  ]
  const writes = can(c, 'entitlements:write')
  return <Table label="Grants" rows={rows} columns={writes ? [...columns, revoke] : columns} class="consumers" />
}
