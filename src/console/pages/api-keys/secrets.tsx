import type { KeyRow } from '../../../api-keys/key'
import { pendingOf, previousOf } from '../../../api-keys/secrets'
import type { People } from '../../../tenancy/people'
import { can, pathsOf, type Visit } from '../../page'
import { exact } from '../../ui/format'
import { Time } from '../../ui/parts'
import { Table } from '../../ui/table'
import { Holder } from './columns'

type Props = { c: Visit; row: KeyRow; people: People | null }

/** The secrets of a key that is being rotated: the current one, the one that waits, and the one that still works. */
export function Secrets({ c, row, people }: Props) {
  const { now } = c.get('rt')
  const pending = pendingOf(row, now)
  const previous = previousOf(row, now)
  if (row.revoked_at !== null || (!pending && !previous)) return null
  const current = { key_prefix: row.key_prefix, says: <>current</>, used: currentUse(row), end: null }
  const others = [
    pending && {
      key_prefix: pending.key_prefix,
      says: (
        <>
          new: becomes current when first used, or expires at {exact(pending.expires_at)}.
          <span class="line quiet">
            Issued to <Holder of={{ ...row, issued_to: pending.issued_to, issued_to_name: null }} people={people} />{' '}
            <Time at={pending.created_at} now={now} />
          </span>
        </>
      ),
      used: null,
      end: 'pending',
    },
    previous && {
      key_prefix: previous.key_prefix,
      says: <>replaced: works until {exact(previous.valid_until)}</>,
      used: previous.last_used_at,
      end: 'previous',
    },
  ].filter((one) => one !== null)
  return (
    <>
      <h2>Secrets</h2>
      <Table
        label="Secrets"
        rows={[current, ...others]}
        columns={[
          ['Secret', ({ key_prefix }) => <code>{key_prefix}</code>],
          ['State', ({ says }) => says],
          ['Last used', ({ used }) => <Time at={used} now={now} none="never" />],
          ['', ({ end }) => end && can(c, 'api_keys:write') && <End c={c} row={row} which={end} />],
        ]}
      />
    </>
  )
}

function End({ c, row, which }: { c: Visit; row: KeyRow; which: string }) {
  return (
    <a class="button" href={`${pathsOf(c).keys}/${row.id}/end-${which}`} data-dialog>
      End
      <span class="unseen"> the {which} secret</span>
    </a>
  )
}

/** When the current secret was last used (ms): a use before it was current is one of another secret. */
function currentUse({ current_used_at, previous }: KeyRow): number | null {
  if (current_used_at === null || previous === null) return current_used_at
  return current_used_at >= previous.replaced_at ? current_used_at : null
}
