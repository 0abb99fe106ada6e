import type { EndpointRow } from '../../../endpoints/endpoint'
import { MAX_ENDPOINT_SECRETS } from '../../../endpoints/limits'
import { can, type Visit } from '../../page'
import { Post, Wrong } from '../../ui/controls'
import { Time } from '../../ui/parts'
import { type Column, Table } from '../../ui/table'
import { endpointPath } from './parts'
import type { ShownEndpoint } from './read'

type Secret = EndpointRow['secrets'][number]

/** The ids of the secrets that there are, for a form that adds one only once. */
export const secretsKnown = ({ secrets }: EndpointRow) => secrets.map(({ id }) => id).join(' ')

/** The secrets that sign, with a form to add one. @param refused why the form was refused */
export function Secrets({
  c,
  of: { row, names },
  refused,
}: {
  c: Visit
  of: ShownEndpoint
  refused?: string | undefined
}) {
  const { now } = c.get('rt')
  const { secrets } = row
  const write = can(c, 'webhooks:write')
  const at = `${endpointPath(c, row.id)}/secrets`
  const remove: Column<Secret> = [
    '',
    ({ id, hint }) => (
      <a class="button" href={`${at}/${id}/remove`} data-dialog>
        Remove<span class="unseen"> the secret that ends in {hint}</span>
      </a>
    ),
  ]
  const columns: Column<Secret>[] = [
    ['Secret', ({ hint }) => <code>…{hint}</code>],
    ['Added', ({ created_at }) => <Time at={created_at} now={now} />],
    ['Added by', ({ added_by }) => names.get(added_by) ?? <code>{added_by}</code>],
  ]
  return (
    <>
      <h2 id="secrets">Secrets</h2>
      <p class="quiet">
        Each request is signed with every secret. To rotate a secret, add a new one, make your server accept both, then
        remove the old one.
      </p>
      <Table label="Secrets" rows={secrets} columns={write && secrets.length > 1 ? [...columns, remove] : columns} />
      <Wrong>{refused}</Wrong>
      {write && secrets.length < MAX_ENDPOINT_SECRETS && (
        <Post c={c} to={at} class="once">
          <input type="hidden" name="known" value={secretsKnown(row)} autocomplete="off" />
          <button type="submit">Add secret</button>
        </Post>
      )}
    </>
  )
}
