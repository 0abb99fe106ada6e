import type { Context } from 'hono'
import type { HttpEnv } from '../../../http/context'
import type { ConnectionRow } from '../../../inbox/connections/store'
import type { Mistakes } from '../../form'
import { can } from '../../page'
import { Post, Wrong } from '../../ui/controls'
import { Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { pathOf, secretName } from './describe'
import { SecretField } from './secret-field'

type Secret = ConnectionRow['secrets'][number]
type Props = { c: Context<HttpEnv>; row: ConnectionRow; names: ReadonlyMap<string, string>; mistakes: Mistakes }

/** A connection's signing secrets, with a form to add one. @param names of the users and API keys that added them, by id */
export function Secrets({ c, row, names, mistakes }: Props) {
  const { now } = c.get('rt')
  const write = can(c, 'connections:write')
  const at = `${pathOf(c, row)}/secrets`
  const remove: Column<Secret> = [
    '',
    ({ id, hint }) => (
      <a class="button" href={`${at}/${id}/remove`} data-dialog>
        Remove<span class="unseen"> {secretName(hint)}</span>
      </a>
    ),
  ]
  return (
    <>
      <h2>Signing secrets</h2>
      <p class="quiet">
        A delivery can be signed with any of these secrets. To rotate a secret, add the new one, switch to it at the
        vendor, then remove the old one.
      </p>
      <Table
        label="Signing secrets"
        rows={row.secrets}
        columns={[
          ['Secret', ({ hint }) => <code>…{hint}</code>],
          ['Added', ({ created_at }) => <Time at={created_at} now={now} />],
          ['Added by', ({ added_by }) => added_by && (names.get(added_by) ?? <code>{added_by}</code>)],
          ['Last used', ({ id }) => <Time at={row.secrets_used[id] ?? null} now={now} />],
          ...(write ? [remove] : []),
        ]}
      />
      {write && (
        <Post c={c} to={at} class="form">
          <SecretField mistakes={mistakes} vendors={[row.vendor]} />
          <Wrong>{mistakes.form}</Wrong>
          <button type="submit">Add secret</button>
        </Post>
      )}
    </>
  )
}
