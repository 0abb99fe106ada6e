import type { Consumer } from '../../../consumers/read'
import type { Grant } from '../../../entitlements/grants'
import type { Page } from '../../../http/page'
import { idTime } from '../../../lib/ids'
import { holderOf } from '../../../tenancy/holder'
import { can, pathsOf, type Visit } from '../../page'
import { Badge } from '../../ui/badge'
import { show } from '../../ui/layout'
import { Pager } from '../../ui/pager'
import { Head, Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { Who } from '../audit-log/entry'
import { titleOf } from '../consumers/parts'
import { shownValue } from '../plans/values'

/** All grants of a consumer, ended ones too. */
export function grantsPage(c: Visit, consumer: Consumer, page: Page<Grant>, names: Props['names']) {
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
        <GrantsTable c={c} consumer={consumer.id} rows={page.data} names={names} />
      ) : (
        <p class="quiet">This consumer has no grants or denials.</p>
      )}
      <Pager c={c} cursor={page.next_cursor} />
    </>,
  )
}

/** What a grant gives or denies, by its name. */
const nameIn = ({ feature, named }: Grant) => named.plan ?? named.feature ?? feature

/** What a grant does, in a few words: `Seats: 10`. */
export function whatOf(grant: Grant): string {
  if (grant.plan !== null) return `the plan ${nameIn(grant)}`
  if (grant.effect === 'deny') return `no ${nameIn(grant)}`
  return `${nameIn(grant)}${amountIn(grant)}`
}

const amountIn = ({ plan, effect, value }: Grant) =>
  plan !== null || effect === 'deny' || value === true ? '' : `: ${shownValue(value)}`

function stateOf({ revoked_at, starts_at, expires_at }: Grant, now: number) {
  if (revoked_at !== null) return 'revoked'
  if (expires_at !== null && expires_at <= now) return 'expired'
  return starts_at !== null && starts_at > now ? 'scheduled' : 'active'
}

/** `names`: of the users and API keys that made the grants, by id. */
type Props = { c: Visit; consumer: string; rows: readonly Grant[]; names: ReadonlyMap<string, string> }

export function GrantsTable({ c, consumer, rows, names }: Props) {
  const { now } = c.get('rt')
  const columns: Column<Grant>[] = [
    [
      'Grant',
      (grant) => (
        <>
          <span class="name" title={grant.id}>
            {grant.effect === 'deny' ? 'Denies' : 'Grants'} {grant.plan !== null && 'the plan '}
            <a href={givenPath(c, grant)}>{nameIn(grant)}</a>
            {amountIn(grant)}
          </span>
          <code class="line quiet">{grant.feature ?? grant.plan}</code>
        </>
      ),
    ],
    ['State', (grant) => <Badge of={stateOf(grant, now)} />],
    ['From', ({ id, starts_at }) => <Time at={starts_at ?? idTime(id)} now={now} />, 'spare'],
    ['Until', ({ expires_at, revoked_at }) => <Time at={revoked_at ?? expires_at} now={now} none="No end" />],
    ['By', ({ actor }) => <Who c={c} row={actorOf(actor, names)} />],
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

function givenPath(c: Visit, { named }: Grant): string {
  const { plans, features } = pathsOf(c)
  return named.plan_id === null ? features : `${plans}/${named.plan_id}`
}

/** Who made a grant, as an entry of the audit log says it. */
function actorOf(id: string, names: Props['names']) {
  const name = names.get(id) ?? null
  return { actor_type: holderOf(id).type, actor_id: id, actor_name: name, actor_email: name }
}
